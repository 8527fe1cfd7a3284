"""What the kernels of atomic_and.cu do: updates.py."""

import updates

updates.add_cases("and", lambda k, v: k & v, "relaxed")
