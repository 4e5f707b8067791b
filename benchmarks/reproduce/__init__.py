"""The tables and figures of the papers, run again on data that a user has.

What to run is data: a TOML file for each table and figure, in ``papers/``. :mod:`table`
and :mod:`figure` read one, :mod:`trial` is one run of it, :mod:`verdict` puts ours
beside the published, :mod:`reproduction` goes from names of tables to the page.
"""
