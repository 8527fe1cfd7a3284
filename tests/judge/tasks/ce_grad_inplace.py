import torch

INPUTS = {"logits": "f32[m, v] rows inout", "target": "i64[m] in 0..v-1 or -100 contiguous", "ignore_index": "int = -100", "lse_scale": "float in 0.0..0.1"}


def cross_entropy_(logits, target, ignore_index, lse_scale):
    keep = target != ignore_index
    count = max(int(keep.sum()), 1)
    lse = torch.logsumexp(logits, 1)
    p = torch.softmax(logits, 1)
    safe = target.clamp(min=0)
    loss = lse - logits.gather(1, safe[:, None])[:, 0] + lse_scale * lse * lse
    zero = torch.zeros((), dtype=logits.dtype)
    total = torch.where(keep, loss, zero).sum() / count
    grad = p + 2 * lse_scale * lse[:, None] * p - torch.nn.functional.one_hot(safe, logits.shape[1]).to(p.dtype)
    logits.copy_(torch.where(keep[:, None], grad / count, zero))
    return total
