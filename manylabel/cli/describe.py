"""``manylabel describe``: what a data file or a model holds."""

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options
from manylabel.cli.console import cell, note, print_json, print_table, say, track
from manylabel.cli.inputs import DataFile

FileOrModel = Annotated[
    Path,
    typer.Argument(
        metavar="FILE|MODEL",
        help="A data file, gzipped or not, - for stdin, or a folder of shards; or a "
        "model's folder.",
    ),
]


@options.reads()
def describe(
    file: FileOrModel,
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
    """Show what a data file holds, or, of a model's folder, its model card.

    Of a file: sizes, labels per row, and how often labels and sets of labels occur. Of
    a model: its learner, its labels, what it was fitted on, and its figures.

    Example: manylabel describe train.txt.gz --plot labels.png
    """
    data = DataFile(file, reading)
    if file.is_dir() and not data.is_sharded:
        _show_card(file, json)
        return
    from manylabel.evaluation.plots import plot_profile
    from manylabel.evaluation.profile import Profile

    profile = Profile(track(data.chunks(), "Reading"))
    if not profile.n_rows:
        note(f"note: {file}: there are no rows, so all figures of labels are 0.")
    figures = profile.figures()
    if plot is not None:
        plot_profile(profile, plot, title=file.name)
        note(f"note: wrote {plot}.")
    if json:
        print_json({"file": str(file)} | figures)
    else:
        rows = ((name.replace("_", " "), cell(v)) for name, v in figures.items())
        print_table(["", ""], rows, title=str(file))


def _show_card(model: Path, json: bool) -> None:
    from manylabel.text import Tagger

    card = Tagger.load(model).card()
    print_json({"model": str(model)} | dict(card)) if json else say(str(card))
