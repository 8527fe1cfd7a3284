"""tilevm.script: logsumexp of wide rows with a temperature, a tile at a time."""
import numpy
from tilevm import script


@script.kernel("x: f32[m, n], t: f32 -> y: f32[m]", grid="m")
def lse(x, t, y, TILE=32):
    i = script.bid()
    top = script.full((1, 1), float("-inf"), "f32")
    total = script.zeros((1, 1), "f32")
    for k in script.range(script.num_tiles(x, 1, (1, TILE))):
        v = script.load(x, (i, k), (1, TILE), padding_mode="neg_inf") / t
        now = script.maximum(top, v.max(axis=1, keepdims=True))
        total = total * script.exp(top - now) + script.exp(v - now).sum(axis=1, keepdims=True)
        top = now
    script.store(y, i, ((top + script.log(total)) * t).reshape(1))


def logsumexp(x, t):
    return lse(numpy.ascontiguousarray(x), t)


BUGS = [
    ("padding", "padding_mode=\"neg_inf\"", "padding_mode=\"zero\""),
    ("rescale", "total * script.exp(top - now)", "total"),
    ("argument", "(top + script.log(total)) * t", "top + script.log(total)"),
    ("init", "top = script.full((1, 1), float(\"-inf\"), \"f32\")", "top = script.full((1, 1), 0.0, \"f32\")"),
    ("missing", "        top = now\n", ""),
    ("formula", "script.log(total)", "script.log2(total)"),
    ("loop", "script.range(script.num_tiles(x, 1, (1, TILE)))", "script.range(1, script.num_tiles(x, 1, (1, TILE)))"),
    ("constant", "script.log(total)", "script.log(total + 1e-3)"),
]
EQUIVALENT = [("TILE=32", "TILE=64"), ("top + script.log(total)", "script.log(total) + top")]
