"""All learners on all data sets: which one for which data.

:mod:`programme` says what is run, :mod:`rows` brings data sets into one form,
:mod:`process` is one run in a process of its own, :mod:`results` has the lines by set
and learner, :mod:`report` the page.
"""
