"""Loops of the comparators of two classes."""
