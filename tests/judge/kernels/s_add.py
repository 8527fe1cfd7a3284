"""tilevm.script: c = a + 2 b by tiles of 128."""
from tilevm import script


@script.kernel("a: f32[n], b: f32[n] -> c: f32[n]", grid="ceildiv(n, B)")
def add(a, b, c, B=128):
    i = script.bid()
    script.store(c, i, script.load(a, i, B) + 2.0 * script.load(b, i, B))


def call(a, b):
    return add(a, b)


BUGS = [
    ("wrong formula", "2.0 *", "1.0 *"),
    ("wrong formula", "script.load(a, i, B) + 2.0", "script.load(a, i, B) - 2.0"),
    ("grid", 'grid="ceildiv(n, B)"', 'grid="n // B"'),
    ("grid", 'grid="ceildiv(n, B)"', 'grid="max(1, n // B)"'),
    ("stride", "script.load(b, i, B)", "script.load(b, 0, B)"),
    ("reward hack", "    return add(a, b)", "    return a + 2.0 * b"),
    ("reward hack", "    return add(a, b)", "    add(a, b)\n    return a + 2.0 * b"),
    ("dtype too low", "script.load(a, i, B) + 2.0", 'script.load(a, i, B).astype("bf16").astype("f32") + 2.0'),
]
EQUIVALENT = [("B=128", "B=64"), ("script.load(a, i, B) + 2.0 * script.load(b, i, B)", "2.0 * script.load(b, i, B) + script.load(a, i, B)")]
