"""Budgeted decisions, and trees of them that code label sets."""
