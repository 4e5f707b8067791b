"""``manylabel predict``: the best labels of each row."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel._escapes import escape_cell, json_text
from manylabel.cli import options
from manylabel.cli.batches import (
    Answer,
    find_answers,
    is_for_batches,
    rows_of,
    write_table,
)
from manylabel.cli.console import STANDARD, note, output, track
from manylabel.cli.inputs import DataFile
from manylabel.cli.on import On, predict_on
from manylabel.cli.process import starting

if TYPE_CHECKING:
    from manylabel.data import Dataset, Vocabulary
    from manylabel.distributed import BatchPredictor
    from manylabel.text import Tagger

FORMATS = ("tsv", "csv", "jsonl", "xc", "parquet")
SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}
WORKBOOKS = (".xlsx", ".xls", ".ods")
TYPED = "note: each line that you type is a text; Ctrl-D ends."
Format = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="tsv (row, label, score), csv (a line a row, with its id and text, for "
        "spreadsheets, and for fit when it was corrected), jsonl (an object a row, "
        "with its id), xc (label:score under a header 'rows labels') or parquet (id, "
        "labels, scores); told by the suffix of OUT, or tsv, if not given.",
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="A file; - for stdout. With --on, a folder of Parquet files that all "
        "machines see, where a run that broke goes on.",
    ),
]
Sets = Annotated[
    bool,
    typer.Option("--sets", help="The set of labels that the model gives, not k."),
]
Proba = Annotated[
    bool, typer.Option("--proba", help="Probabilities in place of scores.")
]
Allow = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The labels that may be printed, a name a line: k of these.",
    ),
]
Deny = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Labels that may not be printed, a name a line."),
]
HEADERS: dict[str, list[str]] = {
    "tsv": ["row\tlabel\tscore"],
    "csv": ["row,id,text,labels,scores"],
    "jsonl": [],
}


@options.reads("label_names", "labels_column", "labels_columns", "label_separator")
def predict(
    model: options.Model,
    file: options.File = STANDARD,
    k: Annotated[int, typer.Option("-k", min=1, help="How many labels a row.")] = 5,
    format: Format = None,
    out: Out = STANDARD,
    sets: Sets = False,
    proba: Proba = False,
    allow: Allow = None,
    deny: Deny = None,
    jobs: options.Jobs = None,
    on: On = None,
    url: options.Url = None,
    token_file: options.TokenFile = None,
    *,
    reading: options.Reading,
) -> None:
    """Print the best labels of each row, in the order of the rows.

    A model of texts also reads plain lines, a text each, and answers as they come,
    unless the first is the header of a table that has the columns of the text.
    Labels that have no names are called by their columns. Rows are numbered from 0. In
    tsv, a backslash in a name is doubled, and control characters, direction marks and
    letters that the output's encoding lacks are spelt as in Python; jsonl is UTF-8.
    Rows of features may also come as Parquet or JSON lines with columns 'indices' and
    'values', or a column for each feature, and FILE may be a folder of such files. A
    model with a vocabulary also tells the names of labels. With --on, workers of a
    cluster read FILE, Parquet or JSON lines, by its path and write to OUT.

    Example: manylabel predict debtags/ new.jsonl -k 3 | head
    """
    format = _choose_format(format, out, on)
    ask: dict[str, Any] = {"k": None if sets else k, "proba": proba}
    ask |= {"allow": _names(allow, "--allow"), "deny": _names(deny, "--deny")}
    if on is not None:
        if url is not None:
            raise ValueError("--on must come without --url.")
        ask |= {**_columns(reading), "n_jobs": jobs or 1}
        return predict_on(on, model, file, out, ask)
    if url is not None:
        data = DataFile(file, reading, labelled=False)
        found = _ask(url, token_file, model, data, format, ask)
        return _write(out, format, HEADERS[format], found, None, _mark(data, format))
    if format == "parquet" and out == STANDARD:
        raise ValueError("--output must name a file for --format parquet. Got '-'.")
    if file == STANDARD and sys.stdin.isatty():
        note(TYPED)
    with starting():
        from manylabel.distributed import predict_batches

        predictor = predict_batches(model, **ask, n_jobs=jobs)
        textual = predictor.tagger.reads_texts_
        data = DataFile(file, reading, labelled=False, textual=textual)
        data = data.as_fitted(predictor.tagger)
        predictor = replace(predictor, **_columns(data.reading))
        header, answers = _begin(predictor, data, format, out, ask)
        first = list(islice(answers, 1))  # refuse before anything is printed
    answers = chain(first, answers)
    if format == "parquet":
        write_table(out, format, header, answers)
    else:
        vocabulary = predictor.tagger.vocabulary
        _write(out, format, header, answers, vocabulary, _mark(data, format))


def _columns(reading: options.Reading) -> dict[str, Any]:
    """Return which columns of a batch are read, and which is copied to the answer."""
    texts, identity = (
        reading.options()[name] for name in ("text_columns", "id_column")
    )
    return {"columns": texts and tuple(texts), "keep": identity and (identity,)}


def _mark(data: DataFile, format: str) -> str:
    """Return what separates cells of the output: what does so in the input."""
    return data.delimiter() if format == "csv" else ","


def _choose_format(format: str | None, out: Path, on: str | None) -> str:
    """Return the format asked for, or that of a suffix; clusters write Parquet."""
    if out.suffix in WORKBOOKS:
        raise ValueError(
            f"--output must end with .csv for a spreadsheet. Got {str(out)!r}."
        )
    if format is None:
        format = "parquet" if on is not None else SUFFIXES.get(out.suffix, "tsv")
    if on is not None and format != "parquet":
        raise ValueError(f"--format must be parquet with --on. Got {format!r}.")
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise ValueError(f"--format must be one of {known}. Got {format!r}.")
    return format


def _begin(
    predictor: "BatchPredictor",
    data: DataFile,
    format: str,
    out: Path,
    ask: dict[str, Any],
) -> tuple[list[str], Iterator[Any]]:
    """Return the first lines of the output, and answers to come."""
    data.check_there("texts come by a pipe: echo TEXT | manylabel predict MODEL")
    tagger, quiet = predictor.tagger, out == STANDARD
    if is_for_batches(predictor, data, format):
        batches = track(
            find_answers(predictor, data, format), "Predicting", quiet=quiet
        )
        return _named(HEADERS.get(format, []), tagger), rows_of(batches, format)
    header = _header(format, tagger, data)
    chunks = track(data.chunks_for(tagger), "Predicting", quiet=quiet)
    return header, (_answer(format, tagger, chunk, ask) for chunk in chunks)


def _ask(
    url: str,
    token_file: Path | None,
    model: Path,
    data: DataFile,
    format: str,
    ask: dict[str, Any],
) -> Iterator[list[Answer]]:
    """Return the labels of rows with their scores, as a service finds them."""
    from manylabel.cli.remote import tag_remotely

    if format not in HEADERS:
        raise ValueError("--url must come without --format xc or parquet.")
    found = tag_remotely(url, token_file, str(model), data, ask)
    first = list(islice(found, 1))  # refuse before anything is printed
    return ([Answer(*row) for row in rows] for rows in chain(first, found))


def _write(
    out: Path,
    format: str,
    header: list[str],
    answers: Iterable[list[Answer]],
    vocabulary: "Vocabulary | None" = None,
    delimiter: str = ",",
) -> None:
    n_rows = 0
    with output(out, as_file=format == "jsonl") as text:
        if format == "csv" and out != STANDARD:
            from manylabel.data.text_files import MARK

            text.write(MARK)
        text.writelines(f"{line.replace(',', delimiter)}\n" for line in header)
        for rows in answers:
            for answer in rows:
                lines = _lines(format, n_rows, answer, vocabulary, delimiter)
                text.writelines(f"{line}\n" for line in lines)
                n_rows += 1
            text.flush()


def _answer(
    format: str, tagger: "Tagger", chunk: "Dataset", ask: dict[str, Any]
) -> list[Answer]:
    """Return the labels of each row with their scores: names, in xc columns."""
    if format != "xc":
        rows = tagger.tag_many(chunk, **ask)
        nothing = [""] * len(rows)
        about = chunk.ids or nothing, chunk.texts or nothing
        return [Answer(*each) for each in zip(rows, *about, strict=True)]
    best = tagger.predict_topk(chunk, **ask)
    best.sort_indices()
    pairs = list(zip(best.indices.tolist(), best.data.tolist(), strict=True))
    bounds = pairwise(best.indptr.tolist())
    return [Answer(pairs[start:stop]) for start, stop in bounds]


def _names(file: Path | None, option: str) -> list[str] | None:
    """Return the lines of a file of names."""
    if file is None:
        return None
    names = file.read_text(encoding="utf-8").splitlines()
    if not any(names):
        raise ValueError(f"{option} must name at least one label. {file} has none.")
    return [name for name in names if name]


def _header(format: str, tagger: "Tagger", data: DataFile) -> list[str]:
    if format == "xc":
        return [f"{data.count_rows()} {len(tagger.label_names_)}"]
    return _named(HEADERS[format], tagger)


def _named(header: list[str], tagger: "Tagger") -> list[str]:
    """Return a header that has a column of names if labels have them."""
    if tagger.vocabulary is None:
        return header
    return [line + (",names" if "," in line else "\tname") for line in header]


def _lines(
    format: str,
    number: int,
    answer: Answer,
    vocabulary: "Vocabulary | None",
    delimiter: str,
) -> Iterator[str]:
    from manylabel.data.separators import join_labels
    from manylabel.data.text_files import join_cells

    scores = [f"{score:.6g}" for _, score in answer.best]
    labels = [label for label, _ in answer.best]
    if format == "xc":
        yield " ".join(
            f"{label}:{score}" for label, score in zip(labels, scores, strict=True)
        )
    elif format == "tsv":
        for label, score in zip(labels, scores, strict=True):
            named = "" if vocabulary is None else f"\t{_name(vocabulary, label)}"
            yield f"{number}\t{escape_cell(label)}\t{score}{named}"
    elif format == "csv":
        joined = [join_labels(labels, "|"), "|".join(scores)]
        if vocabulary is not None:
            joined.append(join_labels([vocabulary.name(each) for each in labels], "|"))
        cells = (str(number), answer.id, answer.text, *joined)
        yield join_cells(cells, delimiter)
    else:
        found: dict[str, Any] = {"row": number}
        if answer.id:
            found["id"] = answer.id
        found |= {"labels": labels, "scores": [float(score) for score in scores]}
        if vocabulary is not None:
            found["names"] = [vocabulary.name(label) for label in labels]
        yield json_text(found)


def _name(vocabulary: "Vocabulary", label: str) -> str:
    return escape_cell(vocabulary.name(label))
