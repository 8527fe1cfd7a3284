"""What the kernels of atomic_add.cu do: updates.py."""

import updates

updates.add_cases("add", lambda k, v: k + v, "relaxed", ("float", "double", "__half"))
