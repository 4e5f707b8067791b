"""A model card: what a model is, in figures and words."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from manylabel._escapes import escape_line
from manylabel._markup import isolate, lay_table
from manylabel.blend import Blend
from manylabel.losses import as_cost
from manylabel.model_selection import Thresholds
from manylabel.text._decision import cost_of

WIDTH = 14  # of the names, which stand on the left
MOST_NAMED = 3  # labels


class Card(Mapping[str, Any]):
    """What a model is: facts by name, ready for JSON; printed, lines for people.

    Parameters
    ----------
    facts : mapping of str to object
        Numbers, text, or mappings of these.

    Examples
    --------
    >>> print(Card({"rows": 1200, "source": "train.csv", "figures": {"P@1": 0.5}}))
    rows           1,200
    source         train.csv
    figures        P@1 0.5
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = dict(facts)

    def __getitem__(self, key: str) -> Any:
        return self._facts[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def words(self) -> dict[str, str]:
        """Return the facts by name, in words."""
        return {name.replace("_", " "): _words(it) for name, it in self.items()}

    def __str__(self) -> str:
        lines = self.words().items()
        return "\n".join(f"{name:{WIDTH}} {words}" for name, words in lines)

    __repr__ = __str__

    def to_markdown(self, **metadata: Any) -> str:
        """Return the card as Markdown with front matter, as model hubs read it.

        Parameters
        ----------
        **metadata : str, number or list of str
            More of the front matter, such as ``license="mit"`` and ``language="en"``.

        Returns
        -------
        str
            The README.md of a model folder.
        """
        front = {
            "library_name": "manylabel",
            "pipeline_tag": "text-classification",
            "tags": ["multi-label"],
            **metadata,
        }
        head = (f"{name}: {json.dumps(value)}" for name, value in front.items())
        rows = (f"| {_cell(name)} | {_cell(it)} |" for name, it in self.words().items())
        lines = [
            "---",
            *head,
            "---",
            "",
            "# Model card",
            "",
            "| | |",
            "|---|---|",
            *rows,
        ]
        load = 'tagger = manylabel.Tagger.load("folder")'
        lines += ["", "```python", "import manylabel", "", load, "```", ""]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the facts as a table, for notebooks."""
        rows = [[isolate(it) for it in line] for line in self.words().items()]
        return "".join(lay_table("Model card", ["", ""], rows, are_numbers=False))


def write_card(tagger: Any) -> Card:
    """Return the card of a fitted tagger."""
    learner = tagger.ranker_
    names, counts = tagger.label_names_, tagger.label_counts_
    order = np.argsort(-counts, kind="stable")[:MOST_NAMED]
    return Card(
        {
            "learner": type(learner).__name__,
            "parameters": _plain(learner.get_params(deep=False)),
            "reads": _describe_items(tagger),
            "rows": tagger.n_rows_ or "not known",  # of a learner saved by itself
            "features": int(tagger.n_features_),
            "labels": len(names),
            "most_frequent": {
                str(names[at]): int(counts[at]) for at in order if counts[at]
            },
            "decision": _describe_decision(tagger),
            **_describe_trial(learner),
            **({"choice": tagger.choice_} if tagger.choice_ else {}),
            **tagger.provenance_,
        }
    )


def _describe_items(tagger: Any) -> str:
    if not tagger.reads_texts_:
        return "rows of features"
    told = getattr(tagger.vectorizer_, "language_", "")
    language = f", language {told}" if told else ""
    return f"texts{language}, by {tagger.vectorizer_!r}".replace("\n", " ")


def _describe_decision(tagger: Any) -> str:
    """Return in words how ``predict`` makes sets."""
    rule = tagger.learner_
    expected = cost_of(rule, tagger.cost, tagger.calibrate)
    if expected is not None:
        return f"sets of the least expected cost {as_cost(expected).name}"
    if not isinstance(rule, Thresholds):
        cost = getattr(rule, "cost", None)
        named = f", chosen by the learner for {cost}" if cost is not None else ""
        return f"labels of positive score{named}"
    goals = ("min_precision", "min_recall")
    goal = next((f"{g}={v}" for g in goals if (v := getattr(rule, g)) is not None), "")
    which = "a threshold for each label" if rule.per_label else "one threshold"
    return f"scores above {which}, chosen for {goal or rule.cost}"


def _describe_trial(learner: Any) -> dict[str, Any]:
    """Return what the validation set of a blend said, in words."""
    if not isinstance(learner, Blend):
        return {}
    trial = learner.trial_
    return {"members": trial.learners(), "validation": trial.validation()}


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON holds them; what is more than a value, in words."""
    simple = (bool, int, float, str, type(None))
    return {
        name: value if isinstance(value, simple) else " ".join(repr(value).split())
        for name, value in parameters.items()
    }


def _cell(words: str) -> str:
    """Return words that are neither markup nor the end of a cell."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|])", r"\\\1", words)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{escape_line(name)} {_words(part)}" for name, part in value.items()
        )
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if type(value) is int else escape_line(str(value))
