"""What the command ``manylabel`` calls."""

import sys
from typing import NoReturn

INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command line; Ctrl-C is quiet even while it is being loaded."""
    try:
        from manylabel.cli import main
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    main.run()


if __name__ == "__main__":
    run()
