"""What the kernels of atomic_xchg.cu do: updates.py."""

import updates

updates.add_cases("xchg", lambda k, v: v, "acq_rel", ("float", "double"))
