"""Words and vocabularies of texts."""
