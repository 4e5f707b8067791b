"""What can be written to a folder, and take over what another learnt."""

from pathlib import Path
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from manylabel import persistence
from manylabel.persistence import records


class Saved:
    """What was learnt can be written to a folder, and taken over.

    It learns attributes whose names end in ``_``. What a class declares about its
    arrays and records, beside their names (:mod:`manylabel.persistence.records`), is
    checked when they are taken over.
    """

    def save(self, path: str | Path) -> None:
        """Write the fitted model to the folder ``path``, replacing a model there."""
        self._check_fitted()
        persistence.save(self, path)

    def get_state(self) -> dict[str, Any]:
        """Return what was learnt: a flat dict of arrays and JSON scalars."""
        self._check_fitted()
        return persistence.flatten(
            {name: v for name, v in vars(self).items() if name.endswith("_")}
        )

    def set_state(self, state: dict[str, Any]) -> Self:
        """Take over what another estimator of the same class learnt.

        What does not fit together is refused, because kernels trust it.
        """
        before = dict(self.__dict__)
        try:
            learnt = persistence.unflatten(state, type(self))
            for name in [each for each in before if each.endswith("_")]:
                delattr(self, name)
            self.__dict__.update(learnt)
            self._check_state()
        except Exception:
            self.__dict__ = before
            raise
        return self

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _known_sizes(self) -> dict[str, int]:
        """Return the sizes that declarations may name."""
        return {}

    def _check_state(self) -> None:
        """Refuse what is not as declared; subclasses add what declarations cannot."""
        sizes = self._known_sizes()
        for name in records.declarations(type(self)):
            records.check_part(self, name, name, sizes)
