"""Trees of labels."""
