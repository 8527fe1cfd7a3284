"""The language server: what names mean in a text, what words mean, and the protocol, spoken to a server in a process of its own."""
import json
import pathlib
import re
import subprocess
import sys

import pytest
import tilevm
from conftest import EXAMPLES, is_installed
from lsp_mistakes import MISTAKES, text_of
from tilevm.builder import table
from tilevm.lsp._text import Text
from tilevm.lsp._words import complete, hover

ROOT = pathlib.Path(__file__).absolute().parents[2]
SHADOWS = """// %x is nobody's here
entry @first(%x: tile<ptr<f32>>, %n: tile<i32>) optimization_hints = <sm_90 = {num_cta = 2}> interface {
  in x: f32[%n] at %x
  grid 1
} {
  %v, %t:2 = load_ptr_tko weak %x
  for %i in (%n to 10, step 1) iter_values(%acc = %v) {
    %x2 = addf %acc, %v
    continue %x2
  }
  %s = reduce %v dim=0 identities=[0.0] (%a, %b) {
    %c = addf %a, %b
    yield %c
  }
  %u = addf %t#1, %i
}
entry @second(%x: tile<i32>) {
  %v = addi %x, %x
}
"""


def at(text, word, nth=0):
    """The offset of the nth occurrence of a word."""
    found = [m.start() for m in re.finditer(re.escape(word) + r"\b", text)]
    return found[nth]


@pytest.mark.parametrize("word, nth, line", [("%x", 2, 2), ("%x", 3, 2), ("%v", 1, 6), ("%t", 1, 6), ("%acc", 1, 7), ("%i", 0, 7), ("%x2", 1, 8),
                                             ("%a", 1, 11), ("%x", 5, 17), ("%n", 2, 2)])
def test_definitions(word, nth, line):
    text = Text(SHADOWS)
    found = text.definition_at(at(SHADOWS, word, nth) + 1)
    assert found is not None and found.name == word and SHADOWS.count("\n", 0, found.start) + 1 == line


def test_what_is_not_visible():
    text = Text(SHADOWS)
    assert text.definition_at(at(SHADOWS, "%i", 1) + 1) is None  # behind its loop
    assert text.definition_at(SHADOWS.index("%x is") + 1) is None  # in a comment
    inside = {d.name for d in text.visible_values(SHADOWS.index("continue"))}
    assert {"%x", "%n", "%v", "%t", "%i", "%acc", "%x2"} == inside
    assert {d.name for d in text.visible_values(len(SHADOWS) - 2)} == {"%x", "%v"}
    assert [d.name for d in text.symbols()] == ["@first", "@second"]


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.tile")), ids=lambda file: file.name)
def test_every_value_of_the_examples_has_a_definition(file):
    text = Text(file.read_text())
    values = [token for token in text.tokens if token.kind == "value"]
    assert values and [t.text for t in values if text.definition_of(t) is None] == []


@pytest.mark.parametrize("end", range(0, len(SHADOWS), 7))
def test_a_text_that_is_being_typed(end):
    text = Text(SHADOWS[:end])
    for token in text.tokens:
        text.definition_of(token)
    assert isinstance(complete(text, end), list)


def test_hover_explains_every_word_of_the_table():
    for op in table()["ops"]:
        assert op["doc"] in hover(op["mnemonic"])
    for element in table()["elements"]:
        assert str(element["bits"]) in hover(element["spelling"])
    assert "comparison" in hover("less_than", "cmpi").lower()
    assert "maxf" in hover("relu") and hover("nothing_of_the_kind") is None


def test_completion():
    def labels(text, place):
        return {item.label for item in complete(Text(text), text.index(place) + len(place))}

    start = "entry @k(%x: tile<ptr<f32>>, %n: tile<i32>) {\n  %y = addi %n, %n\n  "
    assert {"fma", "for", "entry"} <= labels(start, "\n  %y = addi %n, %n\n  ")
    assert {"load_view_tko", "fma"} <= labels(start + "%z = lo", "%z = ")
    assert labels(start + "%z = negi %", "negi %") == {"%x", "%n", "%y"}
    assert {"f32", "bf16", "tile", "ptr"} <= labels(start + "%z = iota : ", "iota : ")
    assert {"f32", "ptr"} <= labels(start + "%z = iota : tile<4x", "tile<")
    assert {"less_than", "signed", "%n"} <= labels(start + "%z = cmpi ", "cmpi ")
    assert labels(start + "// a % ", "// a % ") == set()


class Client:
    """Of the protocol, as little as it takes: messages of JSON, each behind its length."""

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-m", "tilevm.lsp", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number, self.published = 0, {}

    def send(self, method, **params):
        self.put({"jsonrpc": "2.0", "method": method, "params": params})

    def put(self, message):
        data = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.put({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            name, value = line.decode().split(": ")
            length = int(value) if name == "Content-Length" else length
        message = json.loads(self.process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published[message["params"]["uri"]] = message["params"]["diagnostics"]
        return message

    def diagnostics(self, uri):
        self.published.pop(uri, None)
        while uri not in self.published:
            self.read()
        return self.published[uri]


@pytest.fixture
def client():
    if not is_installed("pygls"):
        pytest.skip("pygls is not installed")
    made = Client()
    answer = made.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert answer["serverInfo"]["name"] == "tilevm" and answer["capabilities"]["hoverProvider"]
    made.send("initialized")
    yield made
    made.ask("shutdown", None)
    made.put({"jsonrpc": "2.0", "method": "exit"})
    assert made.process.wait(timeout=20) == 0


URI = "file:///tmp/kernel.tile"
WRONG = """entry @k(%x: tile<f32>) {
  %é = adf %x, %x
  return
}
"""


def test_the_protocol(client):
    client.send("textDocument/didOpen", textDocument={"uri": URI, "languageId": "tile", "version": 1, "text": WRONG.replace("é", "e")})
    found = client.diagnostics(URI)
    assert [(d["code"], d["severity"], d["source"]) for d in found] == [("text.unknown_op", 1, "tilevm")]
    assert found[0]["range"] == {"start": {"line": 1, "character": 7}, "end": {"line": 1, "character": 10}}
    assert "did you mean addf?" in found[0]["message"]

    document = {"uri": URI}
    actions = client.ask("textDocument/codeAction", {"textDocument": document, "range": found[0]["range"], "context": {"diagnostics": found}})
    edit, = actions[0]["edit"]["changes"][URI]
    assert actions[0]["title"] == "write addf" and edit == {"range": found[0]["range"], "newText": "addf"}

    client.send("textDocument/didChange", textDocument={"uri": URI, "version": 2}, contentChanges=[{"range": edit["range"], "text": edit["newText"]}])
    assert client.diagnostics(URI) == []
    where = {"textDocument": document, "position": {"line": 1, "character": 8}}
    assert "addf" in client.ask("textDocument/hover", where)["contents"]["value"]
    where["position"] = {"line": 1, "character": 13}
    assert client.ask("textDocument/definition", where)["range"]["start"] == {"line": 0, "character": 9}
    assert client.ask("textDocument/hover", where)["contents"]["value"] == "```tile\n%x: tile<f32>\n```"
    items = client.ask("textDocument/completion", where)["items"]
    assert [i["label"] for i in items] == ["%x"]
    symbols = client.ask("textDocument/documentSymbol", {"textDocument": document})
    assert [s["name"] for s in symbols] == ["@k"]
    client.send("textDocument/didClose", textDocument=document)
    assert client.diagnostics(URI) == []


def test_places_count_in_the_units_of_the_client(client):
    """A name that is no ASCII in front of the mistake: bytes in messages of the library, UTF-16 in the protocol."""
    text = 'entry @"😀é"(%x: tile<f32>) { %y = adf %x, %x\n  return\n}\n'
    client.send("textDocument/didOpen", textDocument={"uri": URI, "languageId": "tile", "version": 1, "text": text})
    start = len(text[:text.index("adf")].encode("utf-16-le")) // 2
    assert client.diagnostics(URI)[0]["range"] == {"start": {"line": 0, "character": start}, "end": {"line": 0, "character": start + 3}}


def test_every_example_is_clean_and_every_wrong_text_answered(client):
    for i, file in enumerate(sorted(EXAMPLES.glob("*.tile"))):
        uri = f"file:///tmp/{i}.tile"
        client.send("textDocument/didOpen", textDocument={"uri": uri, "languageId": "tile", "version": 1, "text": file.read_text()})
        assert client.diagnostics(uri) == []
    for i, text in enumerate(["", "\n", "%", "entry", "\x00", 'entry @k(%x: tile<f32>) {\n  "', "}" * 50, "entry @k() {" * 50]):
        uri = f"file:///tmp/wrong{i}.tile"
        client.send("textDocument/didOpen", textDocument={"uri": uri, "languageId": "tile", "version": 1, "text": text})
        assert len(client.diagnostics(uri)) == len(tilevm.verify(text.encode())) if text.strip() else client.diagnostics(uri) == []


def test_mistakes_of_first_users(client):
    """Each is reported at its line, alone, with the word that helps."""
    for number, (line, word) in enumerate([("  %c = addf %b, %b", ""), *MISTAKES]):
        text, first, last = text_of(line)
        uri = f"file:///tmp/mistake{number}.tile"
        client.send("textDocument/didOpen", textDocument={"uri": uri, "languageId": "tile", "version": 1, "text": text})
        found = [(d["range"]["start"]["line"], d["message"].partition("\nfix: ")[2]) for d in client.diagnostics(uri)]
        if not word:
            assert found == []
            continue
        (place, fix), = found
        assert first <= place <= last and word in fix, (line, place, fix)


def test_the_command_says_what_is_missing():
    ran = subprocess.run([sys.executable, "-m", "tilevm.lsp", "--port"], capture_output=True, text=True)
    assert ran.returncode == 2 and "usage: tilevm-lsp" in ran.stderr
    block = "import sys; sys.modules['pygls'] = None; sys.argv = ['tilevm-lsp']; from tilevm.lsp import main; sys.exit(main())"
    ran = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True)
    assert ran.returncode == 5 and "error[lsp.no_pygls]" in ran.stderr and "pip install 'tilevm[lsp]'" in ran.stderr


# --- colours


def test_grammars_know_every_word():
    vscode = ROOT / "editors/vscode"
    grammar = json.loads((vscode / "syntaxes/tile.tmLanguage.json").read_text())
    package = json.loads((vscode / "package.json").read_text())
    language, = package["contributes"]["languages"]
    assert language["extensions"] == [".tile"] and (vscode / language["configuration"]).exists() and (vscode / package["main"]).exists()
    json.loads((vscode / language["configuration"]).read_text())
    assert package["contributes"]["grammars"][0]["scopeName"] == grammar["scopeName"]

    patterns = []

    def collect(node):
        if isinstance(node, dict):
            patterns.extend(re.compile(node[key]) for key in ("match", "begin", "end") if key in node)
            collect(list(node.values()))
        elif isinstance(node, list):
            for item in node:
                collect(item)

    collect(grammar)
    assert len(patterns) > 15
    elements, = (p["match"] for p in grammar["repository"]["type"]["patterns"] if p["name"].startswith("storage"))
    operation = grammar["repository"]["operation"]["match"]
    for element in table()["elements"]:
        assert element["spelling"] == "ptr" or re.fullmatch(elements, element["spelling"]), element["spelling"]
    for op in table()["ops"]:
        assert re.search(operation, f"  %a = {op['mnemonic']} %b").group(1) == op["mnemonic"]
