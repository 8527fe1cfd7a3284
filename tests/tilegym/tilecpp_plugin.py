"""pytest plugin: the CUDA Tile C++ backend of TileGym on tilevm. See ./run."""

import os

import cuda_core

cuda_core.install(os.environ.get("TILEVM_CUTILE_DEVICE", "cpu"))
