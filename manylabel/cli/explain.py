"""``manylabel explain``: why a row gets its labels."""

from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli import options
from manylabel.cli.console import print_json, say
from manylabel.cli.inputs import DataFile, load_model

if TYPE_CHECKING:
    from manylabel.data import Dataset


def explain(
    model: options.Model,
    file: options.File,
    row: Annotated[int, typer.Option(min=0, help="Which row, from 0.")] = 0,
    k: Annotated[int, typer.Option("-k", min=1, help="How many labels.")] = 5,
    trees: Annotated[int, typer.Option(min=0, help="How many paths to show.")] = 3,
    from_: options.From = None,
    zero_based: options.ZeroBased = None,
    json: options.Json = False,
) -> None:
    """Print the way of a row through the trees of a forest.

    Each line of a tree is a decision: the training rows that came by, the row's score
    and the features that made it; the last line has the labels of the leaf.

    Example: manylabel explain bibtex/ test.txt.gz --row 7
    """
    learnt = load_model(model)
    if not hasattr(learnt, "explain"):
        name = type(learnt).__name__
        raise ValueError(f"{model}: expected a forest to explain, found a {name}.")
    data = _row(DataFile(file, from_, None, zero_based), learnt, row)
    explanation = learnt.explain(data.X, k)
    if json:
        labels, features, paths = explanation
        ways = [
            path._replace(decisions=[step._asdict() for step in path.decisions])
            for path in paths[:trees]
        ]
        paths = [way._asdict() for way in ways]
        print_json({"labels": labels, "features": features, "paths": paths})
        return
    names = getattr(learnt, "label_names_", None)
    say(
        explanation.text(
            feature_names=data.feature_names, label_names=names, n_trees=trees
        )
    )


def _row(data: DataFile, model: object, row: int) -> "Dataset":
    n_before = 0
    for chunk in data.chunks_for(model):
        if row < n_before + len(chunk):
            return chunk[row - n_before : row - n_before + 1]
        n_before += len(chunk)
    raise data.fault(f"expected more than {row} rows, found {n_before}.")
