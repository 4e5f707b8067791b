"""``manylabel explain``: a tree in words, or why a row gets its labels."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli import options
from manylabel.cli.console import cell, note, print_json, print_table, say
from manylabel.cli.inputs import DataFile

if TYPE_CHECKING:
    from manylabel._typing import CSR
    from manylabel.data import Dataset
    from manylabel.text import Tagger

DEPTH = 3  # of a tree that is printed or drawn
File = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="A data file, gzipped or not; - for stdin. Without one, the tree is told.",
        show_default=False,
    ),
]
Row = Annotated[
    int | None,
    typer.Option(min=0, help="Which row of the file, from 0; 0 if not given."),
]
Depth = Annotated[
    int | None,
    typer.Option(
        min=0,
        help=f"Levels of the tree below its root to show; if not given, {DEPTH}, and "
        "all on a page.",
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(metavar="OUT", help="Draw the tree to a .png, .pdf or .svg file."),
]
Html = Annotated[
    Path | None,
    typer.Option(metavar="OUT", help="Write the tree as a page for a browser."),
]
FeatureNames = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Names of the features, one a line, if neither model nor data has them.",
    ),
]


Text = Annotated[
    str | None, typer.Option(metavar="TEXT", help="A text, for a model of texts.")
]
Tag = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Why a text gets, or not, this tag; repeatable."),
]


@options.reads("label_names", "labels_column", "labels_columns", "label_separator")
def explain(
    model: options.Model,
    file: File = None,
    row: Row = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many labels.")] = 5,
    trees: Annotated[int, typer.Option(min=0, help="How many paths to show.")] = 3,
    depth: Depth = None,
    plot: Plot = None,
    html: Html = None,
    feature_names: FeatureNames = None,
    text: Text = None,
    tag: Tag = None,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Print why a text gets its tags, or a tree, or the way of a row through trees.

    Of a text, each tag has the words that count for it and against it: what the tag's
    score loses when the word is left out.

    Each line is a decision: the training rows that came by, then for a tree its largest
    weights, for a row its score and the features that made it; a leaf has labels.

    Example: manylabel explain debtags/ --text "a parser for XML"
    """
    from manylabel.evaluation.plots import check_format
    from manylabel.text import Tagger

    if plot is not None:
        check_format(plot)
    if file is None and row is not None:
        raise ValueError("--row needs a FILE that has it.")
    if file is not None and text is not None:
        raise ValueError("--text must be left out where a FILE is given.")
    tagger, is_drawn = Tagger.load(model), bool(plot or html)
    given = DataFile(
        file or Path(), reading, labelled=False, textual=tagger.reads_texts_
    )
    given.check_there("--text TEXT explains a text")
    data = None if file is None else _row(given.as_fitted(tagger), tagger, row or 0)
    if tagger.reads_texts_ and not is_drawn and (text is not None or data is not None):
        if data is not None and data.texts:
            (text,) = data.texts
        _tell_text(tagger.explain(text or "", tag, k), json)
        return
    if text is not None or tag is not None:
        raise ValueError("--text and --tag need a model of texts, without a drawing.")
    _check_kind(tagger, model, needs_tree=data is None or is_drawn)
    X = None if data is None else tagger.transform(data)
    names = {
        "feature_names": _feature_names(feature_names, tagger, data),
        "label_names": tagger.label_names_,
    }
    _draw(tagger.ranker_, X, plot, html, depth, names | {"title": model.name})
    if X is None:
        _tell_tree(tagger.ranker_, depth, names, json)
    else:
        _tell_row(tagger.ranker_, X, k, trees, names, json)


def _tell_text(explanation: Any, json: bool) -> None:
    if json:
        print_json([reason._asdict() for reason in explanation.reasons])
    else:
        say(str(explanation))


def _check_kind(tagger: "Tagger", path: Path, *, needs_tree: bool) -> None:
    """Refuse models that have no way of a row, or no single tree, to show."""
    model = tagger.ranker_
    kind = type(model).__name__
    if not hasattr(model, "explain"):
        way = "; --text TEXT is explained by its words" if tagger.reads_texts_ else ""
        raise ValueError(f"{path}: expected a tree or a forest, found a {kind}{way}.")
    if needs_tree and not hasattr(model, "nodes"):
        way = "--text TEXT or a FILE" if tagger.reads_texts_ else "a FILE"
        raise ValueError(
            f"{path}: expected a tree over labels, found a {kind}; give {way}, without "
            "--plot and --html, to have a row explained."
        )


def _row(data: DataFile, tagger: "Tagger", row: int) -> "Dataset":
    n_before = 0
    for chunk in data.chunks_for(tagger):
        if row < n_before + len(chunk):
            return chunk[row - n_before : row - n_before + 1]
        n_before += len(chunk)
    raise data.fault(f"expected more than {row} rows, found {n_before}.")


def _feature_names(given: Path | None, tagger: "Tagger", data: "Dataset | None") -> Any:
    """Return the names given, or those in the data, or those kept with the model."""
    from manylabel.data.reader import read_names
    from manylabel.exceptions import DataError

    names = read_names(given)
    if given is None or names is None:
        found = None if data is None else data.feature_names
        return tagger.get_feature_names_out() if found is None else found
    if len(names) != tagger.n_features_:
        reason = f"expected {tagger.n_features_} names, found {len(names)}."
        raise DataError(given, reason)
    return names


def _draw(
    model: Any,
    X: "CSR | None",
    plot: Path | None,
    html: Path | None,
    depth: int | None,
    words: dict[str, Any],
) -> None:
    from manylabel.evaluation import plot_tree, write_tree_html

    if plot is not None:
        upper = DEPTH if depth is None else depth
        plot_tree(model, plot, X=X, depth=upper, **words)
        note(f"note: wrote {plot}.")
    if html is not None:
        write_tree_html(model, html, X=X, depth=depth, **words)
        note(f"note: wrote {html}.")


def _tell_tree(
    model: Any, depth: int | None, names: dict[str, Any], json: bool
) -> None:
    depth = DEPTH if depth is None else depth
    figures = model.diagnostics()._asdict()
    if json:
        # JSON has no infinity, which is the margin where nothing is decided.
        figures = {n: v if math.isfinite(v) else None for n, v in figures.items()}
        nodes = [node._asdict() for node in model.nodes(depth)]
        print_json({"diagnostics": figures, "nodes": nodes})
        return
    cells = (
        (name.removeprefix("n_").replace("_", " "), cell(value))
        for name, value in figures.items()
    )
    print_table(["", ""], cells, title=type(model).__name__)
    say(model.outline(depth, **names))


def _tell_row(
    model: Any, X: "CSR", k: int, trees: int, names: dict[str, Any], json: bool
) -> None:
    explanation = model.explain(X, k)
    if not json:
        say(explanation.text(**names, n_estimators=trees))
        return
    labels, features, paths = explanation
    ways = [
        path._replace(decisions=[step._asdict() for step in path.decisions])
        for path in paths[:trees]
    ]
    paths = [way._asdict() for way in ways]
    print_json({"labels": labels, "features": features, "paths": paths})
