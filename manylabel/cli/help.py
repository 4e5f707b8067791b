"""How ``--help`` is laid out: whole sentences, plain names, one section per subject."""

import re
from typing import Any

from typer.core import TyperCommand, TyperGroup

from manylabel.cli.options import Reading
from manylabel.cli.outputs import check_outputs

# What stands for a value that has no name of its own.
KINDS = {"int": "N", "float": "NUMBER", "str": "TEXT"}
TYPE = re.compile(r"<(\w+)[^>]*>(?=$|[ .])")
BOUND = re.compile(r"\bx[<>]")
ALWAYS = ("config", "help")


class Verb(TyperCommand):
    """A verb whose options of reading files stand apart from its own.

    What it is to write is checked before it begins.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the verb if it can write, and destroys nothing that it reads."""
        check_outputs(self.params, ctx.params)
        return super().invoke(ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return what follows the verb: options, then arguments."""
        pieces = ["[OPTIONS]"]
        for each in self.get_params(ctx):
            if each.param_type_name == "argument":
                name = _name(each)
                pieces.append(name if each.required else f"[{name}]")
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, the verb's options, those of reading, and the others."""
        reading = vars(Reading())
        sections: dict[str, list[tuple[str, str]]] = {
            name: [] for name in ("Arguments", "Options", "Reading the file", "Always")
        }
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is None:
                continue
            names, words = record
            if each.param_type_name == "argument":
                words = words.replace("[required]", "").rstrip()
                sections["Arguments"].append((_name(each), words))
                continue
            name = "Reading the file" if each.name in reading else "Options"
            name = "Always" if each.name in ALWAYS else name
            sections[name].append((_with_kind(names), _without_bounds(words)))
        for name, rows in sections.items():
            if rows:
                with formatter.section(name):
                    formatter.write_dl(rows)


class Verbs(TyperGroup):
    """A group that says what each verb does in a whole sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line, or two, for each verb."""
        rows = []
        for name in self.list_commands(ctx):
            verb = self.get_command(ctx, name)
            if verb is not None:
                rows.append((name, (verb.help or "").partition("\n\n")[0]))
        with formatter.section("Verbs"):
            formatter.write_dl(rows)


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _with_kind(names: str) -> str:
    """Name a value by its kind where an option names none."""
    return TYPE.sub(lambda found: KINDS.get(found[1], found[1].upper()), names)


def _without_bounds(words: str) -> str:
    """Leave out bounds of numbers, which a refusal names."""
    head, bracket, tail = words.rpartition("  [")
    kept = [part for part in tail.rstrip("]").split("; ") if not BOUND.search(part)]
    return head + bracket + "; ".join(kept) + "]" if kept and bracket else head or words
