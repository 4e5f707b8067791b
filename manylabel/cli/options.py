"""Options that several verbs share, and ``--config``: those of a run in one file."""

import inspect
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from manylabel.exceptions import DataError

File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A data file, gzipped or not; - for stdin."),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model's folder.")]
Models = Annotated[
    Path, typer.Argument(metavar="MODELS", help="The folder of model folders.")
]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help="xc, svmlight, arff, meka, jsonl, parquet, csv, tsv or libmultilabel, or "
        "lines, of texts without labels; told by the content, or by the suffix, if not "
        "given.",
    ),
]
LabelNames = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Names of the labels, one a line (xc, svmlight, texts), or the XML file "
        "that tells the labels (arff).",
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Whether the features of an svmlight file count from 0 or from 1; told "
        "by whether a 0 occurs if not given.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="How letters are written: utf-8, utf-16, latin-1, cp1252, ...; told by "
        "the content if not given.",
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column of identifiers; id or uid, if there is one, if not given.",
    ),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--text-column",
        metavar="NAME",
        help="A column of the text; repeatable, or several with commas between. text, "
        "or title with content, description or body, if not given.",
    ),
]
LabelsColumn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="A column of the labels; repeatable, or several with commas between. "
        "labels, tags or target_ind if not given.",
    ),
]
LabelsColumns = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Columns, with commas between, that have a 1 or an x where a row has the "
        "label of that name; all such if there is no column of labels.",
    ),
]


def _unescape(separator: str | None) -> str | None:
    """Return the line end or tab that is meant by letters which shells leave alone."""
    return {r"\n": "\n", r"\t": "\t"}.get(separator or "", separator)


LabelSeparator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help=r"What separates labels in a column, as ';', '\n' or '\t'; a line end, a "
        "tab, |, ; or comma, told by the content, if not given.",
        callback=_unescape,
    ),
]
SkipBadLines = Annotated[
    bool,
    typer.Option(
        "--skip-bad-lines", help="Leave out lines that cannot be read, and count them."
    ),
]
MaxLineBytes = Annotated[
    int | None,
    typer.Option(help="The longest line; 8 MB if not given.", min=1 << 17),
]
Url = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Ask a service, which needs no start and knows corrections; MODEL is then "
        "a name, and lines are texts or JSON objects, but of a table or where a column "
        "is named.",
    ),
]
TokenFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Has the token for the service.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random choices.")]


def _check_jobs(jobs: int | None) -> int | None:
    if jobs == 0:
        raise typer.BadParameter("It must not be 0: -1 takes all cores.")
    return jobs


_JOBS = typer.Option(help="Threads; -1 for all cores.", callback=_check_jobs)
Jobs = Annotated[int | None, _JOBS]
Threads = Annotated[int, _JOBS]


@dataclass(frozen=True)
class Reading:
    """How a data file is to be read, as the options say; see ``data.ReadOptions``."""

    SEVERAL: ClassVar = ("text_columns", "labels_column", "labels_columns")

    from_: From = None  # its format
    encoding: Encoding = None
    label_names: LabelNames = None
    zero_based: ZeroBased = None
    id_column: IdColumn = None
    text_columns: TextColumns = None
    labels_column: LabelsColumn = None
    labels_columns: LabelsColumns = None
    label_separator: LabelSeparator = None
    skip_bad_lines: SkipBadLines = False
    max_line_bytes: MaxLineBytes = None

    def options(self) -> dict[str, Any]:
        """Return what ``manylabel.read`` takes, None for what was not given."""
        given = {"format": self.from_, **vars(self)}
        del given["from_"]
        for name in self.SEVERAL:
            given[name] = given[name] or None
        if isinstance(asked := given["labels_column"], list) and len(asked) == 1:
            given["labels_column"] = asked[0]
        return given


OF_TEXTS = (
    *("id_column", "text_columns"),
    *("labels_column", "labels_columns", "label_separator"),
)


def reads(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb the options of Reading, but for some, as its argument ``reading``."""
    fields = inspect.signature(Reading).parameters.values()
    ours = [field for field in fields if field.name not in left_out]

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        @wraps(verb)
        def reading_verb(**given: Any) -> None:
            reading = Reading(**{field.name: given.pop(field.name) for field in ours})
            verb(**given, reading=reading)

        theirs = inspect.signature(verb).parameters.values()
        parts = [ours if each.name == "reading" else [each] for each in theirs]
        return taking(reading_verb, [each for part in parts for each in part])

    return decorate


def taking(
    verb: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """Return a verb that Typer believes to have these parameters, all by name."""
    named = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    verb.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
    return verb


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
            known = ", ".join(keys).replace("_", "-")  # none is a name in Python
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
