"""The elementwise part of a step of an LSTM: gates i, f, g, o lie beside each other in a row; gives the hidden and the cell state."""
import torch
import triton
import triton.language as tl


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def cell_kernel(a_ptr, b_ptr, c_ptr, h_out, c_out, n, sa, sb, sc, B: tl.constexpr):
    row = tl.program_id(0)
    j = tl.program_id(1) * B + tl.arange(0, B)
    live = j < n
    a, b = a_ptr + row * sa + j, b_ptr + row * sb + j
    gate_i = tl.load(a, mask=live, other=0.0) + tl.load(b, mask=live, other=0.0)
    gate_f = tl.load(a + n, mask=live, other=0.0) + tl.load(b + n, mask=live, other=0.0)
    gate_g = tl.load(a + 2 * n, mask=live, other=0.0) + tl.load(b + 2 * n, mask=live, other=0.0)
    gate_o = tl.load(a + 3 * n, mask=live, other=0.0) + tl.load(b + 3 * n, mask=live, other=0.0)
    c = tl.load(c_ptr + row * sc + j, mask=live, other=0.0)
    c = tl.sigmoid(gate_f) * c + tl.sigmoid(gate_i) * tanh(gate_g)
    tl.store(c_out + row * n + j, c, mask=live)
    tl.store(h_out + row * n + j, tl.sigmoid(gate_o) * tanh(c), mask=live)


def reference(a, b, c):
    m, n = c.shape
    h, c_new = torch.empty((m, n), device=c.device), torch.empty((m, n), device=c.device)
    cell_kernel[(m, triton.cdiv(n, 64))](a, b, c, h, c_new, n, a.stride(0), b.stride(0), c.stride(0), B=64)
    return h, c_new


BUGS = [
    ("exchanged", "tl.sigmoid(gate_f) * c + tl.sigmoid(gate_i) * tanh(gate_g)", "tl.sigmoid(gate_i) * c + tl.sigmoid(gate_f) * tanh(gate_g)"),
    ("overflow", "return 2 * tl.sigmoid(2 * x) - 1", "return (tl.exp(2 * x) - 1) / (tl.exp(2 * x) + 1)"),
    ("wrong formula", "tl.sigmoid(gate_o) * tanh(c)", "tl.sigmoid(gate_o) * c"),
    ("stride", "b_ptr + row * sb + j", "b_ptr + row * sa + j"),
    ("aliasing", "h, c_new = torch.empty((m, n), device=c.device), torch.empty((m, n), device=c.device)", "h, c_new = torch.empty((m, n), device=c.device), c"),
]
EQUIVALENT = [("tl.sigmoid(gate_f) * c + tl.sigmoid(gate_i) * tanh(gate_g)", "tl.sigmoid(gate_i) * tanh(gate_g) + c * tl.sigmoid(gate_f)"),
              ("return 2 * tl.sigmoid(2 * x) - 1", "return 1 - 2 / (tl.exp(2 * x) + 1)")]
