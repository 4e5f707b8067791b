"""``manylabel predict``: the best labels of each row."""

import json
from collections.abc import Iterator
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from manylabel.cli import options
from manylabel.cli.console import ESCAPES, STANDARD, output, track
from manylabel.cli.deferral import starting
from manylabel.cli.inputs import DataFile
from manylabel.cli.models import is_textual, load_model

if TYPE_CHECKING:
    from manylabel._typing import CSR

Ranked: TypeAlias = list[tuple[int, str]]  # a row's labels and scores, the best first
DEEPEST = 1000  # labels of a row among which those above the cut-offs are looked for
FORMATS = ("tsv", "jsonl", "xc")


@options.reads("label_names", "labels_column", "label_separator")
def predict(
    model: options.Model,
    file: options.File = STANDARD,
    k: Annotated[int, typer.Option("-k", min=1, help="How many labels a row.")] = 5,
    format: Annotated[
        str,
        typer.Option(
            metavar="FORMAT",
            help="tsv (row, label, score), jsonl (an object a row) or xc (label:score "
            "under a header 'rows labels').",
        ),
    ] = "tsv",
    out: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT", help="A file; - for stdout."),
    ] = STANDARD,
    sets: Annotated[
        bool,
        typer.Option("--sets", help="All labels above the model's cut-offs, not k."),
    ] = False,
    jobs: options.Jobs = None,
    *,
    reading: options.Reading,
) -> None:
    """Print the best labels of each row, in the order of the rows.

    A model of texts also reads plain lines, a text each, and answers as they come.
    Labels have their names if the model knows them. Rows are numbered from 0.

    Example: manylabel predict debtags/ new.jsonl -k 3 | head
    """
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise ValueError(f"--format must be one of {known}. Got {format!r}.")
    with starting():
        learnt = load_model(model, jobs)
        data = DataFile(file, reading, labelled=False, textual=is_textual(learnt))
        header = _header(format, learnt, data)
        chunks = track(data.chunks_for(learnt), "Predicting", quiet=out == STANDARD)
        scores = (_scores(learnt, chunk.X, k, sets) for chunk in chunks)
        first = list(islice(scores, 1))  # refuse before anything is printed
    names, n_rows = getattr(learnt, "label_names_", range(len(learnt.classes_))), 0
    with output(out) as text:
        text.writelines(f"{line}\n" for line in header)
        for some in chain(first, scores):
            for number, row in enumerate(_ranked(some), n_rows):
                lines = _lines(format, number, row, names)
                text.writelines(f"{line}\n" for line in lines)
            n_rows += some.shape[0]
            text.flush()


def _scores(model: Any, X: "CSR", k: int, sets: bool) -> "CSR":
    """Return the best labels, or those that the model gives."""
    import numpy as np
    import scipy.sparse as sp

    if not sets:
        best: CSR = model.predict_topk(X, k)
        return best
    given, ranked = model.predict(X) > 0, model.predict_topk(X, DEEPEST)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(ranked.indptr))
    kept = np.asarray(given[rows, ranked.indices]).ravel()
    parts = (ranked.data[kept], (rows[kept], ranked.indices[kept]))
    return sp.csr_array(parts, shape=ranked.shape)


def _ranked(scores: "CSR") -> Iterator[Ranked]:
    """Yield the labels of each row, the best first, equal scores by column."""
    from manylabel.data.dataset import best_first

    best = best_first(scores)
    labels = scores.indices[best].tolist()
    values = [f"{score:.6g}" for score in scores.data[best].tolist()]
    for start, stop in pairwise(scores.indptr.tolist()):
        yield list(zip(labels[start:stop], values[start:stop], strict=True))


def _header(format: str, model: Any, data: DataFile) -> list[str]:
    if format == "xc":
        return [f"{data.count_rows()} {len(model.classes_)}"]
    return ["row\tlabel\tscore"] if format == "tsv" else []


def _lines(format: str, number: int, row: Ranked, names: Any) -> Iterator[str]:
    if format == "xc":
        yield " ".join(f"{label}:{score}" for label, score in sorted(row))
    elif format == "tsv":
        for label, score in row:
            yield f"{number}\t{str(names[label]).translate(ESCAPES)}\t{score}"
    else:
        labels = [names[label] for label, _ in row]
        scores = [float(score) for _, score in row]
        yield json.dumps({"row": number, "labels": labels, "scores": scores})
