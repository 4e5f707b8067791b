"""The client: verbs of the service as methods."""

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote

from manylabel.client._records import Predictions, Reason
from manylabel.client._transport import Call, Transport

POLL = 0.5  # seconds between looks at a job
ENDED = ("done", "failed")  # states of a job that will not change
Item = str | Mapping[str, Any]


class Client:
    """Asks a service for labels, and tells it what they should have been.

    Calls that are lost, or refused because the server is busy, are sent again, each
    feedback with its own key: it is learnt once. After a feedback, predictions wait
    until the worker that answers has learnt it. Threads may share a client.

    Parameters
    ----------
    url : str
        Of the server, such as ``http://127.0.0.1:8000``.
    token : str or None, default=None
        That ``manylabel token add`` printed; None for a server that is open.
    timeout : float, default=60
        Seconds to wait for an answer.
    retries : int, default=5
        How often a call is sent again.

    Attributes
    ----------
    acknowledged : dict of str to int
        The sequence number of the last feedback, by model.
    new_labels : dict of str to list of str
        Labels of the last feedback that its model never had, by model: if one is
        misspelt, retract the feedback.

    Examples
    --------
    >>> with Client("http://127.0.0.1:9", retries=0) as client:
    ...     client.models()
    Traceback (most recent call last):
    manylabel.client._records.RequestFailed: http://127.0.0.1:9 did not answer: ...
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        self._transport = Transport(url, token, timeout, retries)
        self.acknowledged: dict[str, int] = {}
        self.new_labels: dict[str, list[str]] = {}

    def predict(
        self,
        model: str,
        items: Iterable[Item],
        *,
        k: int | None = 5,
        allow: Sequence[str] | None = None,
        deny: Sequence[str] | None = None,
        proba: bool = False,
        remember: bool = True,
    ) -> Predictions:
        """Return the best labels of each item.

        Parameters
        ----------
        model : str
            Its name.
        items : iterable of str or dict
            Texts, or items as the API has them: ``{"id", "text"}`` or
            ``{"id", "features"}``.
        k : int or None, default=5
            How many labels an item; None for the set that the model gives.
        allow : sequence of str or None, default=None
            Only these labels.
        deny : sequence of str or None, default=None
            None of these labels.
        proba : bool, default=False
            Probabilities in place of scores.
        remember : bool, default=True
            Whether the server keeps the items, so that feedback may name predictions.

        Returns
        -------
        Predictions
            In the order of the items.
        """
        body = {
            "items": [_item(each) for each in _several(items, "items", "texts")],
            "k": k,
            "allow": None if allow is None else _several(allow, "allow"),
            "deny": None if deny is None else _several(deny, "deny"),
            "proba": proba,
            "remember": remember,
        }
        after = {"after": self.acknowledged.get(model)}
        return Predictions.of(self._post(model, "predict", body, query=after))

    def feedback(
        self,
        model: str,
        item: Item | None = None,
        *,
        prediction_id: str | None = None,
        accepted: Sequence[str] = (),
        rejected: Sequence[str] = (),
        complete: bool = False,
        at: str | None = None,
        key: str | None = None,
        wait: bool = False,
    ) -> int:
        """Tell which labels an item has and has not; return the sequence number.

        Once this returns, the feedback is on the server's disk.

        Parameters
        ----------
        model : str
            Its name.
        item : str, dict or None, default=None
            The item, if no prediction is named.
        prediction_id : str or None, default=None
            The prediction that is judged.
        accepted : sequence of str, default=()
            Labels that the item has.
        rejected : sequence of str, default=()
            Labels that it has not.
        complete : bool, default=False
            Whether all other labels are wrong; else they stay unknown.
        at : str or None, default=None
            When it was said, in RFC 3339.
        key : str or None, default=None
            The same key is learnt once; None draws one.
        wait : bool, default=False
            Wait until the worker that answers has learnt it.

        Returns
        -------
        int
            Its place in the log.
        """
        body = {
            "prediction_id": prediction_id,
            "item": None if item is None else _item(item),
            "accepted": _several(accepted, "accepted"),
            "rejected": _several(rejected, "rejected"),
            "complete": complete,
            "at": at,
        }
        return int(self._tell(model, body, key, wait)["sequence"])

    def feedback_many(
        self,
        model: str,
        feedbacks: Iterable[Mapping[str, Any]],
        *,
        key: str | None = None,
        wait: bool = False,
    ) -> list[int]:
        """Send several feedbacks, as the API has them; return sequence numbers."""
        return list(self._tell(model, list(feedbacks), key, wait)["sequences"])

    def retract(self, model: str, sequence: int) -> int:
        """Take a feedback back, as if it had not been given."""
        call = Call("DELETE", _path(model, f"feedback/{sequence}"))
        return self._acknowledge(model, self._transport.send(call))

    def explain(
        self, model: str, item: Item, *, labels: Sequence[str] | None = None, k: int = 5
    ) -> list[Reason]:
        """Return why a text gets its labels, or does not get others."""
        asked = None if labels is None else _several(labels, "labels")
        body = {"item": _item(item), "labels": asked, "k": k}
        answer = self._post(model, "explain", body)
        return [Reason.of(each) for each in answer["reasons"]]

    def labels(
        self, model: str, prefix: str = "", *, limit: int = 20
    ) -> list[tuple[str, int]]:
        """Return labels that begin so, with how many items had each."""
        query = {"prefix": prefix, "limit": limit}
        found = self._get(model, "labels", query)["labels"]
        return [(each["label"], each["count"]) for each in found]

    def models(self) -> list[str]:
        """Return the names of the models that are served."""
        found: list[str] = self._transport.send(Call("GET", "/v1/models"))["models"]
        return found

    def card(self, model: str) -> dict[str, Any]:
        """Return what a model is."""
        return self._get(model)

    def figures(self, model: str) -> dict[str, Any]:
        """Return running costs, drift and counts."""
        return self._get(model, "figures")

    def queue(self, model: str, *, limit: int = 10) -> list[dict[str, Any]]:
        """Return items to label next."""
        found: list[dict[str, Any]] = self._get(model, "queue", {"limit": limit})[
            "items"
        ]
        return found

    def versions(self, model: str) -> list[dict[str, Any]]:
        """Return the versions of a model, with what they cost on live feedback."""
        found: list[dict[str, Any]] = self._get(model, "versions")["versions"]
        return found

    def activate(self, model: str, version: str) -> int:
        """Let another version answer."""
        answer = self._post(model, "activate", {"version": version})
        return self._acknowledge(model, answer)

    def rollback(self, model: str, sequence: int) -> int:
        """Take out all feedback after an event."""
        # Sent twice, it would also take out what came in between.
        body = {"sequence": sequence}
        answer = self._post(model, "rollback", body, repeatable=False)
        return self._acknowledge(model, answer)

    def retrain(
        self, model: str, *, learner: str | None = None, quality: str = "balanced"
    ) -> dict[str, Any]:
        """Begin to learn a new version from the log and the original data."""
        body = {"learner": learner, "quality": quality}
        return self._post(model, "retrain", body, repeatable=False)

    def job(self, model: str, job: str) -> dict[str, Any]:
        """Return how far a job is."""
        return self._get(model, f"jobs/{quote(job, safe='')}")

    def wait(
        self, model: str, job: str | Mapping[str, Any], *, timeout: float = 3600.0
    ) -> dict[str, Any]:
        """Wait until a job, its id or what ``retrain`` returned, has ended; say how."""
        name = job if isinstance(job, str) else str(job["id"])
        end = time.monotonic() + timeout
        while True:
            found = self.job(model, name)
            if found["state"] in ENDED:
                return found
            if time.monotonic() > end:
                raise TimeoutError(f"job {name} did not end within {timeout:g} s.")
            time.sleep(POLL)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get(
        self, model: str, verb: str = "", query: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = self._transport.send(
            Call("GET", _path(model, verb), query or {})
        )
        return answer

    def _post(
        self,
        model: str,
        verb: str,
        body: Any,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        repeatable: bool = True,
    ) -> dict[str, Any]:
        path = _path(model, verb)
        call = Call("POST", path, query or {}, body, headers or {}, repeatable)
        answer: dict[str, Any] = self._transport.send(call)
        return answer

    def _tell(
        self, model: str, body: Any, key: str | None, wait: bool
    ) -> dict[str, Any]:
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        query = {"wait": "applied" if wait else None}
        answer = self._post(model, "feedback", body, query=query, headers=headers)
        self._acknowledge(model, answer)
        self.new_labels[model] = answer.get("new_labels", [])
        return answer

    def _acknowledge(self, model: str, answer: Mapping[str, Any]) -> int:
        """Remember an event, so that what is read later has it."""
        sequence = int(answer["sequence"])
        self.acknowledged[model] = max(sequence, self.acknowledged.get(model, 0))
        return sequence


def _item(item: Item) -> dict[str, Any]:
    if isinstance(item, str):
        return {"text": item}
    if not isinstance(item, Mapping):
        raise TypeError(f"item must be a text or a dict. Got {item!r:.40}.")
    return dict(item)


def _several(values: Iterable[Any], argument: str, what: str = "names") -> list[Any]:
    """Return a list; a single string would be taken for its letters."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{argument} must be a list of {what}. Got {values!r:.40}.")
    return list(values)


def _path(model: str, verb: str = "") -> str:
    path = f"/v1/models/{quote(model, safe='')}"
    return f"{path}/{verb}" if verb else path
