"""y = softmax(q k^T * scale) v for each head, in one pass over the keys:  python examples/script/attention.py

A block takes Q queries of one head and keeps for every query the greatest score so far, the sum of exp(score - greatest) and the values
weighted so. When a greater score comes, both are scaled down to it. Not causal.
"""
import numpy
from tilevm import script


@script.kernel("q: f32[h, n, D], k: f32[h, m, D], v: f32[h, m, D], scale: f32 = 0.125 -> y: f32[h, n, D]", grid="ceildiv(n, Q), h")
def attention(q, k, v, scale, y, D=64, Q=128, K=64):
    i, head = script.bid(0), script.bid(1)
    queries = script.load(q, (head, i, 0), (1, Q, D), padding_mode="zero").reshape(Q, D) * scale
    greatest = script.full((Q, 1), float("-inf"))
    total, sum = script.zeros((Q, 1)), script.zeros((Q, D))
    for step in script.range(script.num_tiles(k, 1, (1, K, D))):
        keys = script.load(k, (head, 0, step), (1, D, K), order=(0, 2, 1), padding_mode="zero").reshape(D, K)
        is_key = script.arange(K) + step * K < k.shape[1]
        score = script.where(is_key, queries @ keys, float("-inf"))
        now = script.maximum(greatest, score.max(axis=1, keepdims=True))
        shrink, weight = script.exp(greatest - now), script.exp(score - now)
        greatest, total = now, total * shrink + weight.sum(axis=1, keepdims=True)
        sum = script.mma(weight, script.load(v, (head, step, 0), (1, K, D), padding_mode="zero").reshape(K, D), sum * shrink)
    script.store(y, (head, i, 0), (sum / total).reshape(1, Q, D))


if __name__ == "__main__":
    q, k, v = (numpy.random.rand(2, n, 64).astype("float32") for n in (50, 70, 70))
    print(attention(q, k, v).shape)
