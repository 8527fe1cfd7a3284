"""What the kernels of atomic_or.cu do: updates.py."""

import updates

updates.add_cases("or", lambda k, v: k | v, "acquire")
