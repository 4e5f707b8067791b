"""What a client returns and raises."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from manylabel.exceptions import ManylabelError


class Prediction(NamedTuple):
    """The labels of an item with their scores, the best first.

    Examples
    --------
    >>> Prediction("p1", None, [("drink", 0.9)]).labels[0][0]
    'drink'
    """

    id: str | None
    item: str | None
    labels: list[tuple[str, float]]


class Predictions(NamedTuple):
    """Predictions, by which version, and the last event that it had learnt.

    Examples
    --------
    >>> answer = {"version": "1f0c9d2e4b6a", "applied": 3, "predictions": []}
    >>> Predictions.of(answer).applied
    3
    """

    version: str
    applied: int
    predictions: list[Prediction]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Predictions":
        """Return what a server answered."""
        found = [
            Prediction(
                row["id"],
                row["item"],
                [(each["label"], each["score"]) for each in row["labels"]],
            )
            for row in answer["predictions"]
        ]
        return cls(answer["version"], answer["applied"], found)


class Reason(NamedTuple):
    """Why a text gets a label: words, and what the score loses without each.

    Examples
    --------
    >>> Reason("drink", 0.9, 1, [("wine", 0.7)]).words
    [('wine', 0.7)]
    """

    label: str
    score: float
    rank: int
    words: list[tuple[str, float]]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> "Reason":
        """Return what a server answered."""
        words = [(each["word"], each["weight"]) for each in answer["words"]]
        return cls(answer["label"], answer["score"], answer["rank"], words)


class RequestFailed(ManylabelError):
    """A server refused a request, or did not answer it.

    Parameters
    ----------
    status : int
        The HTTP status; 0 if there was no answer.
    detail : str
        What was wrong, as one sentence.
    problem : dict or None, default=None
        The problem details that the server sent.

    Examples
    --------
    >>> raise RequestFailed(404, "There is no model 'tags'.")
    Traceback (most recent call last):
    manylabel.client._records.RequestFailed: There is no model 'tags'.
    """

    def __init__(
        self, status: int, detail: str, problem: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.problem = dict(problem or {})
