"""Data files beside the models that are judged by them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from manylabel.cli.console import track
from manylabel.cli.inputs import DataFile
from manylabel.cli.models import is_textual

if TYPE_CHECKING:
    from manylabel.data import Dataset


class MatchingFile:
    """A file whose rows must have the columns of a model."""

    def __init__(self, model: Any, file: DataFile) -> None:
        self._model, self._file = model, file

    def chunks(self) -> Iterator["Dataset"]:
        """Yield the rows, of which there must be some, in chunks."""
        n_labels = len(self._model.classes_)
        names = getattr(self._model, "label_names_", None)
        for chunk in self._file.chunks_for(self._model, n_labels=n_labels):
            self._file.check_rows(chunk)
            if is_textual(self._model):
                yield chunk
                continue
            if chunk.n_labels != n_labels:
                raise self._file.fault(
                    f"expected {n_labels} labels, as the model was fitted on, "
                    f"found {chunk.n_labels}."
                )
            if names is not None and chunk.label_names not in (None, names):
                raise self._file.fault(
                    "expected the labels that the model was fitted on, in their "
                    "order, found other names."
                )
            yield chunk

    def names(self) -> Any:
        """Return the names of the columns of the chunks, or their numbers."""
        known = getattr(self._model, "label_names_", range(len(self._model.classes_)))
        if not is_textual(self._model):
            return known
        return next(iter(self.chunks())).label_names

    def count_labels(self) -> tuple[Any, int]:
        """Return the number of rows of each label, and of all."""
        counts, n_rows = 0, 0
        for chunk in track(self.chunks(), "Counting labels"):
            counts, n_rows = counts + chunk.Y.sum(axis=0), n_rows + len(chunk)
        return counts, n_rows
