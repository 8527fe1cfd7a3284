"""What the kernels of atomic_xor.cu do: updates.py."""

import updates

updates.add_cases("xor", lambda k, v: k ^ v, "release")
