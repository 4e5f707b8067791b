"""Running costs: each item is predicted before it is learnt, then judged."""

from collections.abc import Iterable, Mapping
from typing import Any

NAMES = ("hamming", "f1", "P@1", "P@5")
HALF_LIFE = 200  # feedbacks after which one counts half in the decayed means
FADING = 0.5 ** (1 / HALF_LIFE)


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
        # Sum and count of all; sum and weight of what is recent.
        self._sums = {name: [0.0, 0, 0.0, 0.0] for name in NAMES}

    def add(
        self, best: list[str], given: Iterable[str], body: Mapping[str, Any]
    ) -> None:
        """Judge what was predicted by what feedback says."""
        values = judge(best, set(given), body)
        for name, value in zip(NAMES, values, strict=True):
            if value is not None:
                total, count, recent, weight = self._sums[name]
                recent, weight = FADING * recent + value, FADING * weight + 1
                self._sums[name] = [total + value, count + 1, recent, weight]

    def follow(self, body: Mapping[str, Any]) -> None:
        """Judge the prediction that the body of a feedback has."""
        if predicted := body.get("predicted"):
            self.add(predicted["best"], predicted["given"], body)

    def to_dict(self) -> dict[str, Any]:
        """Return mean, recent mean and count of each cost."""
        return {
            name: {
                "mean": total / count if count else None,
                "recent": recent / weight if count else None,
                "count": count,
            }
            for name, (total, count, recent, weight) in self._sums.items()
        }

    def get_state(self) -> dict[str, list[float]]:
        """Return the sums, as JSON holds them without loss."""
        return {name: list(sums) for name, sums in self._sums.items()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take over sums."""
        self._sums = {name: list(state[name]) for name in NAMES}


def judge(
    best: list[str], given: set[str], body: Mapping[str, Any]
) -> tuple[float | None, ...]:
    """Return the costs of one prediction by ``NAMES``, None where it is not known."""
    accepted = set(body["accepted"])
    said = accepted.union(body["rejected"])
    if not body["complete"]:  # of other labels nobody has said anything
        best = [name for name in best if name in said]
        given = given & said
    n_right, n_judged = len(given & accepted), len(said | given)
    hamming = f1 = first = fifth = None
    if n_judged:
        size = len(given) + len(accepted)
        hamming = (size - 2 * n_right) / n_judged
        f1 = 1 - 2 * n_right / size if size else 0.0
    if best:
        first = float(best[0] in accepted)
        fifth = len(accepted.intersection(best)) / len(best)
    return hamming, f1, first, fifth
