"""Labels as products of two thin matrices."""
