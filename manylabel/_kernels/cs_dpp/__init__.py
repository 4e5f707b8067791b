"""Learning on a stream in a reduced label space."""
