"""pytest plugin: the helpers of Triton's tests (triton._internal_testing) are those of the checkout, SUITE_CHECKOUT, as the tests are; the
rest of Triton is the one that is installed."""
import importlib.util
import os
import sys

import triton  # noqa: F401  (its package, before the module in it)

_NAME = "triton._internal_testing"
_spec = importlib.util.spec_from_file_location(_NAME, os.path.join(os.environ["SUITE_CHECKOUT"], "python/triton/_internal_testing.py"))
sys.modules[_NAME] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sys.modules[_NAME])
