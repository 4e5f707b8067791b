"""``manylabel token``: who may do what with a service."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manylabel.cli.console import note, print_table, say
from manylabel.cli.help import Verb, Verbs

if TYPE_CHECKING:
    from manylabel.server.security import Tokens

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Whose it is; the log keeps the name.")
]
Models = Annotated[
    Path, typer.Option(metavar="MODELS", help="The folder that is served.")
]
MODELS = Path("models")
token = typer.Typer(
    cls=Verbs,
    subcommand_metavar="VERB",
    help="Add, remove or list the tokens of a service.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@token.command("add", cls=Verb)
def add_token(
    name: Name,
    models: Models = MODELS,
    scope: Annotated[
        str,
        typer.Option(metavar="SCOPE,SCOPE,...", help="Of read, feedback and admin."),
    ] = "read",
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this model; may be given again."),
    ] = None,
) -> None:
    """Add a token and print it, this once.

    A running server takes it within seconds. With the first token a server is no longer
    open.

    Example: manylabel token add ann --scope read,feedback --model shop
    """
    scopes = [part.strip() for part in scope.split(",")]
    say(_tokens(models).add(name, scopes=scopes, models=model or []))
    note("Keep it: only its hash is stored, so it is not shown again.")
    for missing in _missing(models, model or []):
        note(f"note: there is no model {missing!r} in {models} now.")


@token.command("remove", cls=Verb)
def remove_token(name: Name, models: Models = MODELS) -> None:
    """Remove a token; a running server refuses it within seconds.

    Example: manylabel token remove ann
    """
    _tokens(models).remove(name)


@token.command("list", cls=Verb)
def list_tokens(models: Models = MODELS) -> None:
    """List the tokens, with what they are for.

    Example: manylabel token list --models models/
    """
    rows = [
        [
            each.name,
            ", ".join(each.scopes),
            ", ".join(each.models) or "all",
            each.created,
        ]
        for each in _tokens(models).all()
    ]
    print_table(["name", "scopes", "models", "created"], rows, title="Tokens")


def _missing(models: Path, names: list[str]) -> list[str]:
    """Return the names that no model of a folder has."""
    from manylabel.server.store import Store

    known = Store(models).names()
    return [name for name in names if name not in known]


def _tokens(models: Path) -> "Tokens":
    from manylabel.server.security import Tokens
    from manylabel.server.store import SERVE

    if not models.is_dir():
        raise ValueError(f"--models must be a folder. Got {str(models)!r}.")
    return Tokens(models / SERVE)
