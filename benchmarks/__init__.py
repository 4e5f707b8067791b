"""Time and memory beside named peers, in the same run on the same data."""
