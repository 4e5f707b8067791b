"""What MkDocs does for these pages beside the usual."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.exceptions import PluginError

from manylabel.cli.main import app

HELP = "<!-- help of all verbs -->"
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(?:https?:)?//|"
    r"<link\b[^>]*\bhref=\"?(?:https?:)?//"
)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the help of all verbs where a page asks for it."""
    return markdown.replace(HELP, _help()) if HELP in markdown else markdown


def on_post_page(output: str, page: Any, **_: Any) -> str:
    """Refuse a page that loads anything from elsewhere."""
    if found := LOADED.search(output):
        raise PluginError(f"{page.file.src_path} loads from elsewhere: {found[0]}")
    return output


def _help() -> str:
    group = typer.main.get_command(app)
    top = group.make_context("manylabel", [], resilient_parsing=True)
    return "\n".join(_describe(group, top, "manylabel"))


def _describe(group: Any, above: Any, words: str) -> Iterator[str]:
    """Yield the help of each verb of a group, and of the verbs below it."""
    for name in group.list_commands(above):
        verb = group.get_command(above, name)
        context = verb.make_context(name, [], parent=above, resilient_parsing=True)
        yield f"## {words} {name}\n\n```text\n{verb.get_help(context)}\n```\n"
        if hasattr(verb, "list_commands"):
            yield from _describe(verb, context, f"{words} {name}")
