import torch

INPUTS = {"p": "bf16[n] contiguous inout", "g": "bf16[n] contiguous", "m": "f32[n] contiguous inout", "v": "f32[n] contiguous positive inout",
          "lr": "float = 0.02", "decay": "float = 0.1", "step": "int = 3"}


def reference(p, g, m, v, lr: float, decay: float, step: int):
    g = g.float()  # the step is computed in float32, as optimizers do
    m.copy_(m * 0.9 + g * 0.1)
    v.copy_(v * 0.95 + g * g * 0.05)
    hat_m = m / (1 - 0.9 ** step)
    hat_v = v / (1 - 0.95 ** step)
    p.copy_(p.float() * (1 - lr * decay) - lr * hat_m / (torch.sqrt(hat_v) + 1e-6))
    return p
