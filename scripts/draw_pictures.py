"""Draw the pictures of docs/ that its own examples make.

python scripts/draw_pictures.py runs the Python of pages and keeps what it shows:
docs/how-to/reliability.svg, and docs/how-to/tree-page.png, which needs Chromium.
"""

import contextlib
import io
import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from manylabel.evaluation import charts, html_page

HOW_TO = Path(__file__).parents[1] / "docs" / "how-to"
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
SIZE = {"width": 900, "height": 760}


def run(page, until="the end of it"):
    """Run the Python of a page, or of its first part; return its names."""
    names, text = {}, (HOW_TO / page).read_text(encoding="utf-8")
    with contextlib.redirect_stdout(io.StringIO()):
        for code in CODE.findall(text.partition(until)[0]):
            exec(compile(code, page, "exec"), names)
    return names


def draw_reliability():
    """Draw the diagram of the example of evaluate.md."""
    report = run("evaluate.md", "## A page to read")["report"]
    picture = "".join(charts.draw_reliability(report.reliability["ECE@3"], "recorded"))
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="420" '
    style = html_page.COLOURS + charts.STYLE
    picture = picture.replace("<svg ", head, 1)
    picture = picture.replace("</title>", f"</title><style>{style}</style>", 1)
    (HOW_TO / "reliability.svg").write_text(picture, encoding="utf-8")


def draw_tree_page():
    """Take a picture of the page that the example of read-a-tree.md writes."""
    run("read-a-tree.md")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SIZE)
        page.goto(Path("tree.html").absolute().as_uri())
        page.screenshot(path=HOW_TO / "tree-page.png")
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        draw_reliability()
        draw_tree_page()
