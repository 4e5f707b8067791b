"""Leave out the examples that need what is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("river") else ["manylabel/river"]
