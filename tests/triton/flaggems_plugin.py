"""pytest plugin: FlagGems calls a compiled kernel with constants among its arguments if Triton is 3.3 to 3.5, and without them otherwise, as
3.2 wanted. Triton 3.6 wants them as 3.5 did, on a GPU too."""
import importlib

entry = importlib.import_module("flag_gems.utils.libentry")
entry.minor_version = min(entry.minor_version, 5)
