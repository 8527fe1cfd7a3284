"""Docstrings as the reference shows them: what is there for other files of the package is left out, and examples are Python.

An example is indented below its docstring's quotes. Where nothing else follows the first line, the usual cleaning takes that indentation
for the margin, so the text is read from the source again.
"""
import ast
import re

import griffe

INDENTED = re.compile(r"(?:^    .*\n?|^\n(?=    ))+", re.M)


def fenced(match):
    lines = [line[4:] for line in match[0].rstrip("\n").split("\n")]
    return "```python\n" + "\n".join(lines) + "\n```\n"


def marked(text):
    """A docstring as Markdown: `<` outside of examples and backticks is no tag."""
    parts = re.split(r"(```python\n.*?```\n|`[^`\n]*`)", INDENTED.sub(fenced, text), flags=re.S)
    return "".join(part if i % 2 else part.replace("<", "&lt;") for i, part in enumerate(parts))


def as_written(obj):
    """The docstring without the margin of its quotes."""
    doc = obj.docstring
    lines = obj.lines_collection[obj.filepath][doc.lineno - 1:doc.endlineno]
    margin = len(lines[0]) - len(lines[0].lstrip())
    first, *rest = ast.literal_eval("\n".join(lines).strip()).split("\n")
    return "\n".join([first, *(line[margin:] if not line[:margin].strip() else line for line in rest)]).rstrip()


def unquoted(annotation):
    text = str(annotation)
    return text[1:-1] if annotation is not None and text[:1] in "'\"" else annotation


class Docstrings(griffe.Extension):
    def on_members(self, *, obj, **_):
        for name, member in list(obj.members.items()):
            if not member.is_alias and member.docstring is not None and member.docstring.value.startswith("For "):
                obj.del_member(name)

    def on_function(self, *, func, **_):
        """Annotations in quotes, which nothing evaluates when the package is imported, are shown without them."""
        for parameter in func.parameters:
            parameter.annotation = unquoted(parameter.annotation)
        func.returns = unquoted(func.returns)

    def on_attribute(self, *, attr, **_):
        attr.annotation = unquoted(attr.annotation)

    def on_object(self, *, obj, **_):
        self.on_members(obj=obj)
        if obj.docstring is not None:
            obj.docstring.value = marked(as_written(obj))
