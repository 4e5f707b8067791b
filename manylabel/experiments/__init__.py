"""The tables and figures of the papers, run again on data that a user has.

What to run is data: a TOML file for each table and figure, in ``experiments/``.
:mod:`table` reads one, :mod:`runner` runs its trials and writes a line for each,
:mod:`verdict` puts ours beside the published, :mod:`page` and :mod:`plots` show it.
"""
