"""``manylabel split``: rows to learn and rows to judge by."""

from math import isnan
from pathlib import Path
from typing import Annotated

import typer

from manylabel._plural import counted
from manylabel.cli import options
from manylabel.cli.console import print_json, say
from manylabel.cli.convert import told_format
from manylabel.cli.inputs import DataFile

Train = Annotated[
    Path, typer.Argument(metavar="TRAIN", help="Where the rows to learn are written.")
]
Test = Annotated[
    Path, typer.Argument(metavar="TEST", help="Where those to judge by are written.")
]
Size = Annotated[
    float, typer.Option(help="Share of the rows to judge by, between 0 and 1.")
]


@options.reads()
def split(
    file: options.File,
    train: Train,
    test: Test,
    test_size: Size = 0.2,
    seed: options.Seed = 0,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Split a data file so that every label has its share on both sides.

    Rare labels come first, so that labels of two rows or more are on both sides, as far
    as rows are alike there. The formats are told by the suffixes, and tables are
    written, as by convert.

    Example: manylabel split items.csv train.csv test.csv --test-size 0.2
    """
    from manylabel.data import write
    from manylabel.data.writing import TABLES
    from manylabel.model_selection import stratified_split

    for out in (train, test):
        told_format(out, None, "TRAIN and TEST")
    if train.resolve() == test.resolve():
        raise ValueError(f"TRAIN and TEST must be two files. Got {train} twice.")
    data = DataFile(file, reading).read()
    found = stratified_split(data.Y, test_size=test_size, random_state=seed)
    for out, rows in ((train, found.train), (test, found.test)):
        mark = reading.label_separator if told_format(out, None) in TABLES else None
        write(data[rows], out, label_separator=mark)
    figures = {
        "train": len(found.train),
        "test": len(found.test),
        "labels_on_both_sides": found.n_both,
        "labels_of_two_rows_or_more": found.n_possible,
        "rare_labels_on_both_sides": found.n_rare_both,
        "labels_of_two_to_nine_rows": found.n_rare,
        "deviation": None if isnan(found.deviation) else found.deviation,
    }
    if json:
        print_json({"file": str(file)} | figures)
        return
    n_train, n_test = counted(len(found.train), "row"), counted(len(found.test), "row")
    say(f"{train}: {n_train}; {test}: {n_test}.")
    say(f"Both have {found.n_both:,} of {found.n_possible:,} labels of several rows.")
    if found.n_rare:
        say(
            f"Of {found.n_rare:,} rare labels, of two to nine rows, both have "
            f"{found.n_rare_both:,}."
        )
    if figures["deviation"] is not None:
        say(
            f"Labels of ten rows or more are {100 * found.deviation:.1f} points off "
            f"their share of {100 * test_size:g} % on average."
        )
