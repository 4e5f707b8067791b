"""``fit --tune``: hyperparameter search, by rows that were not learnt."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from manylabel.cli.console import fitting, note, percent

if TYPE_CHECKING:
    from manylabel.data import Dataset
    from manylabel.text import Tagger


def check_tuning(metric: str, learner: Any, given: Sequence[str] | None) -> None:
    """Refuse a metric that does not exist, or a learner with nothing to try."""
    from manylabel.metrics import as_metric
    from manylabel.model_selection.search import settings

    with _named():
        as_metric(metric)
        if learner is not None:
            settings(learner, metric, fixed=_names(given))


def n_trials(learner: Any, metric: str, given: Sequence[str] | None) -> int:
    """Return how many settings are tried: none where there is no choice."""
    from manylabel.model_selection.search import settings

    with _named():
        n_settings = len(settings(learner, metric, fixed=_names(given)))
    return n_settings if n_settings > 1 else 0


def search(
    tagger: "Tagger",
    data: "Dataset",
    metric: str,
    given: Sequence[str] | None,
    seed: int,
) -> "tuple[Tagger, str]":
    """Return a tagger with the best settings by a metric, and these in words.

    What was ``given``, as NAME=VALUE, is kept.
    """
    from manylabel.model_selection.search import settings

    fixed = _names(given)

    def watch(setting: dict[str, Any], value: float) -> None:
        note(f"tune: {metric} {percent(value)} with {_words(setting)}")

    with _named(), fitting(f"Trying settings for {metric}"):
        best = tagger.search(
            data, metric=metric, fixed=fixed, random_state=seed, watch=watch
        )
    return best, _words(settings(best.learner, metric, fixed=fixed)[0])


@contextmanager
def _named() -> Iterator[None]:
    """Say which option is to blame for what is refused."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"--tune: {error}") from None


def _names(given: Sequence[str] | None) -> list[str]:
    return [setting.partition("=")[0] for setting in given or ()]


def _words(setting: dict[str, Any]) -> str:
    texts = {
        name: ",".join(value) if isinstance(value, tuple) else str(value)
        for name, value in setting.items()
    }
    return ", ".join(f"{name}={text}" for name, text in texts.items())
