"""An online learner of corrections, beside another learner."""
