"""For the cases, which run under `python -m tilevm.triton -m pytest`."""
import pathlib

import pytest


@pytest.fixture
def fresh_cache(tmp_path):
    """The folder of Triton's cache, empty."""
    from triton import knobs

    with knobs.cache.scope():
        knobs.cache.dir = str(tmp_path)
        yield pathlib.Path(tmp_path)
