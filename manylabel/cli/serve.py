"""``manylabel serve``: models over HTTP, that learn from corrections."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from manylabel.cli import options
from manylabel.cli.console import note
from manylabel.cli.process import starting


def serve(
    models: options.Models,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="sqlite:///path or postgresql://...; below MODELS if not given.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen; other than loopback needs tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Where to listen; 0 for any.")
    ] = 8000,
    workers: Annotated[int, typer.Option(min=1, help="How many processes.")] = 1,
    example: Annotated[
        bool,
        typer.Option(
            "--example", help="Fit a small model of made-up texts if there is none."
        ),
    ] = False,
) -> None:
    """Serve every model folder below MODELS, and learn from what people correct.

    Feedback is acknowledged when it is on the disk, in MODELS/.serve/. A folder that is
    added or saved anew is noticed. Ctrl-C ends it, and nothing is lost.

    Example: manylabel serve models/ --example
    """
    with starting():
        from manylabel.server import example as examples
        from manylabel.server.plan import Plan
        from manylabel.server.run import run

    if example:
        examples.prepare(Path(models), note)
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    plan = Plan(models=str(models), log=log, host=host, port=port, n_workers=workers)
    run(plan, note)
