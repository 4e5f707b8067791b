"""What was found, as a row of the table in docs/explanation/service.md."""

from collections.abc import Callable
from typing import Any, NamedTuple

Figures = dict[str, Any]


class Promise(NamedTuple):
    """What is promised, and how figures tell what was found of it."""

    words: str
    find: Callable[[Figures], str]


def _replay(found: Figures) -> str:
    rate, by_cpu = found["events_per_second"], found["events_per_cpu_second"]
    what = f"`{found['learner']}`, {found['labels']:,} labels"
    return f"{rate:,} a second, {by_cpu:,} a CPU second, {what}"


def _start(found: Figures) -> str:
    what = f"`{found['learner']}`, {found['labels']:,} labels"
    return f"{found['seconds']:.1f} s until ready, {what}"


def _commits(found: Figures) -> str:
    all_in, disk = found["milliseconds"], found["milliseconds_of_fsync_alone"]
    return (
        f"{all_in['p50']:.1f} ms at p50, {all_in['p99']:.1f} ms at p99, "
        f"{found['processes']} processes; the disk alone takes {disk['p50']:.1f} and "
        f"{disk['p99']:.1f} ms"
    )


def _soak(found: Figures) -> str:
    # The server is the process that has most.
    most = max(found["processes"].values(), key=lambda each: each["mb_at_last"])
    low, high = most["interval"]
    return (
        f"{most['mb_at_first']:.0f} MB at first, {most['mb_at_last']:.0f} at last; "
        f"{most['mb_an_hour']:.0f} MB an hour in the second half, within {low:.0f} to "
        f"{high:.0f}"
    )


def _kills(found: Figures) -> str:
    twice = found["twice_in_the_log"] + found["learnt_twice"] + found["judged_twice"]
    bits = "the same bits" if found["same_bits"] else "OTHER BITS"
    return (
        f"{found['kills']:,} processes killed in {found['seconds']:,.0f} s, "
        f"{found['acknowledged']:,} feedbacks acknowledged: {found['lost']} lost, "
        f"{twice} twice, {found['changed_numbers']} numbers changed, {bits}"
    )


def _load(found: Figures) -> str:
    asked, taught = found["single texts"], found["feedback meanwhile"]
    return (
        f"{asked['per_second']:,} a second, p50 {asked['p50']:.1f} ms, p99 "
        f"{asked['p99']:.1f} ms, {asked['cpu_milliseconds']:.2f} ms of CPU each, all "
        f"in; feedback p99 {taught['p99']:.1f} ms; as fast as they are answered "
        f"{found['all it can']['per_second']:,} a second; in batches "
        f"{found['batches']['per_second']:,} texts a second"
    )


PROMISES = {
    "replay": Promise("replay of 20,000 events a second", _replay),
    "start": Promise("start with a snapshot and 10,000 events in 5 s", _start),
    "commits": Promise("feedback acknowledged in 20 ms at p99", _commits),
    "soak": Promise("memory is flat", _soak),
    "kills": Promise("nothing acknowledged is lost or learnt twice", _kills),
    "load": Promise("1,000 texts a second beside 50 feedbacks, p99 in 50 ms", _load),
}


def write_row(verb: str, options: list[str], found: Figures) -> str:
    """Return a row of the table: the promise, the command, what was found."""
    promise = PROMISES[verb]
    command = " ".join([verb, *options])
    return f"| {promise.words} | `{command}` | {promise.find(found)} |"
