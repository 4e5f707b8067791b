"""The service: predictions now, corrections learnt at once, nothing lost.

An append-only log is the truth. What a model knows is a function of a snapshot and the
events after it, so each process follows the log by itself and all reach the same bits.
"""
