"""What the kernels of atomic_max.cu do: updates.py."""

import updates

updates.add_cases("max", max, "acq_rel")
