"""``manylabel bench``: the peers beside us, measured in the same run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manylabel.cli import options
from manylabel.cli.console import note, print_json, say

if TYPE_CHECKING:
    from manylabel.experiments.contest.contest import Bout, Contest
    from manylabel.experiments.contest.peers import Peer, Programme
    from manylabel.experiments.contest.ratios import Result

OURS = "manylabel"
REMARKS = "remarks.md"  # beside peers.toml: what is known of where we lose
Peers = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PEER]...",
        help="Names of benchmarks/peers.toml, as omikuji; all if none is given. Ours "
        "take part always.",
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
        help="Where benchmarks.md goes, and beside it the plots and bench.jsonl.",
    ),
]
Cache = Annotated[
    Path,
    typer.Option(metavar="DIR", help="Where peers are installed, and rows converted."),
]
Growth = Annotated[
    bool,
    typer.Option(
        "--growth",
        help="Measure also how our cost grows with rows, features and labels, which "
        "takes hours.",
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="A short form, of one small set.")]


def bench(
    peers: Peers = None,
    *,
    data: options.DataFolder,
    sets: Sets = None,
    repeats: Repeats = None,
    limit: Limit = 10,
    out: Out = Path("bench"),
    cache: Cache = Path("~/.cache/manylabel"),
    growth: Growth = False,
    quick: Quick = False,
    json: options.Json = False,
) -> None:
    """Install peers, run them and us in turn on the same rows, and print the ratios.

    A finished run is a line of bench/bench.jsonl and is never repeated until the code
    that it ran changes: stop when you like and go on with the same command. A peer that
    cannot be installed, fails or takes too long is reported with the reason. This needs
    a clone of the repository, and a connection to install from.

    Example: manylabel bench omikuji libpecos --sets bibtex --data ~/data
    """
    from manylabel.evaluation.plots import check_matplotlib
    from manylabel.experiments.catalogue import Catalogue
    from manylabel.experiments.contest.contest import Contest, plan
    from manylabel.experiments.contest.page import Contents
    from manylabel.experiments.contest.peers import HOME, read_programme
    from manylabel.experiments.contest.publishing import publish
    from manylabel.experiments.ledger import Ledger

    check_matplotlib()
    programme = read_programme(HOME)
    taking_part = _chosen(programme, peers or [])
    options.check_data_folder(data)
    catalogue = Catalogue(data)
    wanted = _wanted(programme, sets, repeats, quick=quick)
    missing = {name: catalogue[name] for name in wanted if catalogue[name].missing}
    lost = {
        name: f"no {' and '.join(source.missing)}; see {source.publisher}"
        for name, source in missing.items()
    }
    for name, why in lost.items():
        note(f"note: {name} is skipped: {why}.")
    contest = Contest(
        Ledger(out / "bench.jsonl"), catalogue, cache.expanduser(), 60 * limit
    )
    bouts = plan(taking_part, {n: r for n, r in wanted.items() if n not in lost})
    contest.run(bouts, _tell)
    results = _results(contest, bouts)
    if json:
        print_json(_figures(results))
    else:
        _show(results)
    command = _command(peers or [], sets, repeats, growth=growth, quick=quick)
    more = [*_remarks(HOME), *_growth(out, growth, quick=quick)]
    contents = Contents(command, results, taking_part, lost, more)
    note(f"note: wrote {publish(contents, out, ours=OURS)}.")


def _chosen(programme: "Programme", names: Sequence[str]) -> "list[Peer]":
    for name in names:
        if name not in programme.peers:
            known = ", ".join(programme.peers)
            raise ValueError(f"PEER must be one of {known}. Got {name!r}.")
    return [
        peer
        for name, peer in programme.peers.items()
        if not names or name in (OURS, *names)
    ]


def _wanted(
    programme: "Programme", names: str | None, repeats: int | None, *, quick: bool
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


def _command(
    peers: Sequence[str],
    sets: str | None,
    repeats: int | None,
    *,
    growth: bool,
    quick: bool,
) -> str:
    """Return what to type for the same page, wherever the data are."""
    parts = ["manylabel bench", *peers]
    parts += [f"--sets {sets}"] if sets else []
    parts += [f"--repeats {repeats}"] if repeats else []
    parts += ["--growth"] if growth else []
    parts += ["--quick"] if quick else []
    return " ".join([*parts, "--data DATA"])


def _remarks(home: Path) -> list[str]:
    path = home / REMARKS
    return [path.read_text(encoding="utf-8")] if path.exists() else []


def _growth(out: Path, measured: bool, *, quick: bool) -> list[str]:
    """Return the section about growth, if any was measured now or before."""
    from manylabel.experiments.contest.publishing import publish_growth
    from manylabel.experiments.growth import measure
    from manylabel.experiments.ledger import Ledger

    path = out / "growth.jsonl"
    if measured:
        measure(path, quick=quick, tell=note)
    return (
        [publish_growth(list(Ledger(path).records.values()), out)]
        if path.exists()
        else []
    )


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


def _results(contest: "Contest", bouts: "list[Bout]") -> "dict[str, list[Result]]":
    from manylabel.experiments.contest.ratios import gather

    return gather(bouts, contest.ledger.records, contest.failures)


def _figures(results: "Mapping[str, list[Result]]") -> list[dict[str, Any]]:
    from manylabel.experiments.contest.ratios import compare, figures

    return [
        figures(each, compare(group).get(each.name, {}))
        for group in results.values()
        for each in group
    ]


def _show(results: "Mapping[str, list[Result]]") -> None:
    from manylabel.experiments.contest.ratios import write_table

    for data, group in results.items():
        say(f"{data}\n\n{write_table(group)}\n")
