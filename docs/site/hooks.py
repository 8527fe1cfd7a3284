"""What the site adds to mkdocs: colours of tile code (listings that begin with ```tile, after docs/text.md), and names for screen readers."""
import re

from pygments import lexers
from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

TYPES = r"(?:tile|ptr|tensor_view|partition_view|strided_view|gather_scatter_view|token|i1|i4|i8|i16|i32|i64|f16|bf16|f32|tf32|f64|f8\w+|f4\w+)\b"


class TileLexer(RegexLexer):
    name = "Tile code"
    aliases = ["tile"]
    filenames = ["*.tile"]
    tokens = {
        "root": [
            (r"//.*", Comment.Single),
            (r"…", Comment.Single),
            (r'"(?:\\.|[^"\\])*"', String),
            (r"%[\w$.-]+", Name.Variable),
            (r'@(?:[\w$.-]+|"[^"]*")', Name.Function),
            (words(("entry", "interface", "in", "out", "inout", "scalar", "grid", "default", "init", "at", "module", "global"), suffix=r"\b"), Keyword),
            (TYPES, Keyword.Type),
            (r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)", Number),
            (r"(=\s*)((?!for\b|if\b|loop\b)[a-z]\w*)", bygroups(Operator, Name.Builtin)),
            (words(("return", "continue", "break", "yield", "for", "loop", "if", "else", "to", "step", "iter_values"), suffix=r"\b"), Keyword),
            (r"[a-z]\w*_tko\b", Name.Builtin),
            (r"[a-z_]\w*", Name),
            (r"->|[=:*]", Operator),
            (r"[\[\]{}()<>,?#]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
        ],
    }


def on_startup(**_):
    lexers.LEXERS["TileLexer"] = (__name__, TileLexer.name, tuple(TileLexer.aliases), tuple(TileLexer.filenames), ())
    lexers._lexer_cache[TileLexer.name] = TileLexer


def on_page_content(html, **_):
    """A cell without a text is no heading."""
    return re.sub(r"<th[^>]*></th>", "<td></td>", html)


def on_post_page(output, **_):
    return output.replace('<div class="md-search" data-md-component="search" role="dialog">',
                          '<div class="md-search" data-md-component="search" role="dialog" aria-label="Search">')
