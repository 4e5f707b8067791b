"""Look at every page of site/ in Chromium: served and from disk, wide and narrow.

python scripts/check_pages.py [--site site/] [--pictures FOLDER] fails, with a line for
each fault, on a link that leads nowhere, a picture that is not shown, an error in the
console, a page wider than the screen, and a search that finds nothing. `make docs`
makes the pages. Without Chromium it says so and does nothing.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urldefrag

from playwright.sync_api import Page, Request, sync_playwright

WIDTHS = {"wide": 1280, "narrow": 390}
HEIGHT = 900
SOUGHT = "propensity"
BROKEN_OFF = "net::ERR_ABORTED"
NOT_FROM_DISK = "404.html"  # a server sends it for any path, so its links are absolute
FACTS = """() => ({
  links: [...document.querySelectorAll("a[href]")].map((a) => a.href),
  ids: [...document.querySelectorAll("[id], a[name]")].map((it) => it.id || it.name),
  unseen: [...document.images].filter((it) => !it.complete || !it.naturalWidth)
    .map((it) => it.src),
})"""
LOADED = """() => Promise.all([...document.images].map((image) => {
  image.loading = "eager";
  return image.complete || new Promise((done) => {
    image.onload = image.onerror = done;
  });
}))"""
TOO_WIDE = """() => {
  const root = document.documentElement;
  return Math.max(root.scrollWidth, document.body.scrollWidth) - root.clientWidth;
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Watch:
    """The faults of pages, as they are looked at."""

    def __init__(self, page: Page, base: str) -> None:
        self.page, self.base = page, base
        self.faults: list[str] = []
        self.links: dict[str, set[str]] = {}
        self.ids: dict[str, set[str]] = {}
        self.here = ""
        page.on("console", lambda it: it.type == "error" and self.tell(it.text))
        page.on("pageerror", lambda error: self.tell(str(error)))
        page.on("requestfailed", self.miss)

    def miss(self, request: Request) -> None:
        """Note what is not there; what the next page broke off may well be."""
        if request.failure != BROKEN_OFF:
            self.tell(f"{request.url} is not loaded")

    def tell(self, what: str) -> None:
        """Note a fault of the page that is open."""
        self.faults.append(f"{self.base}{self.here}: {what}")

    def look(self, name: str, pictures: Path | None) -> None:
        """Open a page, note what is wrong with it and where its links lead."""
        self.here = name
        self.page.set_viewport_size({"width": WIDTHS["wide"], "height": HEIGHT})
        self.page.goto(self.base + name)
        self.page.evaluate(LOADED)
        facts = self.page.evaluate(FACTS)
        for source in facts["unseen"]:
            self.tell(f"the picture {source} is not shown")
        self.links[name], self.ids[name] = set(facts["links"]), set(facts["ids"])
        for kind, width in WIDTHS.items():
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
            if (over := self.page.evaluate(TOO_WIDE)) > 0:
                self.tell(f"{over} pixels wider than a screen of {width}")
            if pictures is not None:
                shot = f"{name.removesuffix('.html').replace('/', '-')}-{kind}.png"
                self.page.screenshot(path=pictures / shot)

    def follow(self) -> None:
        """Note the links that lead nowhere; those to other places are not followed."""
        for name, links in self.links.items():
            self.here = name
            for link in sorted(links):
                place, part = urldefrag(link)
                if not place.startswith(self.base):
                    continue
                target = unquote(place[len(self.base) :]).partition("?")[0]
                target = target or "index.html"
                if target not in self.ids:
                    self.tell(f"the link {link} leads nowhere")
                elif part and unquote(part) not in self.ids[target]:
                    self.tell(f"the link {link} names no part of the page")

    def search(self) -> None:
        """Note a search that finds nothing."""
        self.here = "index.html"
        self.page.set_viewport_size({"width": WIDTHS["wide"], "height": HEIGHT})
        self.page.goto(self.base + self.here)
        self.page.fill("[data-md-component=search-query]", SOUGHT)
        try:
            self.page.wait_for_selector(".md-search-result__link", timeout=20_000)
        except Exception:
            self.tell(f"the search for {SOUGHT} finds nothing")


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve the files of a folder; yield where."""
    handler = partial(Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def find_faults(site: Path, pictures: Path | None) -> Iterator[str]:
    """Yield the faults of all pages, served and from disk."""
    names = sorted(str(it.relative_to(site)) for it in site.rglob("*.html"))
    with sync_playwright() as playwright, serve(site) as address:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        served = Watch(browser.new_page(), address)
        for name in names:
            served.look(name, pictures)
        disk = Watch(browser.new_page(), f"{site.as_uri()}/")
        for name in names:
            if name != NOT_FROM_DISK:
                disk.look(name, None)
        for watch in (served, disk):
            watch.follow()
            watch.search()
            yield from watch.faults
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Look at every page in Chromium.")
    parser.add_argument("--site", type=Path, default=Path("site"))
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of them")
    options = parser.parse_args()
    if shutil.which("chromium") is None:
        sys.exit(print("Chromium is not there: the pages are not looked at."))
    if options.pictures is not None:
        options.pictures.mkdir(parents=True, exist_ok=True)
    found = list(find_faults(options.site.resolve(), options.pictures))
    sys.exit("\n".join(found) or None)
