"""The tables and figures of the papers, run again on data that a user has.

What to run is data: a TOML file for each table and figure, in ``papers/``. :mod:`table`
and :mod:`figure` read one, :mod:`trial` is one run of it, :mod:`verdict` puts ours
beside the published. What a paper says in words is a :mod:`claim`, and a :mod:`finding`
what our runs say of it. :mod:`reproduction` goes from names of tables to the page,
which :mod:`papers_page` composes of a :mod:`summary` and the tables by :mod:`report`.
"""
