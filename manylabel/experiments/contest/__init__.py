"""The peers beside us: the same rows, one run after another, and the ratios.

Who takes part is data: ``benchmarks/peers.toml`` in a clone, and a small file for each
peer in ``benchmarks/peers``. :mod:`peers` reads that, :mod:`environments` installs each
peer on its own, :mod:`contest` runs them in turn and writes a line for each run,
:mod:`ratios` puts theirs beside ours, :mod:`page` and :mod:`plots` show it.
"""
