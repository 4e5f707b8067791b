"""``manylabel shard``: a data file as a folder of smaller ones."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from manylabel._plural import counted
from manylabel.cli import options
from manylabel.cli.console import print_json, say, track
from manylabel.cli.inputs import DataFile


@options.reads()
def shard(
    file: options.File,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder to make, or an empty one.")
    ],
    rows: Annotated[int, typer.Option(min=1, help="Rows of a shard.")] = 100_000,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="xc for features, jsonl for texts, parquet for either; xc or jsonl "
            "if not given.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
    *,
    reading: options.Reading,
) -> None:
    """Write a data file as a folder of shards, with their checksums in shards.json.

    A shard is in memory at a time. fit, predict and evaluate take such a folder in
    place of a file, and in Python a tree of a forest may be grown from some shards
    only.

    Example: manylabel shard train.txt.gz --out shards/ --rows 100000
    """
    from manylabel._validation import choice
    from manylabel.distributed import write_shards
    from manylabel.distributed.shards import SUFFIXES

    if to is not None:
        choice(to, "--to", SUFFIXES)
    data = DataFile(file, reading)
    chunks = data.chunks(n_rows=rows)
    first = next(chunks)
    data.check_rows(first)
    format = to or ("jsonl" if first.X is None else "xc")
    needed = {"xc": "features", "jsonl": "texts"}.get(format)
    if needed and (first.X if format == "xc" else first.texts) is None:
        raise data.fault(f"expected {needed}, which {format} needs, found none.")
    watched = track(chain([first], chunks), "Writing shards")
    manifest = write_shards(watched, out, format=format)
    n_rows, n_shards = sum(each.rows for each in manifest.shards), len(manifest.shards)
    if json:
        sizes = {"shards": n_shards, "rows": n_rows, "labels": manifest.n_labels}
        print_json(sizes | {"format": format})
    else:
        parts = f"{counted(n_rows, 'row')} in {counted(n_shards, 'shard')}"
        say(f"{parts} of {format}: {out}")
