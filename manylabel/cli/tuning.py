"""``fit --tune``: the best of a few settings, by rows that were not learnt."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from manylabel.cli.console import fitting, note, percent

if TYPE_CHECKING:
    from manylabel.data import Dataset
    from manylabel.text import TextVectorizer


def check_tuning(metric: str, learner: Any, given: Sequence[str] | None) -> None:
    """Refuse a metric that does not exist, or a learner with nothing to try."""
    from manylabel.metrics import as_metric
    from manylabel.model_selection.search import settings

    with _named():
        as_metric(metric)
        if learner is not None:
            settings(learner, metric, fixed=_names(given))


def tuned(
    learner: Any,
    data: "Dataset",
    metric: str,
    given: Sequence[str] | None,
    vectorizer: "TextVectorizer",
    seed: int,
) -> tuple[Any, str]:
    """Return a learner with the best settings by a metric, and these in words.

    What was ``given``, as NAME=VALUE, is kept. Words are counted in all texts, labels
    only in those that are not held out.
    """
    from sklearn.base import clone

    from manylabel.model_selection.search import settings, value

    with _named():
        tried = settings(learner, metric, fixed=_names(given))
        if len(tried) == 1:  # such as a blend, which weighs its learners by the metric
            return clone(learner).set_params(**tried[0]), _words(tried[0])
        X = data.X
        if X is None:
            X = clone(vectorizer).fit_transform(data.texts or ())
        values = []
        for setting in tried:
            with fitting(f"Trying {_words(setting)}"):
                one = clone(learner).set_params(**setting)
                values.append(value(one, X, data.Y, metric, random_state=seed))
            note(f"tune: {metric} {percent(values[-1])} with {_words(setting)}")
    best = tried[values.index(max(values))]
    return clone(learner).set_params(**best), _words(best)


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
