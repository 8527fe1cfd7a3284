"""What the kernels of atomic_sub.cu do: updates.py."""

import updates

updates.add_cases("sub", lambda k, v: k - v, "acq_rel", ("float", "double", "__half"))
