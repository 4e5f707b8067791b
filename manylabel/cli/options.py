"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A data file, gzipped or not; - for stdin."),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model's folder.")]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help="xc, svmlight, arff, meka, jsonl or parquet; told by the content if not "
        "given.",
    ),
]
LabelNames = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Names of the labels, one a line (xc, svmlight, jsonl, parquet), or the "
        "XML file that tells the labels (arff).",
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Whether the features of an svmlight file count from 0 or from 1; told "
        "by whether a 0 occurs if not given.",
        show_default=False,
    ),
]
SkipBadLines = Annotated[
    bool,
    typer.Option(
        "--skip-bad-lines", help="Leave out lines that cannot be read, and count them."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
