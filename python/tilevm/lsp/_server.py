"""The protocol, by pygls: diagnostics, hover, definitions, completion, symbols, and the fixes that name a word."""
from __future__ import annotations

import re

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from .._module import verify
from .._release import __version__
from ._text import Text
from ._words import complete, hover, operation_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

    from pygls.workspace import TextDocument

    from .._errors import Diagnostic

server: "Any" = LanguageServer("tilevm", __version__)
_KINDS = {"operation": lsp.CompletionItemKind.Function, "keyword": lsp.CompletionItemKind.Keyword, "type": lsp.CompletionItemKind.Class,
          "value": lsp.CompletionItemKind.Variable}
_texts: "Dict[str, Tuple[Optional[int], Text]]" = {}  # by address, of the version that was asked about last
_MEANT = re.compile(r"did you mean `?([\w.]+)`?\?")


def _document(uri: str) -> "TextDocument":
    document: "TextDocument" = server.workspace.get_text_document(uri)
    return document


def _text(uri: str) -> Text:
    document = _document(uri)
    known = _texts.get(uri)
    if known is None or known[0] is None or known[0] != document.version:
        known = _texts[uri] = document.version, Text(document.source)
    return known[1]


def _offset(uri: str, position: lsp.Position) -> int:
    return int(_document(uri).offset_at_position(position))


def _range(uri: str, start: int, end: int) -> lsp.Range:
    """Of offsets in the text, in the units of the client."""
    document = _document(uri)
    source = document.source

    def position(offset: int) -> lsp.Position:
        line = source.count("\n", 0, offset)
        return lsp.Position(line, offset - (source.rfind("\n", 0, offset) + 1))

    there: lsp.Range = document.position_codec.range_to_client_units(document.lines, lsp.Range(position(start), position(end)))
    return there


# --- diagnostics


def opened(params: lsp.DidOpenTextDocumentParams) -> None:
    _check(params.text_document.uri)


def changed(params: lsp.DidChangeTextDocumentParams) -> None:
    _check(params.text_document.uri)


def closed(params: lsp.DidCloseTextDocumentParams) -> None:
    _texts.pop(params.text_document.uri, None)
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=params.text_document.uri, diagnostics=[]))


def _check(uri: str) -> None:
    source = _document(uri).source
    name = to_fs_path(uri) or uri
    found = [_shown(uri, source, d) for d in verify(source.encode("utf-8", "replace"), name)] if source.strip() else []
    server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, version=_document(uri).version, diagnostics=found))


def _shown(uri: str, source: str, found: "Diagnostic") -> lsp.Diagnostic:
    """At the word that the diagnostic names by line and column, which counts bytes."""
    lines = source.splitlines(keepends=True) or [""]
    number = min(max((found.line or 1) - 1, 0), len(lines) - 1)
    before = lines[number].encode()[:max((found.column or 1) - 1, 0)].decode("utf-8", "ignore")
    start = sum(map(len, lines[:number])) + len(before)
    token = _text(uri).token_at(start)
    end = token.end if token is not None and token.start <= start < token.end else start + 1
    severity = lsp.DiagnosticSeverity.Error if found.severity == "error" else lsp.DiagnosticSeverity.Warning
    return lsp.Diagnostic(range=_range(uri, start, min(end, len(source))), severity=severity, code=found.code, source="tilevm",
                          message=found.message + (f"\nfix: {found.fix}" if found.fix else ""))


def fixes(params: lsp.CodeActionParams) -> "List[lsp.CodeAction]":
    """Of each diagnostic that says which word is meant: the word in its place."""
    uri = params.text_document.uri
    actions: "List[lsp.CodeAction]" = []
    for found in params.context.diagnostics:
        meant = _MEANT.search(found.message)
        if found.source == "tilevm" and meant is not None:
            edit = lsp.WorkspaceEdit(changes={uri: [lsp.TextEdit(found.range, meant[1])]})
            actions.append(lsp.CodeAction(f"write {meant[1]}", kind=lsp.CodeActionKind.QuickFix, diagnostics=[found], edit=edit, is_preferred=True))
    return actions


# --- what stands at a place


def hovered(params: lsp.HoverParams) -> "Optional[lsp.Hover]":
    uri = params.text_document.uri
    text, offset = _text(uri), _offset(uri, params.position)
    token = text.token_at(offset)
    if token is None or text.is_comment(offset):
        return None
    if token.kind in ("value", "symbol"):
        definition = text.definition_of(token)
        said = f"```tile\n{definition.detail}\n```" if definition is not None else None
    else:
        said = hover(token.text, operation_of(text.line_at(token.start)))
        if said is None and re.match(r"x?\d", token.text):  # the sizes of a type run into its element: 16xf32, ?xf32
            said = hover(token.text.rpartition("x")[2])
    return None if said is None else lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, said), _range(uri, token.start, token.end))


def defined(params: lsp.DefinitionParams) -> "Optional[lsp.Location]":
    uri = params.text_document.uri
    found = _text(uri).definition_at(_offset(uri, params.position))
    return None if found is None else lsp.Location(uri, _range(uri, found.start, found.end))


def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
    uri = params.text_document.uri
    offset = _offset(uri, params.position)
    source = _document(uri).source
    start = offset
    while start > 0 and re.match(r"[\w$.%]", source[start - 1]):
        start -= 1
    typed = _range(uri, start, offset)
    items = []
    for item in complete(_text(uri), offset):
        documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, item.documentation) if item.documentation else None
        items.append(lsp.CompletionItem(item.label, kind=_KINDS[item.kind], detail=item.detail or None, documentation=documentation,
                                        filter_text=item.label, text_edit=lsp.TextEdit(typed, item.label)))
    return lsp.CompletionList(is_incomplete=False, items=items)


def outlined(params: lsp.DocumentSymbolParams) -> "List[lsp.DocumentSymbol]":
    uri = params.text_document.uri
    kinds = {"entry": lsp.SymbolKind.Function, "global": lsp.SymbolKind.Variable}
    return [lsp.DocumentSymbol(d.name, kinds[d.kind], _range(uri, d.start, d.end), _range(uri, d.start, d.end), detail=d.detail)
            for d in _text(uri).symbols()]


# A loop in place of decorators, which would take the hints of the functions away.
for _name, _options, _function in (
    (lsp.TEXT_DOCUMENT_DID_OPEN, None, opened),
    (lsp.TEXT_DOCUMENT_DID_CHANGE, None, changed),
    (lsp.TEXT_DOCUMENT_DID_CLOSE, None, closed),
    (lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]), fixes),
    (lsp.TEXT_DOCUMENT_HOVER, None, hovered),
    (lsp.TEXT_DOCUMENT_DEFINITION, None, defined),
    (lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["%", "<", ":"]), completed),
    (lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, None, outlined),
):
    server.feature(_name, _options)(_function)
