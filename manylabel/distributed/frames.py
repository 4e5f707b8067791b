"""Predictions for the frames of dask, Ray and Spark, by the one batch function.

Each engine is spoken to through the frame that it made, so none is imported here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from manylabel.distributed.columns import FOUND
from manylabel.distributed.prediction import (
    BatchPredictor,
    answer_fields,
    predict_batches,
)


def predict(frame: Any, model: str | Path, **options: Any) -> Any:
    """Predict labels for a distributed frame, on the engine that holds it.

    Nothing is computed until the engine is asked for the answer. What it loses, a
    process or a machine, it does again, and the answer is the same.

    Parameters
    ----------
    frame : dask DataFrame, ray.data.Dataset or Spark DataFrame
        Rows of texts or features.
    model : str or Path
        A model's folder, at the same place on every machine.
    **options
        ``columns``, ``k``, ``keep`` and more, as :func:`predict_batches` takes them.

    Returns
    -------
    dask DataFrame, ray.data.Dataset or Spark DataFrame
        The columns that are kept, ``labels`` and ``scores``.

    Examples
    --------
    >>> predict([1, 2], "no-such-model")
    Traceback (most recent call last):
    TypeError: frame must be a DataFrame of dask or Spark or a ray.data.Dataset. Got ...
    """
    engine = type(frame).__module__.partition(".")[0]
    kinds = [kind.__name__ for kind in type(frame).__mro__]
    if engine not in ENGINES or FRAMES[engine] not in kinds:
        known = "a DataFrame of dask or Spark or a ray.data.Dataset"
        way = " Files go to predict_paths." * isinstance(frame, str | Path)
        raise TypeError(f"frame must be {known}. Got a {kinds[0]}.{way}")
    predictor = predict_batches(model, **options)
    predictor.check()
    return ENGINES[engine](frame, predictor)


def _needed(predictor: BatchPredictor, names: Sequence[str]) -> list[str]:
    """Return the columns to send to who predicts: no others are to cost or fail."""
    columns = predictor.choose(names)
    return list(dict.fromkeys([*columns.read, *columns.keep]))


def _on_spark(frame: Any, predictor: BatchPredictor) -> Any:
    names = frame.columns
    kept, needed = predictor.choose(names).keep, _needed(predictor, names)
    kind = type(frame.schema)
    found = kind.fromDDL("{} array<string>, {} array<float>".format(*FOUND))
    answer = kind([*(frame.schema[name] for name in kept), *found])
    # Spark asks for columns by name, and takes one with a dot for a field of another.
    numbered = frame.toDF(*map(str, range(len(names))))
    chosen = numbered.select(*(str(names.index(name)) for name in needed))
    named = partial(predict_named, names=needed, predictor=predictor)
    return chosen.mapInArrow(named, answer)


def predict_named(
    batches: Iterable[Any], names: Sequence[str], predictor: BatchPredictor
) -> Iterator[Any]:
    """Yield the answers for batches, whose columns get their names back."""
    return predictor(batch.rename_columns(names) for batch in batches)


def _on_ray(frame: Any, predictor: BatchPredictor) -> Any:
    # A task, not an actor: Ray makes one of reading, this and writing. A process that
    # runs several maps the model once all the same.
    names = frame.columns(fetch_if_missing=False)
    if names is not None:  # they are known without reading a row
        frame = frame.select_columns(_needed(predictor, names))
    return frame.map_batches(
        predictor.predict, batch_format="pyarrow", zero_copy_batch=True
    )


def _on_dask(frame: Any, predictor: BatchPredictor) -> Any:
    import pandas as pd

    kept = list(predictor.choose(list(frame.columns)).keep)
    kinds = {field.name: pd.ArrowDtype(field.type) for field in answer_fields()}
    found = {name: pd.Series([], dtype=kind) for name, kind in kinds.items()}
    needed = frame[_needed(predictor, list(frame.columns))]
    return needed.map_partitions(
        predict_pandas, predictor, meta=frame._meta[kept].assign(**found)
    )


def predict_pandas(rows: Any, predictor: BatchPredictor) -> Any:
    """Return the answer for a pandas frame, whose columns keep their types."""
    import pandas as pd
    import pyarrow as pa

    table = pa.Table.from_pandas(rows, preserve_index=False)
    kept = predictor.choose(table.column_names).keep
    found = predictor.predict(table).select(FOUND).to_pandas(types_mapper=pd.ArrowDtype)
    return rows[list(kept)].assign(**{n: found[n].array for n in FOUND})


FRAMES = {"dask": "DataFrame", "pyspark": "DataFrame", "ray": "Dataset"}
ENGINES: Mapping[str, Callable[[Any, BatchPredictor], Any]] = {
    "dask": _on_dask,
    "pyspark": _on_spark,
    "ray": _on_ray,
}
