"""How time and memory grow with rows, with features and with labels.

:mod:`curves` says what is measured, :mod:`point` measures one size in a process of its
own, :mod:`report` shows what was found.
"""
