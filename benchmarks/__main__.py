"""Run every benchmark: ``python -m benchmarks``."""

import runpy

for name in ("reading", "vectorising", "evaluating", "training", "river"):
    print(f"== {name}")
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")
