"""Gradients of operators by kernels, for torch.library: tilevm/_formula.py has what they are given and give.

    TorchFormula("mylib::layer_norm", kernel, ["layer_norm_backward_x", "layer_norm_backward_weight"], make).register(definition)
"""
from __future__ import annotations

from .._errors import argument_error
from .._formula import GRAD, Formula
from .._kernel import Kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Tuple

    import torch
    from torch.library import CustomOpDef


class TorchFormula(Formula):
    """The backward kernels of an operator. Errors of making one: ArgumentError names the argument that is nothing known."""

    def __init__(self, name: str, kernel: Kernel, backward: "Any", make: "Callable[[str, Kernel], CustomOpDef]") -> None:
        self.name, self.make = name, make
        super().__init__(kernel, backward)

    def register(self, definition: "CustomOpDef") -> None:
        """Makes the backward kernels operators, and them the gradient of the operator."""
        for i, step in enumerate(self.steps):
            step.operator = self.make(f"{self.name}_backward" + (f"_{i + 1}" if i else ""), step.kernel)
        definition.register_autograd(self.backward, setup_context=self.setup)

    def setup(self, ctx: "Any", inputs: "Tuple[Any, ...]", output: "Any") -> None:
        values = dict(zip(self.inputs, inputs))
        values.update(zip(self.outputs, output if isinstance(output, (tuple, list)) else (output,)))
        ctx.save_for_backward(*(values[n] for n in self.kept))
        ctx.scalars = {n: values[n] for n in self.scalars}
        closed = [values[o] for o in self.outputs if o not in self.grads_read]
        if closed:
            ctx.mark_non_differentiable(*closed)

    def backward(self, ctx: "Any", *grads: "torch.Tensor") -> "Any":
        wanted = {name for name, needed in zip(self.inputs, ctx.needs_input_grad) if needed}
        missing = sorted(wanted - self.grads_given)
        if missing:
            raise argument_error(f"no backward kernel of `{self.name}` gives `{GRAD}{missing[0]}`, but `{missing[0]}` requires grad",
                                 f"pass {missing[0]}.detach(), or add a kernel that gives it")
        values: "Dict[str, Any]" = dict(zip(self.kept, ctx.saved_tensors))
        values.update((GRAD + o, g) for o, g in zip(self.outputs, grads) if GRAD + o not in values)
        self.run(values, ctx.scalars, wanted)
        return tuple(values[GRAD + name] if name in wanted else None for name in self.inputs)
