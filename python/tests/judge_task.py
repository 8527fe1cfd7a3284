"""A task of the judge, c = a + 2 * b, and a right answer to it, for the tests of the judge."""

TASK = """
import numpy

INPUTS = {"a": "f32[n] contiguous", "b": "f32[n] contiguous"}


def reference(a, b):
    return a + 2 * b
"""

ANSWER = """
from tilevm import script


@script.kernel("a: f32[n], b: f32[n] -> c: f32[n]", grid="ceildiv(n, B)")
def add(a, b, c, B=64):
    i = script.bid()
    script.store(c, i, script.load(a, i, B) + 2.0 * script.load(b, i, B))


def reference(a, b):
    return add(a, b)
"""
