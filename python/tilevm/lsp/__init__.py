"""A language server for `.tile` text: what editors ask, by the protocol that they share.

    $ pip install 'tilevm[lsp]'              # pygls, which speaks the protocol
    $ tilevm-lsp                             # or python -m tilevm.lsp; an editor starts it and talks to it by stdin and stdout

    _text.py     what names mean in a text: definitions, and where they are visible
    _words.py    what words mean: hover and completion, from the table of operations
    _server.py   the protocol; diagnostics are those of `tilevm verify`

The first two need no pygls. docs/editors.md says how editors start it.
"""
from __future__ import annotations


def main() -> int:
    """The command `tilevm-lsp`. 0; 2 for arguments; 5 without pygls."""
    import sys

    arguments = [word for word in sys.argv[1:] if word != "--stdio"]  # which some editors add
    if arguments:
        asked = arguments[0] in ("-h", "--help")
        print("usage: tilevm-lsp [--stdio]\nThe language server of .tile files; an editor starts it. docs/editors.md says how.",
              file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    try:
        from ._server import server
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("pygls", "lsprotocol"):
            raise
        print("error[lsp.no_pygls]: the language server needs pygls 2\n  fix: pip install 'tilevm[lsp]'", file=sys.stderr)
        return 5
    server.start_io()
    return 0
