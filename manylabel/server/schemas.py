"""What the routes take and return, as the OpenAPI page shows it.

Requests are checked by these models and nothing else. Responses are written by
``handlers`` in the same form; the tests hold them against the models.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.config import JsonDict, JsonValue

MOST_ITEMS = 10_000  # of a request
MOST_LABELS = 1_000  # named in a list, or asked for an item
LONGEST_TEXT = 100_000  # characters
LONGEST_NAME = 1_000  # characters of a label, an id or a feature
MOST_FEATURES = 100_000  # of an item
NUMBER = 2**53  # from here on, JavaScript does not tell integers apart

TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$"
VERSION = r"^[0-9a-f]{12}$"
LEARNER = r"^[a-z][a-z0-9-]{0,40}$"
WRITTEN = {  # what is expected, where a string does not match
    TIME: "a time as 2026-11-17T09:30:00Z",
    VERSION: "12 digits of a version, of 0 to 9 and a to f",
    LEARNER: "the name of a learner, as one-vs-rest",
}

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
Labels = Annotated[list[Name], Field(max_length=MOST_LABELS)]
SequenceNumber = Annotated[int, Field(ge=0, lt=NUMBER)]
Depth = Annotated[int, Field(ge=1, le=MOST_LABELS)]

EXAMPLE_ITEM: JsonDict = {"id": "a1", "text": "a library to read XML files from Python"}
EXAMPLE_ITEMS: JsonDict = {"items": [EXAMPLE_ITEM]}
EXAMPLE_LABELS: list[JsonValue] = [{"label": "role::shared-lib", "score": 0.93}]


def shown(example: JsonDict) -> ConfigDict:
    """Return the settings of a schema that is shown with an example."""
    return ConfigDict(json_schema_extra={"examples": [example]})


class Asked(BaseModel):
    """The base of all requests: a field that nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Item(Asked):
    """A text, or the features of a row by name or column."""

    model_config = shown(EXAMPLE_ITEM)

    id: Name | None = None
    text: Annotated[str, StringConstraints(max_length=LONGEST_TEXT)] | None = None
    features: Annotated[dict[Name, float], Field(max_length=MOST_FEATURES)] | None = (
        None
    )

    @model_validator(mode="after")
    def _have_one(self) -> Self:
        if (self.text is None) == (self.features is None):
            raise ValueError("an item must have text or features, and not both")
        return self


class PredictRequest(Asked):
    """Items whose labels are asked for."""

    model_config = shown({"items": [EXAMPLE_ITEM], "k": 3})

    items: Annotated[list[Item], Field(min_length=1, max_length=MOST_ITEMS)]
    k: Annotated[
        Depth | None,
        Field(description="How many labels an item; null for the set that it gives."),
    ] = 5
    allow: Annotated[Labels | None, Field(description="Only these labels.")] = None
    deny: Annotated[Labels | None, Field(description="None of these labels.")] = None
    proba: Annotated[bool, Field(description="Probabilities, not scores.")] = False
    remember: Annotated[
        bool, Field(description="Keep the items, so that feedback may name ids.")
    ] = True


class Scored(BaseModel):
    """A label and its score."""

    label: str
    score: float


class Prediction(BaseModel):
    """The labels of an item, the best first."""

    id: Annotated[str | None, Field(description="Of the prediction, for feedback.")]
    item: Annotated[str | None, Field(description="The id that the item came with.")]
    labels: list[Scored]


class PredictResponse(BaseModel):
    """Predictions, by which version, and which feedback it had learnt."""

    model_config = shown(
        {
            "model": "tags",
            "version": "1f0c9d2e4b6a",
            "applied": 17,
            "predictions": [{"id": "p-8c1f", "item": "a1", "labels": EXAMPLE_LABELS}],
        }
    )

    model: str
    version: str
    applied: SequenceNumber
    predictions: list[Prediction]


class FeedbackRequest(Asked):
    """What a person says of an item: labels it has, labels it has not.

    Labels that are not mentioned stay unknown unless ``complete``.
    """

    model_config = shown(
        {
            "item": EXAMPLE_ITEM,
            "accepted": ["role::shared-lib", "implemented-in::python"],
            "rejected": ["role::program"],
            "complete": False,
        }
    )

    prediction_id: Name | None = None
    item: Item | None = None
    accepted: Labels = []
    rejected: Labels = []
    complete: bool = False
    at: Annotated[
        str | None,
        StringConstraints(pattern=TIME),
        Field(description="When it was said, as RFC 3339 writes it."),
    ] = None

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if (self.prediction_id is None) == (self.item is None):
            raise ValueError("feedback must have prediction_id or item, and not both")
        both = set(self.accepted) & set(self.rejected)
        if both:
            raise ValueError(f"{min(both)[:80]!r} is both accepted and rejected")
        return self


class Acknowledged(BaseModel):
    """Where in the log an event stands, for good."""

    model_config = shown({"sequence": 18})

    sequence: SequenceNumber


class AcknowledgedFeedback(Acknowledged):
    """Where in the log feedback stands, and which labels came with it."""

    model_config = shown({"sequence": 18, "new_labels": ["role::shard-lib"]})

    new_labels: Annotated[
        list[str],
        Field(description="Those new to the model; absent if there are none."),
    ] = []


class Correction(BaseModel):
    """Feedback as the log has it, and whether the model has it now."""

    sequence: SequenceNumber
    at: Annotated[str, Field(description="When it was recorded, in UTC.")]
    who: Annotated[str, Field(description="The name of the token; empty: nobody's.")]
    text: Annotated[
        str | None, Field(description="The beginning of the text; null of features.")
    ]
    accepted: list[str]
    rejected: list[str]
    complete: bool
    state: Annotated[
        Literal["learnt", "contained", "left out"],
        Field(
            description="Contained: the active version was trained on it. Left out: "
            "it was taken back or rolled back."
        ),
    ]


class CorrectionsResponse(BaseModel):
    """Feedback on a model, the newest first."""

    corrections: list[Correction]


class AcknowledgedBatch(AcknowledgedFeedback):
    """Where in the log several feedbacks stand; ``sequence`` is the last."""

    sequences: list[SequenceNumber]


class ExplainRequest(Asked):
    """A text whose labels are to be explained."""

    model_config = shown({"item": EXAMPLE_ITEM, "k": 2})

    item: Item
    labels: Labels | None = None
    k: Annotated[int, Field(ge=1, le=20)] = 5


class WordWeight(BaseModel):
    """A word, and what the score loses without it."""

    word: str
    weight: float


class Reason(BaseModel):
    """Why an item gets a label: the words that speak for it and against it."""

    label: str
    score: float
    rank: int
    words: list[WordWeight]


class ExplainResponse(BaseModel):
    """Reasons, a label each."""

    model: str
    version: str
    reasons: list[Reason]


class LabelCount(BaseModel):
    """A label, and how many items had it."""

    label: str
    count: int


class LabelsResponse(BaseModel):
    """Labels whose name, or a word of it, begins with what was asked for."""

    labels: list[LabelCount]


class ActivateRequest(Asked):
    """The version that is to answer from now on."""

    model_config = shown({"version": "1f0c9d2e4b6a"})

    version: Annotated[str, StringConstraints(pattern=VERSION)]


class ShadowRequest(ActivateRequest):
    """The version that is to be scored on live feedback."""

    model_config = shown({"version": "1f0c9d2e4b6a", "is_on": True})

    is_on: bool = True


class RollbackRequest(Asked):
    """The last event that is to count; feedback after it is taken out."""

    model_config = shown({"sequence": 17})

    sequence: SequenceNumber


class RetrainRequest(Asked):
    """How a new version is to be learnt from the log and the original data."""

    model_config = shown({"quality": "fast"})

    learner: Annotated[str | None, StringConstraints(pattern=LEARNER)] = None
    quality: Literal["fast", "balanced", "best"] = "balanced"


class JobResponse(BaseModel):
    """How far a background job is."""

    id: str
    model: str
    state: str
    share: float
    message: str
    version: str | None


class ModelsResponse(BaseModel):
    """The models that are served."""

    models: list[str]


class Facts(BaseModel):
    """Facts by name, such as those of a model card."""

    model_config = ConfigDict(extra="allow")


class VersionsResponse(BaseModel):
    """The versions of a model."""

    active: str
    versions: list[dict[str, Any]]


class QueueRequest(Asked):
    """Items of which the most telling are to be chosen."""

    model_config = shown(EXAMPLE_ITEMS)

    items: Annotated[list[Item], Field(min_length=1, max_length=MOST_ITEMS)]
    limit: Depth = 10


class Queued(BaseModel):
    """An item to label, and what was predicted for it."""

    prediction_id: Annotated[str | None, Field(description="For feedback.")]
    item: dict[str, Any]
    labels: list[Scored]
    priority: float


class QueueResponse(BaseModel):
    """Items to label next, the most telling first."""

    items: list[Queued]


class Health(BaseModel):
    """Whether the server lives, or is ready."""

    status: str


class Fault(BaseModel):
    """What is wrong with one part of a request."""

    where: str
    what: str


class ProblemDetails(BaseModel):
    """An error as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[Fault] | None = None
