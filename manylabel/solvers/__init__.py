"""Solvers that several engines share: many linear classifiers over the same rows."""
