"""The figures of models, as families of metrics."""

from collections.abc import Iterator
from typing import Any

from manylabel.server.metrics import Family, Sample
from manylabel.server.replica import Replica
from manylabel.server.service import Service


def collect(service: Service, worker: int) -> list[Family]:
    """Return what is known of each model, by the worker that is asked.

    All workers follow one log, so their costs and counts agree once they have applied
    the same events; what a worker has applied, and the drift of the scores that it
    gave, is its own.
    """
    replicas = [service.replica(name) for name in service.names()]
    found = [(each, each.figures()) for each in replicas if each.is_ready()]
    tables = (_places(found, worker), _costs(found), _counts(found, worker))
    return [family for table in tables for family in table]


Found = list[tuple[Replica, dict[str, Any]]]


def _places(found: Found, worker: int) -> Iterator[Family]:
    for what, about in (
        ("applied", "Up to which event of the log a worker has learnt."),
        ("acknowledged", "The last event of the log that a worker knows of."),
    ):
        samples = [
            Sample(facts[what], {"model": each.name, "worker": str(worker)})
            for each, facts in found
        ]
        yield Family(f"manylabel_{what}_sequence", "gauge", about, samples)


def _costs(found: Found) -> Iterator[Family]:
    for what, about in (
        ("mean", "Progressive cost of all feedback."),
        ("recent", "Progressive cost of late feedback."),
    ):
        samples = [
            Sample(cost[what], {"model": each.name, "cost": name})
            for each, facts in found
            for name, cost in facts["costs"].items()
            if cost[what] is not None
        ]
        yield Family(f"manylabel_cost_{what}", "gauge", about, samples)
    counts = [
        Sample(
            max((cost["count"] for cost in facts["costs"].values()), default=0),
            {"model": each.name},
        )
        for each, facts in found
    ]
    yield Family("manylabel_feedback_judged", "gauge", "Feedbacks judged.", counts)


def _counts(found: Found, worker: int) -> Iterator[Family]:
    drifts = [
        Sample(facts["drift"], {"model": each.name, "worker": str(worker)})
        for each, facts in found
        if facts["drift"] is not None
    ]
    about = "Population stability index of the best scores."
    yield Family("manylabel_score_drift", "gauge", about, drifts)
    labels = [
        Sample(count, {"model": each.name, "label": label})
        for each, facts in found
        for label, count in facts["labels"].items()
    ]
    about = "How often feedback accepted a label, the most frequent ones."
    yield Family("manylabel_label_accepted", "gauge", about, labels)
    unknown = [
        Sample(len(facts["unknown_labels"]), {"model": each.name})
        for each, facts in found
    ]
    about = "Labels of feedback that the model has not."
    yield Family("manylabel_unknown_labels", "gauge", about, unknown)
