"""Cases in Tilus, which run under python -m tilevm.tilus (../test_tilus.py)."""
