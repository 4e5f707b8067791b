"""Writes the page and the plots of a contest to a folder."""

from pathlib import Path

from benchmarks.peers.plots import draw
from benchmarks.peers.report import Contents, write_page
from manylabel.data.writing import replacing_text


def publish(contents: Contents, out: Path, *, ours: str) -> Path:
    """Write ``peers.md`` and a plot for each data set; return the page.

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
        data: f"peers-{data}.png"
        for data, group in contents.results.items()
        if any(each.runs for each in group)
    }
    for data, name in pictures.items():
        draw(contents.results[data], out / name, ours=ours)
    page = out / "peers.md"
    with replacing_text(page) as text:
        text.write(write_page(contents, pictures))
    return page
