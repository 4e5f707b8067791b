"""What reproduces papers and runs peers; it stays in the repository."""
