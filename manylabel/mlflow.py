"""A tagger as a model of MLflow: ``loader_module="manylabel.mlflow"``.

MLflow calls :func:`_load_pyfunc`, by that name, with the folder that was its
``data_path``, and then ``predict`` of what it returns. MLflow is not needed here.

Examples
--------
>>> from tempfile import TemporaryDirectory
>>> import manylabel as ml
>>> tagger = ml.Tagger().fit(["red wine", "rye bread"], [["drink"], ["food"]])
>>> with TemporaryDirectory() as folder:
...     tagger.save(f"{folder}/tags")
...     _load_pyfunc(f"{folder}/tags").predict(["wine"])
[['drink']]
"""

from collections.abc import Mapping
from typing import Any

from manylabel.text import Tagger

TEXT = "text"  # the column of texts, if a frame has several
KNOWN = ("allow", "deny", "k", "proba")


class Model:
    """What MLflow asks for predictions."""

    def __init__(self, tagger: Tagger) -> None:
        self.tagger = tagger

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Return the names of the labels of each row; with ``k``, ranked, with scores.

        ``model_input`` is a frame with a column ``text`` or one column alone, of a
        tagger of features a frame of these, or whatever ``Tagger.predict`` takes;
        ``params`` are those of ``Tagger.tag``.
        """
        given = dict(params or {})
        if unknown := sorted(given.keys() - set(KNOWN)):
            known = ", ".join(KNOWN)
            raise ValueError(f"params must be among {known}. Got {unknown[0]!r}.")
        items = self._items(model_input)
        if "k" in given or given.get("proba"):
            ranked = self.tagger.tag_many(items, **given)
            names = ("label", "score")
            return [[dict(zip(names, it, strict=True)) for it in row] for row in ranked]
        given.pop("proba", None)
        return self.tagger.predict(items, **given)

    def _items(self, given: Any) -> Any:
        """Return the texts of a frame; all else as it is."""
        columns = [str(each) for each in getattr(given, "columns", ())]
        if not columns or not self.tagger.reads_texts_:
            return given
        if TEXT not in columns and len(columns) > 1:
            raise ValueError(
                f"model_input must have a column {TEXT!r}, or one column. "
                f"Got {', '.join(columns)}."
            )
        column = TEXT if TEXT in columns else given.columns[0]
        return list(given[column])


def _load_pyfunc(path: str) -> Model:
    """Return the model of a folder, as MLflow asks for it."""
    return Model(Tagger.load(path))
