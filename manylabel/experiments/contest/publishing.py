"""Writes the page and the plots of a contest to a folder."""

from collections.abc import Sequence
from pathlib import Path

from manylabel.data.writing import replacing_text
from manylabel.experiments import growth_page
from manylabel.experiments.contest.page import Contents, tell_runs, write_page
from manylabel.experiments.contest.plots import draw
from manylabel.experiments.ledger import Record


def publish(contents: Contents, out: Path, *, ours: str) -> Path:
    """Write ``benchmarks.md`` and a plot for each data set; return the page.

    Parameters
    ----------
    contents : Contents
        What is on the page.
    out : Path
        The folder; made if it is not there.
    ours : str
        The peer whose points are filled.
    """
    out.mkdir(parents=True, exist_ok=True)
    pictures = {
        data: f"bench-{data}.png"
        for data, group in contents.results.items()
        if any(each.runs for each in group)
    }
    for data, name in pictures.items():
        draw(contents.results[data], out / name, ours=ours)
    page = out / "benchmarks.md"
    with replacing_text(page) as text:
        text.write(write_page(contents, pictures))
    return page


def publish_growth(lines: Sequence[Record], out: Path) -> str:
    """Draw how cost grows; return the section about it, which shows the plots."""
    out.mkdir(parents=True, exist_ok=True)
    drawn = growth_page.draw(lines, out)
    pictures = [f"![{path.stem.replace('-', ' with ')}]({path.name})" for path in drawn]
    return "\n\n".join([growth_page.report(lines), tell_runs(lines), *pictures])
