"""Fits on a cluster: beside threads, with a worker killed, and on paper."""
