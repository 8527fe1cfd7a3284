"""What a call of a kernel becomes in a program of JAX."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy

from .._errors import argument_error
from .._formula import GRAD, Formula, chosen_kernel
from .._rule import Rule, Sizes
from .._types import BY_NAME
from ._handler import TARGET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

    from .._interface import Scalar
    from .._kernel import Kernel

_CHECKS = {None: 0, "none": 1, "bounds": 2, "full": 3}


class _JaxSizes(Sizes):
    """Sizes of traced arrays: numbers, or dimension variables of jax.export."""

    def least(self, a: "Any", b: "Any") -> "Any":
        return jax.core.min_dim(a, b)

    def greatest(self, a: "Any", b: "Any") -> "Any":
        return jax.core.max_dim(a, b)


def _dtypes_of(element: str, of: str) -> "List[Any]":
    """Those that the element may have: integers are signless. Errors: ArgumentError for one that JAX has no arrays of."""
    found = BY_NAME.get(element)
    name = "" if found is None or found.bits < 8 else found.numpy or ("int8" if found.bits == 8 else "")  # bytes, where there is no name
    if not name:
        raise argument_error(f"{of} is of {element}, for which JAX has no arrays")
    return [jnp.dtype(name)] + ([jnp.dtype("u" + name)] if name.startswith("int") else [])


class _Operator:
    """A kernel as a function of JAX's arrays, which is not differentiable."""

    def __init__(self, kernel: "Kernel", check: "Optional[str]", threads: int) -> None:
        if not kernel.has_interface:
            raise argument_error(f"kernel `{kernel.readable}` has no interface, from which shapes of results would follow")
        if not kernel.grid:
            raise argument_error(f"kernel `{kernel.readable}` has no launch rule", "give its interface a `grid`")
        if check not in _CHECKS:
            raise argument_error(f"check={check!r}", "use 'none', 'bounds' or 'full'")
        self.kernel = kernel
        self.rule = Rule(kernel, _JaxSizes())
        self.taken = self.rule.taken
        self.results = [a for a in kernel.arrays if a.direction != "in"]
        if not self.results:
            raise argument_error(f"kernel `{kernel.readable}` gives no array: functions of JAX change nothing else")
        self.dtypes = {a.name: _dtypes_of(a.element, f"array `{a.name}` of kernel `{kernel.readable}`") for a in kernel.arrays}
        self.aliases = {i: self.results.index(a) for i, a in enumerate(self.taken) if a.direction == "inout"}
        self.options: "Dict[str, Any]" = {"check": numpy.int64(_CHECKS[check]), "threads": numpy.int64(threads), "kernel": kernel.name,
                                          "program": numpy.frombuffer(kernel.module.to_bytes(), dtype=numpy.uint8)}

    def __call__(self, *values: "Any") -> "Any":
        """Arrays, then scalars; None for one that is not given."""
        arrays = [self._array(a.name, value) for a, value in zip(self.taken, values)]
        scalars = {s.name: self._number(s, value) for s, value in zip(self.kernel.scalars, values[len(self.taken):]) if value is not None}
        shapes: "Dict[str, Tuple[Any, ...]]" = {a.name: tuple(array.shape) for a, array in zip(self.taken, arrays)}
        shapes.update(self.rule.shapes({a.name: array for a, array in zip(self.taken, arrays)}, scalars))
        dtypes = {a.name: array.dtype for a, array in zip(self.taken, arrays)}
        kinds = [jax.ShapeDtypeStruct(shapes[a.name], dtypes.get(a.name, self.dtypes[a.name][0])) for a in self.results]
        # A size of 1 stands for every batch, but what a kernel changes is there for each.
        launch = jax.ffi.ffi_call(TARGET, kinds, vmap_method="broadcast_all" if self.aliases else "expand_dims", input_output_aliases=self.aliases)
        made = launch(*arrays, **self.options, **{f"scalar.{name}": value for name, value in scalars.items()})
        return made[0] if len(made) == 1 else tuple(made)

    def _array(self, name: str, value: "Any") -> "Any":
        array = jnp.asarray(value)
        if array.dtype not in self.dtypes[name]:
            raise argument_error(f"array `{name}` is of {array.dtype}, the kernel takes {self.dtypes[name][0]}",
                                 f"convert it: {name}.astype({str(self.dtypes[name][0])!r})")
        return array

    def _number(self, scalar: "Scalar", value: "Any") -> "Any":
        """The scalar is part of the compiled program."""
        if isinstance(value, jax.core.Tracer):
            raise argument_error(f"scalar `{scalar.name}` of kernel `{self.kernel.readable}` is traced: its value is not known when the program is compiled",
                                 "make it a static argument (jax.jit(…, static_argnames=…)), or pass it in an array that the kernel reads")
        is_float = scalar.element in BY_NAME and BY_NAME[scalar.element].is_float
        try:
            return numpy.float64(value) if is_float else numpy.int64(int(value) if int(value) == value else "")
        except (TypeError, ValueError, OverflowError):
            raise argument_error(f"scalar `{scalar.name}` is {value!r}, the kernel takes {scalar.element}") from None


def function(module: "Any", kernel: "Optional[str]" = None, *, constants: "Optional[Mapping[str, Any]]" = None, backward: "Any" = None,
             check: "Optional[str]" = None, threads: int = 0) -> "Callable[..., Any]":
    """Makes a kernel a function of JAX's arrays, for use under jit, vmap, grad, and in what jax.export writes.

    `module`, `kernel` and `constants` are those of tilevm.torch.op: a Module and a name (None: the only kernel), a Kernel, or what
    tilevm.script.kernel made. The function takes the arrays that the kernel reads or changes and then its scalars, by position or name. It
    returns the arrays that the kernel writes or changes, in the order of the interface, a tuple if there are several; what it was given
    stays as it is. Scalars are part of the compiled program and cannot be traced.

    `backward`: the kernels that compute gradients, as in tilevm.torch.op: names, Kernels, or Gradients, which rename arguments. `check` and
    `threads` are those of launches on the CPU.

    On a GPU the module needs machine code for it (Module.compile). Nobody waits there for what a kernel reports.

    Errors: ArgumentError names what does not fit. A launch that fails is an error of JAX with the text of the commands.

        scale = tilevm.jax.function(tilevm.load("scale.tile"))
        y = jax.jit(lambda x: scale(x, 2.0) + 1)(x)
    """
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 0:
        raise argument_error(f"threads={threads!r}", "use a number of threads, or 0 for all cores")
    chosen = chosen_kernel(module, kernel, constants)
    operator = _Operator(chosen, check, threads)
    whole: "Any" = operator if backward is None else _differentiable(operator, Formula(chosen, backward), check, threads)
    names = [a.name for a in operator.taken] + [s.name for s in chosen.scalars]
    needed = len(operator.taken)

    def called(*arguments: "Any", **named: "Any") -> "Any":
        if len(arguments) > len(names):
            raise argument_error(f"kernel `{chosen.readable}` takes {len(names)} arguments ({', '.join(names)}), not {len(arguments)}")
        values: "Dict[str, Any]" = dict(zip(names, arguments))
        for name, value in named.items():
            if name not in names or name in values:
                raise argument_error(f"argument `{name}` is given twice" if name in values else
                                     f"kernel `{chosen.readable}` has no argument `{name}`; it has {', '.join(names)}")
            values[name] = value
        for scalar in chosen.scalars:  # its default is what a gradient is told, too
            if values.get(scalar.name) is None:
                values[scalar.name] = scalar.default
        missing = [n for n in names[:needed] if n not in values] + [s.name for s in chosen.scalars if not s.optional and values.get(s.name) is None]
        if missing:
            raise argument_error(f"argument `{missing[0]}` of kernel `{chosen.readable}` is missing")
        return whole(*(values.get(name) for name in names))

    called.__name__ = called.__qualname__ = chosen.readable
    called.__doc__ = f"{chosen.signature}"
    return called


def call(module: "Any", *arguments: "Any", kernel: "Optional[str]" = None, constants: "Optional[Mapping[str, Any]]" = None, backward: "Any" = None,
         check: "Optional[str]" = None, threads: int = 0, **named: "Any") -> "Any":
    """function(module, …)(*arguments, **named): for a kernel that is called at one place.

        c = tilevm.jax.call(tilevm.load("vector_add.tile"), a, b)
    """
    return function(module, kernel, constants=constants, backward=backward, check=check, threads=threads)(*arguments, **named)


def _differentiable(operator: "_Operator", formula: "Formula", check: "Optional[str]", threads: int) -> "Callable[..., Any]":
    """With the gradient that the kernels of the formula compute; scalars have none."""
    for step in formula.steps:
        step.operator = _Operator(step.kernel, check, threads)
    count = len(operator.taken)

    def forward(scalars: "Tuple[Any, ...]", arrays: "Sequence[Any]") -> "Any":
        """`arrays` say whether somebody differentiates by them."""
        for name, array in zip(formula.inputs, arrays):
            if array.perturbed and name not in formula.grads_given:
                raise argument_error(f"no backward kernel of `{operator.kernel.readable}` gives `{GRAD}{name}`, but `{name}` is differentiated",
                                     f"pass jax.lax.stop_gradient({name}), or add a kernel that gives it")
        values = [array.value for array in arrays]
        made = operator(*values, *scalars)
        there = dict(zip(formula.inputs, values))
        there.update(zip(formula.outputs, made if isinstance(made, tuple) else (made,)))
        return made, tuple(there[name] for name in formula.kept)

    def backward(scalars: "Tuple[Any, ...]", kept: "Tuple[Any, ...]", grads: "Any") -> "Sequence[Any]":
        values: "Dict[str, Any]" = dict(zip(formula.kept, kept))
        for name, grad in zip(formula.outputs, grads if isinstance(grads, tuple) else (grads,)):
            zero = isinstance(grad, jax.custom_derivatives.SymbolicZero)
            values.setdefault(GRAD + name, jnp.zeros(grad.shape, grad.dtype) if zero else grad)
        formula.run(values, dict(zip(formula.scalars, scalars)), set(formula.grads_given))
        return tuple(values[GRAD + name] if name in formula.grads_given else None for name in formula.inputs[:count])

    def whole(*values: "Any") -> "Any":
        scalars = values[count:]
        differentiable = jax.custom_vjp(lambda *arrays: operator(*arrays, *scalars))
        differentiable.defvjp(lambda *arrays: forward(scalars, arrays), lambda kept, grads: backward(scalars, kept, grads), symbolic_zeros=True)
        return differentiable(*values[:count])

    return whole
