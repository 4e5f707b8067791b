"""Settings that every test shares."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a kernel compiles it, so there is no deadline. What a person waits
# for draws fewer examples; the tests of kernels run again, with bounds checks, on all.
settings.register_profile("default", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("quick", settings.get_profile("default"), max_examples=20)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real data sets, or skip where it is absent."""
    if not DATA.is_dir():
        pytest.skip("the folder of real data sets is not beside the project")
    return DATA
