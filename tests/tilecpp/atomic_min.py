"""What the kernels of atomic_min.cu do: updates.py."""

import updates

updates.add_cases("min", min, "relaxed")
