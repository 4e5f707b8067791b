"""``python -m benchmarks peers``: the field's programs beside ours, in the same run."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import options, page
from benchmarks.catalogue import Catalogue
from benchmarks.console import note, print_json, say
from benchmarks.ledger import Ledger
from benchmarks.peers import programme
from benchmarks.peers.contest import Contest, plan
from benchmarks.peers.programme import Peer, Programme, read_programme
from benchmarks.peers.ratios import Result, compare, figures, gather, write_table
from benchmarks.peers.report import Contents, write_pages
from benchmarks.plots import check_matplotlib

OURS = "manylabel"
MINUTES = 20  # that a run has
USUAL_PAGE = "peers"
Peers = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PEER]...",
        help="Names of peers.toml, as omikuji; all if none is given. Ours take part "
        "always.",
    ),
]
Entrants = Annotated[
    list[str] | None,
    typer.Option(
        "--entrant",
        metavar="NAME",
        help="A learner of peers.toml, as 'omikuji Bonsai'; may be given several "
        "times. No other takes part, and of ours none that is not named.",
    ),
]
Sets = Annotated[
    str | None,
    typer.Option(metavar="NAME,NAME,...", help="Data sets; all of peers.toml."),
]
Repeats = Annotated[
    int | None, typer.Option(min=1, help="Runs of each; as peers.toml has it.")
]
Limit = Annotated[
    int, typer.Option(min=1, help="Minutes of CPU time after which a run is ended.")
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Where the page goes, and beside it the plots and runs.jsonl.",
    ),
]
Page = Annotated[
    str,
    typer.Option(
        "--page",
        metavar="NAME",
        help="What the page is called. A file NAME.md beside peers.toml has remarks, "
        "which end it.",
    ),
]
Cache = Annotated[
    Path,
    typer.Option(metavar="DIR", help="Where peers are installed, and rows converted."),
]
Quick = Annotated[bool, typer.Option("--quick", help="A short form, of one small set.")]


def peers(
    names: Peers = None,
    *,
    data: options.DataFolder,
    entrant: Entrants = None,
    sets: Sets = None,
    repeats: Repeats = None,
    limit: Limit = MINUTES,
    out: Out = Path("results"),
    cache: Cache = Path("~/.cache/manylabel"),
    page_name: Page = USUAL_PAGE,
    quick: Quick = False,
    publish: options.Publish = False,
    json: options.Json = False,
) -> None:
    """Install peers, run them and us in turn on the same rows, and print the ratios.

    A finished run is a line of results/runs.jsonl and is never repeated until the code
    that it ran changes: stop when you like and go on with the same command. A peer that
    cannot be installed, fails or takes too long is reported with the reason. This needs
    a connection to install from.

    Example: python -m benchmarks peers omikuji libpecos --sets bibtex --data ~/data
    """
    check_matplotlib()
    all_of_them = read_programme(programme.HOME)
    taking_part = _chosen(all_of_them, names or [], entrant or [])
    options.check_data_folder(data)
    options.check_out(out)
    catalogue = Catalogue(data)
    wanted = _wanted(all_of_them, sets, repeats, quick=quick)
    lost = _name_missing(catalogue, wanted)
    contest = Contest(catalogue, cache.expanduser(), 60 * limit)
    bouts = plan(taking_part, {n: r for n, r in wanted.items() if n not in lost})
    ledger = Ledger(out / "runs.jsonl")
    failed = contest.run(bouts, ledger, _tell)
    results = gather(bouts, ledger.records, failed)
    if json:
        print_json(_figures(results))
    else:
        _show(results)
    command = _command(names or [], entrant or [], sets, repeats, limit, quick=quick)
    command += f" --page {page_name}" if page_name != USUAL_PAGE else ""
    remarks = _remarks(programme.HOME / f"{page_name}.md")
    contents = Contents(command, results, taking_part, lost, limit, remarks)
    folder = page.PUBLISHED if publish else out
    written = write_pages(contents, folder / f"{page_name}.md", ours=OURS)
    note(f"note: wrote {written}.")


def _chosen(
    programme: Programme, names: Sequence[str], entrants: Sequence[str]
) -> list[Peer]:
    for name in names:
        if name not in programme.peers:
            known = ", ".join(programme.peers)
            raise ValueError(f"PEER must be one of {known}. Got {name!r}.")
    chosen = [
        peer
        for name, peer in programme.peers.items()
        if not names or name in (OURS, *names)
    ]
    return _pick(chosen, entrants) if entrants else chosen


def _pick(peers: Sequence[Peer], names: Sequence[str]) -> list[Peer]:
    """Return the peers of these entrants, without their others."""
    known = [entrant.name for peer in peers for entrant in peer.entrants]
    for name in names:
        if name not in known:
            listed = ", ".join(map(repr, known))
            raise ValueError(f"--entrant must be one of {listed}. Got {name!r}.")
    picked = (
        replace(peer, entrants=tuple(e for e in peer.entrants if e.name in names))
        for peer in peers
    )
    return [peer for peer in picked if peer.entrants]


def _wanted(
    programme: Programme, names: str | None, repeats: int | None, *, quick: bool
) -> dict[str, int]:
    """Return the data sets, and how often each is run."""
    chosen = programme.quick if quick else programme.sets
    if names is not None:
        for name in names.split(","):
            if name not in programme.sets:
                known = ", ".join(programme.sets)
                raise ValueError(f"--sets must be some of {known}. Got {name!r}.")
        chosen = {name: programme.sets[name] for name in names.split(",")}
    return {name: repeats or count for name, count in chosen.items()}


def _name_missing(catalogue: Catalogue, wanted: Mapping[str, int]) -> dict[str, str]:
    """Say which data sets are not there; return why, by name."""
    missing = {name: catalogue[name] for name in wanted if catalogue[name].missing}
    lost = {
        name: f"no {' and '.join(source.missing)}; see {source.publisher}"
        for name, source in missing.items()
    }
    for name, why in lost.items():
        note(f"note: {name} is skipped: {why}.")
    return lost


def _command(
    peers: Sequence[str],
    entrants: Sequence[str],
    sets: str | None,
    repeats: int | None,
    limit: int,
    *,
    quick: bool,
) -> str:
    """Return what to type for the same page, wherever the data are."""
    parts = ["python -m benchmarks peers", *peers]
    parts += [f"--entrant {shlex.quote(name)}" for name in entrants]
    parts += [f"--sets {sets}"] if sets else []
    parts += [f"--repeats {repeats}"] if repeats else []
    parts += [f"--limit {limit}"] if limit != MINUTES else []
    parts += ["--quick"] if quick else []
    return " ".join([*parts, "--data DATA"])


def _remarks(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _tell(done: int, total: int, record: Mapping[str, Any]) -> None:
    """Say how a run went, as it ends."""
    where = f"{done} of {total}, {record['data']}, {record['entrant']}"
    if "failure" in record:
        note(f"note: {where}: {record['failure']}.")
        return
    values = record["values"]
    note(
        f"{where}: {values['train_cpu']:.1f} s to train, "
        f"P@1 {100 * values['P@1']:.1f}, PSP@5 {100 * values['PSP@5']:.1f}"
    )


def _figures(results: Mapping[str, list[Result]]) -> list[dict[str, Any]]:
    return [
        figures(each, compare(group).get(each.name, {}))
        for group in results.values()
        for each in group
    ]


def _show(results: Mapping[str, list[Result]]) -> None:
    for data, group in results.items():
        say(f"{data}\n\n{write_table(group)}\n")
