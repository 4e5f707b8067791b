"""Linear separators of labels and of nodes."""
