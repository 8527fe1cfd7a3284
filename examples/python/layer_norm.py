"""Layer norm by kernels of our own in a model of torch:  layer_norm.py [FILE]   (needs torch and the package tilevm)

Makes the kernels of layer_norm.tile (or of FILE, such as a .tbc with machine code) operators of torch with gradients, trains a small model
with them beside one with torch's own layer norm, compiles it (torch.compile), exports it (torch.export), and compares. Runs on a
GPU if there is one and the file has machine code for it, or tilevm.device("cuda").allow_compile() finds the compiler.
"""
import pathlib
import sys
import tempfile

import tilevm
import tilevm.torch
import torch

FILE = pathlib.Path(__file__).with_name("layer_norm.tile")
STEPS, BATCH, WIDTH, CLASSES = 20, 48, 96, 10


def make_operator(file=FILE):
    """(x, weight, bias, epsilon) -> y, mean, rstd, for x of [rows, columns]."""
    return tilevm.torch.op("tilevm_examples::layer_norm", tilevm.load(file), "layer_norm",
                           backward=["layer_norm_backward_x", "layer_norm_backward_weight"])


class LayerNorm(torch.nn.Module):
    """What torch.nn.LayerNorm of the last dimension is."""

    def __init__(self, operator, width):
        super().__init__()
        self.operator = operator
        self.weight = torch.nn.Parameter(torch.ones(width))
        self.bias = torch.nn.Parameter(torch.zeros(width))

    def forward(self, x):
        y, _, _ = self.operator(x.reshape(-1, x.shape[-1]), self.weight, self.bias)
        return y.reshape(x.shape)


def make_model(norm):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), norm(), torch.nn.GELU(), torch.nn.Linear(WIDTH, WIDTH), norm(),
                               torch.nn.Linear(WIDTH, CLASSES))


def train(model, run, x, labels):
    """The loss at each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(run(x), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def largest_difference(a, b):
    return max(abs(p - q) for p, q in zip(a, b))


def main():
    operator = make_operator(*sys.argv[1:2])
    device = "cuda" if torch.cuda.is_available() and tilevm.has_gpu() else "cpu"
    if device == "cuda":
        tilevm.device("cuda").allow_compile()
    torch.manual_seed(1)
    x, labels = torch.randn(BATCH, WIDTH).to(device), torch.randint(CLASSES, (BATCH,)).to(device)

    reference = make_model(lambda: torch.nn.LayerNorm(WIDTH)).to(device)
    model = make_model(lambda: LayerNorm(operator, WIDTH)).to(device)
    compiled = make_model(lambda: LayerNorm(operator, WIDTH)).to(device)
    expected = train(reference, reference, x, labels)
    losses = train(model, model, x, labels)
    in_graph = train(compiled, torch.compile(compiled, fullgraph=True), x, labels)
    print(f"{STEPS} steps on {device}: loss {losses[0]:.4f} to {losses[-1]:.4f}")
    print(f"from torch's layer norm it differs by {largest_difference(losses, expected):.1e}, compiled by "
          f"{largest_difference(in_graph, expected):.1e}")

    rows = torch.export.Dim("rows", min=2)
    program = torch.export.export(model, (x,), dynamic_shapes=({0: rows},))
    with tempfile.TemporaryDirectory() as folder:
        torch.export.save(program, f"{folder}/model.pt2")
        loaded = torch.export.load(f"{folder}/model.pt2").module()
    more = torch.randn(7, WIDTH).to(device)
    off = (loaded(more) - model(more)).abs().max().item()
    print(f"exported, saved and loaded, on 7 rows: differs by {off:.1e}")
    if not (losses[-1] < losses[0] and largest_difference(losses, expected) < 1e-3 and largest_difference(in_graph, expected) < 1e-3
            and off < 1e-5):
        sys.exit("the results differ")


if __name__ == "__main__":
    main()
