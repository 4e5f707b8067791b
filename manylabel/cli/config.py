"""``--config``: the options of a whole run in one file, a table for each verb."""

import inspect
import tomllib
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from manylabel.cli.options import taking
from manylabel.exceptions import DataError


def configurable(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the option ``--config``."""

    @wraps(verb)
    def configured(config: Path | None, **given: Any) -> None:
        verb(**given)

    option = inspect.Parameter(
        "config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Config
    )
    return taking(configured, [*inspect.signature(verb).parameters.values(), option])


def _use(context: typer.Context, path: Path | None) -> Path | None:
    """Take from the file what the command line does not give."""
    if path is not None and not context.resilient_parsing:
        context.default_map = _defaults(context, path)
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        is_eager=True,
        callback=_use,
        help="A TOML file with a table for each verb, as [fit]; what is given on the "
        "command line wins.",
    ),
]


def _defaults(context: typer.Context, path: Path) -> dict[str, Any]:
    """Return the values of this verb's table by the names of its parameters."""
    tables = _tables(path)
    group: Any = context.find_root().command
    verbs = group.commands
    for name, table in tables.items():
        if name not in verbs or not isinstance(table, dict):
            raise DataError(
                path,
                f"expected a table for one of {', '.join(verbs)}, found {name!r}.",
            )
    verb = context.command.name or ""
    keys = {_key(each): each for each in context.command.params if _is_known(each)}
    table = tables.get(verb, {})
    found = {name.replace("-", "_"): value for name, value in table.items()}
    for key in found:
        if key not in keys:
            known = ", ".join(keys)
            raise DataError(path, f"expected in [{verb}] {known}, found {key!r}.")
    return {
        keys[key].name: _value(path, verb, key, keys[key], value)
        for key, value in found.items()
    }


def _tables(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(path, f"expected TOML: {error}.") from None


def _is_known(parameter: Any) -> bool:
    return parameter.name not in ("help", "config")


def _key(parameter: Any) -> str:
    """Return the name that people see: the longest of an option's, or an argument's."""
    name: str = max(parameter.opts, key=len)
    return name.lstrip("-").replace("-", "_")


def _value(path: Path, verb: str, key: str, parameter: Any, value: Any) -> Any:
    """Return a value as the command line would have given it."""
    several = getattr(parameter, "multiple", False) or parameter.nargs == -1
    if isinstance(value, dict):
        if not several or key != "set":
            raise DataError(path, f"expected a value for {key!r} in [{verb}].")
        return [f"{name}={each}" for name, each in value.items()]
    if several:
        return value if isinstance(value, list) else [value]
    return ",".join(map(str, value)) if isinstance(value, list) else value
