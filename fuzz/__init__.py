"""Coverage-guided fuzzing of what comes from outside: files and model folders."""
