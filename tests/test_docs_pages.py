"""What scripts/check_pages.py finds on pages that are broken on purpose."""

import runpy
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = """<!DOCTYPE html><html><head><meta name="viewport" content="width=device-width">
<title>A page</title><link rel="icon" href="data:,"></head><body>{}
<input data-md-component="search-query"><a class="md-search-result__link">found</a>
</body></html>"""
FAULTS = {
    '<a href="nowhere.html">there</a>': "leads nowhere",
    '<a href="index.html#part">there</a>': "names no part",
    '<img src="data:image/png;base64,AAAA">': "is not shown",
    '<script>console.error("a word of fear")</script>': "a word of fear",
    "<script>missing()</script>": "missing is not defined",
    '<p style="width: 900px">wide</p>': "wider than a screen of 390",
    '<script src="gone.js"></script>': "gone.js is not loaded",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is missing"),
]


@pytest.fixture(scope="module")
def find_faults():
    return runpy.run_path(str(ROOT / "scripts" / "check_pages.py"))["find_faults"]


def test_each_fault_is_told_once_served_and_once_from_disk(find_faults, tmp_path):
    (tmp_path / "index.html").write_text(PAGE.format('<a href="page-0.html">first</a>'))
    for number, fault in enumerate(FAULTS):
        (tmp_path / f"page-{number}.html").write_text(PAGE.format(fault))
    found = list(find_faults(tmp_path, None))
    for number, message in enumerate(FAULTS.values()):
        told = [it for it in found if f"page-{number}.html: " in it]
        assert any(it.startswith("http://") for it in told), message
        assert any(it.startswith("file://") for it in told), message
        assert all(message in it or "404" in it or "ERR_" in it for it in told), told
    assert not [it for it in found if "index.html: " in it]
