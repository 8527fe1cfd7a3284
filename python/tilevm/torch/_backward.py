"""Gradients by kernels: what each of them is given and what comes back, by names.

    Formula("mylib::layer_norm", kernel, ["layer_norm_backward_x", "layer_norm_backward_weight"], make).register(definition)
"""
from __future__ import annotations

import torch

from .._errors import argument_error
from .._kernel import Kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

    from torch.library import CustomOpDef

    from .._interface import Array

_GRAD = "grad_"


class Gradient:
    """A backward kernel whose arguments have other names than `tilevm.torch.op` expects: `names` maps them to what they are.

        tilevm.torch.Gradient("ln_bwd", {"dy": "grad_y", "dx": "grad_x", "inv": "rstd"})
    """

    __slots__ = ("kernel", "names")

    def __init__(self, kernel: "Union[str, Kernel]", names: "Optional[Mapping[str, str]]" = None) -> None:
        self.kernel = kernel
        self.names: "Dict[str, str]" = dict(names or {})


class _Step:
    """A backward kernel: names of what it reads, in the order of its operator, and of what it gives."""

    def __init__(self, kernel: Kernel, names: "Dict[str, str]") -> None:
        known = {a.name for a in kernel.arrays} | {s.name for s in kernel.scalars}
        for name in names:
            if name not in known:
                raise argument_error(f"backward kernel `{kernel.readable}` has no argument `{name}`; it has {', '.join(sorted(known))}")
        self.kernel = kernel
        self.reads: "List[Tuple[Array, str]]" = []
        self.gives: "List[Tuple[Array, str]]" = []
        for a in kernel.arrays:
            if a.direction == "inout":
                raise argument_error(f"backward kernel `{kernel.readable}` changes `{a.name}`", "let it give a new array (out)")
            (self.gives if a.direction == "out" else self.reads).append((a, names.get(a.name, a.name)))
        self.scalars = [(s, names.get(s.name, s.name)) for s in kernel.scalars]
        self.operator: "Callable[..., Any]"


class Formula:
    """The backward kernels of an operator. Errors of making one: ArgumentError names the argument that is nothing known."""

    def __init__(self, name: str, kernel: Kernel, backward: "Any", make: "Callable[[str, Kernel], CustomOpDef]") -> None:
        self.name, self.make = name, make
        self.inputs = [a.name for a in kernel.arrays if a.direction != "out"] + [s.name for s in kernel.scalars]
        self.outputs = [a.name for a in kernel.arrays if a.direction == "out"]
        self.scalars = [s.name for s in kernel.scalars]
        self.arrays = {a.name: a for a in kernel.arrays}
        changed = [a.name for a in kernel.arrays if a.direction == "inout"]
        if changed:
            raise argument_error(f"kernel `{kernel.readable}` changes `{changed[0]}`, and torch differentiates only operators that change nothing",
                                 "let the kernel give a new array (out), or leave backward= out")
        single = isinstance(backward, (str, Kernel, Gradient)) or hasattr(backward, "specialize")
        listed = [backward] if single else list(backward)
        self.steps = [_Step(*_kernel_of(b, kernel)) for b in listed]
        self.grads_read: "Set[str]" = set()
        self._check()

    def _check(self) -> None:
        """What each kernel reads is there, and of the type that it takes."""
        there = dict(self.arrays)
        for step in self.steps:
            for array, source in step.reads:
                incoming = source[len(_GRAD):] if source.startswith(_GRAD) and source not in there else None
                if incoming in self.outputs:
                    self.grads_read.add(incoming)
                found = self.arrays[incoming] if incoming in self.outputs else there.get(source)
                if found is None:
                    raise argument_error(
                        f"backward kernel `{step.kernel.readable}` reads `{source}`, which is neither an argument of the operator, nor a result "
                        f"of a kernel before it, nor the gradient of an output ({', '.join(_GRAD + o for o in self.outputs)})",
                        "name it by tilevm.torch.Gradient(kernel, {...})")
                _same_form(step, array, found, source)
            for scalar, source in step.scalars:
                if source not in self.scalars and not scalar.optional:
                    raise argument_error(f"backward kernel `{step.kernel.readable}` takes the scalar `{source}`, which the operator does not have")
            for array, target in step.gives:
                wanted = target[len(_GRAD):] if target.startswith(_GRAD) else None
                if target in there:
                    raise argument_error(f"backward kernel `{step.kernel.readable}` gives `{target}`, which is there already")
                if wanted in self.inputs and wanted in self.arrays:
                    _same_form(step, array, self.arrays[wanted], target)
                there[target] = array
        self.grads_given = {i for i in self.inputs if _GRAD + i in there}
        if not self.grads_given:
            raise argument_error("the backward kernels give no gradient",
                                 f"call a result of theirs {' or '.join(_GRAD + i for i in self.inputs if i in self.arrays)}")

    def register(self, definition: "CustomOpDef") -> None:
        """Makes the backward kernels operators, and them the gradient of the operator."""
        for i, step in enumerate(self.steps):
            step.operator = self.make(f"{self.name}_backward" + (f"_{i + 1}" if i else ""), step.kernel)
        produced = {target for step in self.steps for _, target in step.gives}
        read = {source for step in self.steps for _, source in step.reads} - produced
        self.kept = [n for n in (*self.inputs, *self.outputs) if n in read and n in self.arrays]
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
            raise argument_error(f"no backward kernel of `{self.name}` gives `{_GRAD}{missing[0]}`, but `{missing[0]}` requires grad",
                                 f"pass {missing[0]}.detach(), or add a kernel that gives it")
        values: "Dict[str, Any]" = dict(zip(self.kept, ctx.saved_tensors))
        values.update((_GRAD + o, g) for o, g in zip(self.outputs, grads) if _GRAD + o not in values)
        for step in self._needed(wanted):
            given = ((scalar, ctx.scalars.get(source)) for scalar, source in step.scalars)
            scalars = [scalar.default if value is None else value for scalar, value in given]
            made = step.operator(*(values[source] for _, source in step.reads), *scalars)
            values.update(zip((target for _, target in step.gives), made if isinstance(made, (tuple, list)) else (made,)))
        return tuple(values[_GRAD + name] if name in wanted else None for name in self.inputs)

    def _needed(self, wanted: "Set[str]") -> "Sequence[_Step]":
        """The kernels whose results are asked for, or read by one of those."""
        names = {_GRAD + name for name in wanted}
        steps: "List[_Step]" = []
        for step in reversed(self.steps):
            if any(target in names for _, target in step.gives):
                steps.append(step)
                names.update(source for _, source in step.reads)
        return steps[::-1]


def _kernel_of(item: "Any", forward: Kernel) -> "Tuple[Kernel, Dict[str, str]]":
    names = item.names if isinstance(item, Gradient) else {}
    kernel: "Any" = item.kernel if isinstance(item, Gradient) else item
    if hasattr(kernel, "specialize"):
        kernel = kernel.specialize()
    if isinstance(kernel, str):
        kernel = forward.module[kernel]
    if not isinstance(kernel, Kernel):
        raise argument_error(f"backward= has {kernel!r}", "pass names of kernels of the module, Kernels, those of tilevm.script, or Gradients")
    return kernel, names


def _same_form(step: _Step, array: "Array", other: "Array", name: str) -> None:
    if array.element != other.element or array.rank != other.rank:
        raise argument_error(f"`{array.name}` of backward kernel `{step.kernel.readable}` is {array.element} of rank {array.rank}, but "
                             f"`{name}` is {other.element} of rank {other.rank}")
