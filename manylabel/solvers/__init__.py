"""Solvers that several engines share: many linear classifiers, trees of labels."""
