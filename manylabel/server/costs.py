"""Running costs: each item is predicted before it is learnt, then judged."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from manylabel.server.events import Event

NAMES = ("hamming", "f1", "P@1", "P@5")
HALF_LIFE = 200  # feedbacks after which one counts half in the decayed means


class Mean(NamedTuple):
    """A sum and a weight, of all and of what is recent."""

    total: float = 0.0
    number: int = 0
    recent: float = 0.0
    weight: float = 0.0

    def add(self, value: float) -> "Mean":
        """Return the mean with one more value."""
        fading = 0.5 ** (1 / HALF_LIFE)
        recent, weight = fading * self.recent + value, fading * self.weight + 1
        return Mean(self.total + value, self.number + 1, recent, weight)

    def to_dict(self) -> dict[str, Any]:
        """Return the mean of all, of what is recent, and of how many."""
        if not self.number:
            return {"mean": None, "recent": None, "count": 0}
        mean, recent = self.total / self.number, self.recent / self.weight
        return {"mean": mean, "recent": recent, "count": self.number}


class RunningCosts:
    """Means of costs over the feedback of a model; a function of the log.

    Labels that nobody accepted or rejected are left out, unless feedback is complete.

    Examples
    --------
    >>> costs = RunningCosts()
    >>> said = {"accepted": ["game"], "rejected": ["web"], "complete": False}
    >>> costs.add(["game", "web"], ["game"], said)
    >>> costs.to_dict()["P@1"]["mean"]
    1.0
    """

    def __init__(self) -> None:
        self.means = dict.fromkeys(NAMES, Mean())

    def add(
        self, best: list[str], given: Iterable[str], body: Mapping[str, Any]
    ) -> None:
        """Judge what was predicted by what feedback says."""
        for name, value in judge(best, set(given), body).items():
            self.means[name] = self.means[name].add(value)

    def follow(self, event: Event) -> None:
        """Judge the prediction that an event of feedback has."""
        if predicted := event.body.get("predicted"):
            self.add(predicted["best"], predicted["given"], event.body)

    def to_dict(self) -> dict[str, Any]:
        """Return mean, recent mean and count of each cost."""
        return {name: mean.to_dict() for name, mean in self.means.items()}

    def get_state(self) -> dict[str, list[float]]:
        """Return the sums, as JSON holds them without loss."""
        return {name: list(mean) for name, mean in self.means.items()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take over sums."""
        self.means = {name: Mean._make(state[name]) for name in NAMES}


def judge(
    best: list[str], given: set[str], body: Mapping[str, Any]
) -> dict[str, float]:
    """Return the costs of one prediction that can be known."""
    accepted, rejected = set(body["accepted"]), set(body["rejected"])
    if not body["complete"]:  # of the others nobody has said anything
        best = [name for name in best if name in accepted | rejected]
        given = given & (accepted | rejected)
    found = {}
    wrong, judged = len(given ^ accepted), len(accepted | rejected | given)
    if judged:
        found["hamming"] = wrong / judged
        size = len(given) + len(accepted)
        found["f1"] = 1 - 2 * len(given & accepted) / size if size else 0.0
    for k in (1, 5):
        if best[:k]:
            found[f"P@{k}"] = len(accepted.intersection(best[:k])) / len(best[:k])
    return found
