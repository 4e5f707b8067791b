"""Numbers and rows of text files."""
