"""python -m tilevm.judge TASK ANSWER… [--json] [--budget=S] [--jobs=N] [--batch=FILE]"""
from ._command import main

if __name__ == "__main__":
    raise SystemExit(main())
