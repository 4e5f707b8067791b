"""``manylabel describe``: what a data file holds."""

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options
from manylabel.cli.console import cell, note, print_json, print_table, track
from manylabel.cli.inputs import DataFile


@options.reads()
def describe(
    file: options.File,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Draw how labels are spread to a .png, .pdf or .svg file.",
        ),
    ] = None,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Show sizes, labels per row, and how often labels and sets of labels occur.

    Example: manylabel describe train.txt.gz --plot labels.png
    """
    from manylabel.evaluation.plots import plot_profile
    from manylabel.evaluation.profile import Profile

    data = DataFile(file, reading)
    profile = Profile(track(data.chunks(), "Reading"))
    figures = profile.figures()
    if plot is not None:
        plot_profile(profile, plot, title=file.name)
        note(f"note: wrote {plot}.")
    if json:
        print_json({"file": str(file)} | figures)
    else:
        rows = ((name.replace("_", " "), cell(v)) for name, v in figures.items())
        print_table(["", "value"], rows, title=str(file))
