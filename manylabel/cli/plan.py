"""What ``fit`` is going to do: which learner it takes, and about how long."""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from manylabel._kernels import compilation
from manylabel.cli.console import duration, note, status
from manylabel.cli.learners import make, name_of

if TYPE_CHECKING:
    from manylabel.data import Dataset, Vocabulary
    from manylabel.text import Tagger

QUICK = 2.0  # seconds that nobody needs to be told of
SLOW = "best"  # the quality that takes longer to measure than anybody waits unasked
TRIAL = 0.8  # of the rows, which each setting of a search learns


class Wish(NamedTuple):
    """What the options of ``fit`` say about the learner."""

    learner: str | None
    quality: str
    settings: Sequence[str] | None
    common: Mapping[str, Any]  # parameters, for learners that have them
    analyzer: str
    tune: str | None
    calibrate: str | None = None
    language: str | None = None
    vocabulary: "Vocabulary | None" = None
    broader: bool = False  # whether a label brings its broader terms


class Plan(NamedTuple):
    """A model to fit, how it came to be chosen, and about how long it takes."""

    name: str
    tagger: "Tagger"
    quality: str | None  # None for a learner that was named
    reason: str
    seconds: float | None = None  # None if nobody can tell

    def __str__(self) -> str:
        takes = ""
        if self.seconds is not None and self.seconds > QUICK:
            takes = f"fitting {_takes(self)}"
        chose = f"chose {self.reason.rstrip('.')}" if self.reason else ""
        return "; ".join(filter(None, (chose, takes)))

    def figures(self) -> dict[str, str]:
        """Return what was chosen, for people and for other programs."""
        asked = {} if self.quality is None else {"quality": self.quality}
        return {"learner": self.name} | asked


class Limit:
    """The seconds that a verb may take; compiling, once on a machine, does not count.

    Examples
    --------
    >>> limit = Limit(60)
    >>> limit.allows(30), limit.allows(90)
    (True, False)
    >>> Limit(None).allows(1e9)
    True
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self.start = self._now()

    def allows(self, seconds: float) -> bool:
        """Return whether what takes so long from now on is done in time."""
        return self.passed() + seconds <= self.seconds

    def passed(self) -> float:
        """Return how many seconds are over."""
        return self._now() - self.start

    @staticmethod
    def _now() -> float:
        return time.perf_counter() - compilation.seconds[0]


def make_plan(wish: Wish, data: "Dataset", limit: Limit) -> Plan:
    """Return what is wished, or the next best that is done in time; else refuse.

    If reading and measuring have taken the time, the quickest is fitted none the less.
    """
    slow: Plan | None = None
    for each in _plans(wish, data):
        what = f"Measuring on a few rows how long {each.quality or each.name} takes"
        with status(what, aloud=each.quality == SLOW):
            plan = each._replace(seconds=_seconds(wish, data, each.tagger))
        if limit.allows(plan.seconds or 0.0):
            if slow is not None:
                note(f"note: {slow.quality} {_takes(slow)}: {plan.quality} instead.")
            return plan
        slow = slow or plan
    passed, seconds = limit.passed(), plan.seconds or 0.0
    if seconds > limit.seconds:
        enough = math.ceil(passed + seconds)
        raise ValueError(
            f"--time-limit must be longer, about {enough}: {plan.name} {_takes(plan)}, "
            f"after {duration(passed)} of reading and measuring."
        )
    note(
        f"note: reading and measuring took {duration(passed)}: {plan.name} ends after "
        f"--time-limit, in about {duration(seconds)}."
    )
    return plan


def _takes(plan: Plan) -> str:
    return f"takes about {duration(plan.seconds or 0.0)} on this machine"


def _plans(wish: Wish, data: "Dataset") -> Iterator[Plan]:
    """Yield the learner that was named, or those of each quality from the wished on."""
    from manylabel.blend import NameMatch
    from manylabel.text import QUALITIES, Rules, Tagger, choose, choose_vectorizer

    vectorizer = None
    if data.texts is not None:
        vectorizer = choose_vectorizer(len(data), wish.analyzer, wish.language)

    def plan(name: str, usual: dict[str, Any], quality: str | None, why: str) -> Plan:
        (learner,) = make([name], wish.settings, usual | dict(wish.common))
        if "propensity" in wish.common.keys() - learner.get_params(deep=False):
            raise ValueError(
                "--propensity must be told to a learner that takes it. "
                f"{name} has no such parameter."
            )
        if wish.vocabulary is not None:
            seed = wish.common["random_state"]
            learner = NameMatch(learner, random_state=seed)
        tagger = Tagger(
            learner,
            vectorizer=vectorizer,
            calibrate=wish.calibrate,
            vocabulary=wish.vocabulary,
            rules=Rules(parents=wish.vocabulary) if wish.broader else None,
        )
        return Plan(name, tagger, quality, why)

    if wish.learner is not None:
        yield plan(wish.learner, {}, None, "")
        return
    n_features, reasons = None if data.X is None else data.X.shape[1], set[str]()
    for quality in QUALITIES[QUALITIES.index(wish.quality) :: -1]:
        learner, why = choose(len(data), n_features, data.n_labels, quality)
        if why not in reasons:
            reasons.add(why)
            usual = learner.get_params(deep=False)
            yield plan(name_of(learner), usual, quality, why)


def _seconds(wish: Wish, data: "Dataset", tagger: "Tagger") -> float | None:
    """Return about how long fitting takes, and with it the search for settings."""
    from sklearn.base import clone

    from manylabel.cli.tuning import n_trials
    from manylabel.model_selection.duration import estimate_seconds

    n_features = None if data.X is None else data.X.shape[1]
    seconds = estimate_seconds(
        lambda rows: clone(tagger).fit(data[rows]), len(data), n_features
    )
    if seconds is None or wish.tune is None:
        return seconds
    return seconds * (1 + TRIAL * n_trials(tagger.learner, wish.tune, wish.settings))
