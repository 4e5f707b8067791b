"""How the file was read that a model was learnt from."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manylabel.text._tagger import Tagger

COLUMNS = (
    *("id_column", "text_columns", "labels_column", "labels_columns"),
    "label_separator",
)
SINGLE = ("id_column", "label_separator")


def kept_columns(tagger: "Tagger") -> dict[str, Any]:
    """Return the columns that ``fit`` was told, as options of ``read``.

    Examples
    --------
    >>> from manylabel import Tagger
    >>> tagger = Tagger().fit(["red wine", "rye bread"], [["drink"], ["food"]])
    >>> kept_columns(tagger.annotate(columns={"labels_column": "mood", "odd": 7}))
    {'labels_column': 'mood'}
    """
    return told_columns(tagger.provenance_)


def told_columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a model's facts, or its card, tell.

    A model of a stranger may say anything: what is no name of a column is left out.
    """
    found = facts.get("columns")
    told = found if isinstance(found, dict) else {}
    return {name: told[name] for name in COLUMNS if _are_names(name, told.get(name))}


def _are_names(option: str, value: Any) -> bool:
    if option in SINGLE or (option == "labels_column" and isinstance(value, str)):
        return isinstance(value, str) and bool(value)
    is_list = isinstance(value, list) and bool(value)
    return is_list and all(isinstance(each, str) and each for each in value)
