"""Gradients by kernels: what each of them is given and what comes back, by names. Libraries that differentiate share it.

    formula = Formula(kernel, ["layer_norm_backward_x", "layer_norm_backward_weight"])
    formula.steps          # the kernels in their order; what each reads and gives
    formula.needed({"x"})  # those that the gradient of x needs
"""
from __future__ import annotations

from ._errors import argument_error
from ._kernel import Kernel
from ._module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple, Union

    from ._interface import Array

GRAD = "grad_"


def chosen_kernel(module: "Any", kernel: "Optional[str]" = None, constants: "Optional[Mapping[str, Any]]" = None) -> Kernel:
    """The kernel that a Module and a name, a Kernel, or a kernel of tilevm.script and constants mean.

    Errors: ArgumentError for constants of what has none; those of script.Kernel.specialize."""
    if hasattr(module, "specialize"):
        if kernel is not None:
            raise argument_error(f"`{module.name}` is a kernel already, and kernel={kernel!r} names another")
        made: Kernel = module.specialize(**dict(constants or {}))
        return made
    if constants is not None:
        raise argument_error("constants= are those of a kernel of tilevm.script", "leave constants= out")
    if isinstance(module, Kernel):
        return module
    if not isinstance(module, Module):
        raise argument_error(f"{type(module).__name__} is no kernel", "pass a Module, a Kernel, or what script.kernel made")
    return module[kernel] if kernel is not None else module.kernel


class Gradient:
    """A backward kernel whose arguments have other names than an operator expects: `names` maps them to what they are.

        tilevm.torch.Gradient("ln_bwd", {"dy": "grad_y", "dx": "grad_x", "inv": "rstd"})
    """

    __slots__ = ("kernel", "names")

    def __init__(self, kernel: "Union[str, Kernel]", names: "Optional[Mapping[str, str]]" = None) -> None:
        self.kernel = kernel
        self.names: "Dict[str, str]" = dict(names or {})


class Step:
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

    def __init__(self, kernel: Kernel, backward: "Any") -> None:
        self.inputs = [a.name for a in kernel.arrays if a.direction != "out"] + [s.name for s in kernel.scalars]
        self.outputs = [a.name for a in kernel.arrays if a.direction == "out"]
        self.scalars = [s.name for s in kernel.scalars]
        self.arrays = {a.name: a for a in kernel.arrays}
        changed = [a.name for a in kernel.arrays if a.direction == "inout"]
        if changed:
            raise argument_error(f"kernel `{kernel.readable}` changes `{changed[0]}`, and only operators that change nothing are differentiated",
                                 "let the kernel give a new array (out), or leave backward= out")
        single = isinstance(backward, (str, Kernel, Gradient)) or hasattr(backward, "specialize")
        listed = [backward] if single else list(backward)
        self.steps = [Step(*_kernel_of(b, kernel)) for b in listed]
        self.grads_read: "Set[str]" = set()
        self._check()
        produced = {target for step in self.steps for _, target in step.gives}
        read = {source for step in self.steps for _, source in step.reads} - produced
        self.kept = [n for n in (*self.inputs, *self.outputs) if n in read and n in self.arrays]

    def _check(self) -> None:
        """What each kernel reads is there, and of the type that it takes."""
        there = dict(self.arrays)
        for step in self.steps:
            for array, source in step.reads:
                incoming = source[len(GRAD):] if source.startswith(GRAD) and source not in there else None
                if incoming in self.outputs:
                    self.grads_read.add(incoming)
                found = self.arrays[incoming] if incoming in self.outputs else there.get(source)
                if found is None:
                    raise argument_error(
                        f"backward kernel `{step.kernel.readable}` reads `{source}`, which is neither an argument of the operator, nor a result "
                        f"of a kernel before it, nor the gradient of an output ({', '.join(GRAD + o for o in self.outputs)})",
                        "name it by Gradient(kernel, {...})")
                _same_form(step, array, found, source)
            for scalar, source in step.scalars:
                if source not in self.scalars and not scalar.optional:
                    raise argument_error(f"backward kernel `{step.kernel.readable}` takes the scalar `{source}`, which the operator does not have")
            for array, target in step.gives:
                wanted = target[len(GRAD):] if target.startswith(GRAD) else None
                if target in there:
                    raise argument_error(f"backward kernel `{step.kernel.readable}` gives `{target}`, which is there already")
                if wanted in self.inputs and wanted in self.arrays:
                    _same_form(step, array, self.arrays[wanted], target)
                there[target] = array
        self.grads_given = {i for i in self.inputs if GRAD + i in there}
        if not self.grads_given:
            raise argument_error("the backward kernels give no gradient",
                                 f"call a result of theirs {' or '.join(GRAD + i for i in self.inputs if i in self.arrays)}")

    def run(self, values: "Dict[str, Any]", scalars: "Mapping[str, Any]", wanted: "Set[str]") -> None:
        """Runs the kernels that the gradients of `wanted` need; what they give is added to `values`, which has what is kept, and `grad_Y`."""
        for step in self.needed(wanted):
            given = ((scalar, scalars.get(source)) for scalar, source in step.scalars)
            numbers = [scalar.default if value is None else value for scalar, value in given]
            made = step.operator(*(values[source] for _, source in step.reads), *numbers)
            values.update(zip((target for _, target in step.gives), made if isinstance(made, (tuple, list)) else (made,)))

    def needed(self, wanted: "Set[str]") -> "Sequence[Step]":
        """The kernels whose results are asked for, or read by one of those."""
        names = {GRAD + name for name in wanted}
        steps: "List[Step]" = []
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


def _same_form(step: Step, array: "Array", other: "Array", name: str) -> None:
    if array.element != other.element or array.rank != other.rank:
        raise argument_error(f"`{array.name}` of backward kernel `{step.kernel.readable}` is {array.element} of rank {array.rank}, but "
                             f"`{name}` is {other.element} of rank {other.rank}")
