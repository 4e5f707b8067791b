"""The curve of running costs: some points of it, spread over the whole log."""

from typing import Any

from manylabel.server.costs import RunningCosts

MOST = 100  # points; of more, every other one is dropped


class Curve:
    """Running costs after some feedbacks, so few that they can be sent each time.

    Points are as many feedbacks apart as lets them be few enough; which they are is a
    function of the log, as the costs are.

    Examples
    --------
    >>> curve, costs = Curve(), RunningCosts()
    >>> said = {"accepted": ["a"], "rejected": [], "complete": True}
    >>> for n in range(1000):
    ...     costs.add(["a"], ["a"], said)
    ...     curve.note(n + 1, costs)
    >>> len(curve.points), curve.points[0]["applied"], curve.points[-1]["applied"]
    (62, 16, 992)
    """

    def __init__(self) -> None:
        self.points: list[dict[str, Any]] = []
        self._n_seen, self._apart = 0, 1

    def note(self, applied: int, costs: RunningCosts) -> None:
        """Take the costs after one more feedback, the event of a number."""
        self._n_seen += 1
        if self._n_seen % self._apart:
            return
        self.points.append({"applied": applied, "costs": costs.to_dict()})
        if len(self.points) > MOST:
            self.points, self._apart = self.points[1::2], 2 * self._apart

    def get_state(self) -> dict[str, Any]:
        """Return all of it, as JSON holds it without loss."""
        return {"points": self.points, "n_seen": self._n_seen, "apart": self._apart}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over what another had seen."""
        self.points = list(state["points"])
        self._n_seen, self._apart = state["n_seen"], state["apart"]
