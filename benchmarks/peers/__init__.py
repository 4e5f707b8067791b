"""The peers beside us: the same rows, one run after another, and the ratios.

Who takes part is data: ``peers.toml``, and a small file for each peer in ``programs/``.
:mod:`programme` reads that, :mod:`environments` installs each peer on its own,
:mod:`contest` runs them in turn, :mod:`ratios` puts theirs beside ours and
:mod:`report` shows it.
"""
