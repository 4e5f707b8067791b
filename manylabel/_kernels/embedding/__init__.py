"""Loops of learners that embed rows and labels in a common space."""
