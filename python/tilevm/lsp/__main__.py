"""python -m tilevm.lsp: the language server, on stdin and stdout."""
from __future__ import annotations

if __name__ == "__main__":
    from . import main

    raise SystemExit(main())
