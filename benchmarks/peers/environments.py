"""An environment for each peer, so that none has to agree with another."""

import os
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.limits import last_line
from benchmarks.peers.folders import appearing
from benchmarks.peers.programme import Peer
from benchmarks.runner import Failure

PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
PROGRAM = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")


class Environments:
    """Virtual environments in a folder, made when they are first asked for.

    Parameters
    ----------
    folder : Path
        Where they are kept. One that was not finished leaves nothing behind.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def python(self, peer: Peer) -> Path:
        """Return the interpreter of a peer; install the peer if it is not there.

        Raises
        ------
        Failure
            If it cannot be installed, with the last that was said about it.
        """
        if peer.is_installed:
            return Path(sys.executable)
        # Packages are found from where the interpreter is, so it may be moved.
        home = self.folder / f"{peer.name}-{peer.requirements}"
        if not home.exists():
            with appearing(home) as sibling:
                venv.create(sibling, with_pip=True, symlinks=os.name != "nt")
                program = sibling.joinpath(*PROGRAM)
                _install(program, *peer.packages)
                _install(program, *peer.bare, options=("--no-deps",))
        return home.joinpath(*PROGRAM)


def _install(program: Path, *packages: str, options: tuple[str, ...] = ()) -> None:
    if not packages:
        return
    command = [str(program), *PIP, *options, *packages]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise Failure(f"cannot be installed: {last_line(done.stderr)}")
