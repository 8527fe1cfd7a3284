"""Cases in Triton, which run under python -m tilevm.triton (../test_triton.py)."""
