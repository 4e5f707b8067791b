"""``manylabel token``: who may do what with a service."""

from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli.console import note, print_table, say

ACTIONS = ("add", "remove", "list")


def token(
    action: Annotated[
        str, typer.Argument(metavar="ACTION", help="add, remove or list.")
    ],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Whose it is; kept in the log.")
    ] = None,
    models: Annotated[
        Path, typer.Option(metavar="MODELS", help="The folder that is served.")
    ] = Path("models"),
    scope: Annotated[
        str,
        typer.Option(
            metavar="SCOPE,SCOPE,...", help="Of read, feedback and admin, for add."
        ),
    ] = "read",
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this model; may be given again."),
    ] = None,
) -> None:
    """Add a token and print it, this once; remove one; or list them.

    A running server takes a new token, and refuses an old one, within seconds. With the
    first token a server is no longer open.

    Example: manylabel token add ann --scope read,feedback --models models/
    """
    from manylabel.server.plan import SERVE
    from manylabel.server.security import Tokens

    if action not in ACTIONS:
        known = ", ".join(ACTIONS)
        raise ValueError(f"ACTION must be one of {known}. Got {action!r}.")
    if not models.is_dir():
        raise ValueError(f"--models must be a folder. Got {str(models)!r}.")
    tokens = Tokens(models / SERVE)
    if action == "list":
        rows = [
            [t.name, ", ".join(t.scopes), ", ".join(t.models) or "all", t.created]
            for t in tokens.all()
        ]
        print_table(["name", "scopes", "models", "created"], rows, title="Tokens")
        return
    if name is None:
        raise ValueError("NAME must be given.")
    if action == "remove":
        tokens.remove(name)
        return
    scopes = [part.strip() for part in scope.split(",")]
    say(tokens.add(name, scopes=scopes, models=model or []))
    note("Keep it: only its hash is stored, so it is not shown again.")
