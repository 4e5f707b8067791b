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

# Ray gives its workers a thirtieth of what others get of a core, and two of its
# clusters that start at once may overwrite the token of each other.
os.environ.setdefault("RAY_worker_niceness", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")

DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real data sets, or skip where it is absent."""
    if not DATA.is_dir():
        pytest.skip("the folder of real data sets is not beside the project")
    return DATA


@pytest.fixture(scope="module")
def dask_client():
    """Return the client of a dask cluster of two processes, or skip without dask."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, cluster.get_client() as client:
        yield client


@pytest.fixture
def sent(monkeypatch):
    """Return a list to which the size of each message is added that dask sends."""
    tcp = pytest.importorskip("distributed.comm.tcp")
    sizes, write = [], tcp.TCP.write

    async def count(self, *given, **options):
        sizes.append(await write(self, *given, **options))
        return sizes[-1]

    monkeypatch.setattr(tcp.TCP, "write", count)
    return sizes
