"""Operators of torch.library from kernels: schema, implementation, and the one for tensors without memory."""
from __future__ import annotations

import torch

from .._arrays import torch_place
from .._device import device as get_device
from .._errors import argument_error
from .._formula import chosen_kernel
from .._kernel import Kernel
from .._rule import Rule
from .._types import BY_NAME
from ._sizes import TorchSizes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

    from torch.library import CustomOpDef

    from .._interface import Array, Scalar
    from .._module import Module
    from ..script import Kernel as ScriptKernel
    from .._formula import Gradient


def op(name: str, module: "Union[Module, Kernel, ScriptKernel]", kernel: "Optional[str]" = None, *,
       constants: "Optional[Mapping[str, Any]]" = None,
       backward: "Union[str, Kernel, ScriptKernel, Gradient, Sequence[Union[str, Kernel, ScriptKernel, Gradient]], None]" = None,
       check: "Optional[str]" = None, threads: int = 0) -> "CustomOpDef":
    """Makes a kernel an operator of torch: `torch.ops.lib.name`, and what is returned, a torch.library.CustomOpDef to call.

    `name` is "lib::name", `kernel` that of a kernel of the module (None: the only one; a Kernel may be given in the module's
    place, or one of tilevm.script, whose `constants` are those that are not its defaults). It must have an interface with a launch rule.
    The operator takes the arrays that the kernel reads or changes and then its scalars, in the order of the interface, by position or
    name; it returns the array of direction out, or a tuple if there are several.
    Arrays of direction inout are changed (mutates_args). Tensors must have the interface's dtype and rank; if the kernel cannot take
    their strides they are copied (and copied back), as operators of torch do. On a GPU the module needs machine code for it
    (Module.compile), or Device.allow_compile.

    `backward`: the kernel or kernels that compute gradients, by name, as a Kernel, or as a Gradient, which also renames arguments.
    They run in order. An argument of theirs is, by its name, an input, output or scalar of the forward kernel, `grad_Y` the gradient
    of its output Y, or a result of a kernel before; their results called `grad_X` are the gradients of its inputs X. Outputs whose
    gradient no kernel reads are not differentiable. Each of these kernels becomes an operator too: "lib::name_backward", "…_2", ….

    `check` and `threads` are those of Kernel.prepare, for launches on the CPU.

    Errors: ArgumentError names what of the interface does not fit. The operator raises those of Kernel.prepare.

        scale = tilevm.torch.op("mylib::scale", tilevm.load("scale.tile"), "scale")
        y = torch.compile(lambda x: scale(x, 2.0) + 1, fullgraph=True)(x)
    """
    chosen = chosen_kernel(module, kernel, constants)
    if not isinstance(name, str) or name.count("::") != 1 or not all(part.isidentifier() for part in name.split("::")):
        raise argument_error(f"{name!r} is no name of an operator", "give a library and a name, as in 'mylib::scale'")
    if backward is None:
        return _Operator(name, chosen, check, threads).definition
    from ._backward import TorchFormula

    formula = TorchFormula(name, chosen, backward, lambda n, k: _Operator(n, k, check, threads).definition)  # looked at before anything is registered
    definition = _Operator(name, chosen, check, threads).definition
    formula.register(definition)
    return definition


def _torch_dtype(element: str, of: str) -> "torch.dtype":
    found = BY_NAME[element].torch if element in BY_NAME and BY_NAME[element].bits >= 8 else ""
    dtype = getattr(torch, found, None) if found else torch.int8 if element == "f8E5M3FNU" else None
    if not isinstance(dtype, torch.dtype):
        raise argument_error(f"{of} is of {element}, for which torch has no dtype")
    return dtype


def _scalar_type(scalar: "Scalar") -> str:
    if scalar.element == "i1":
        return "bool"
    if scalar.element[0] == "i":
        return "SymInt"
    if scalar.element in BY_NAME and BY_NAME[scalar.element].is_float:
        return "float"
    raise argument_error(f"scalar `{scalar.name}` is of {scalar.element}: an operator of torch has no such arguments")


class _Operator:
    """A kernel and its operator."""

    def __init__(self, name: str, kernel: Kernel, check: "Optional[str]", threads: int) -> None:
        if not kernel.has_interface:
            raise argument_error(f"kernel `{kernel.readable}` has no interface, from which shapes of results would follow")
        if not kernel.grid:
            raise argument_error(f"kernel `{kernel.readable}` has no launch rule", "give its interface a `grid`")
        self.kernel = kernel
        self.rule = Rule(kernel, TorchSizes())
        self.taken, self.given = self.rule.taken, self.rule.given
        if not self.taken:
            raise argument_error(f"kernel `{kernel.readable}` takes no array: torch could not know on which device it runs")
        self.dtypes = {a.name: _torch_dtype(a.element, f"array `{a.name}` of kernel `{kernel.readable}`") for a in kernel.arrays}
        self.defaults: "List[Any]" = [None] * len(self.taken) + [s.default for s in kernel.scalars]
        self.cpu_options: "Dict[str, Any]" = {k: v for k, v in (("check", check), ("threads", threads)) if v}
        changed = [a.name for a in self.taken if a.direction == "inout"]
        self.definition = torch.library.custom_op(name, self.run, mutates_args=changed, device_types=("cpu", "cuda"), schema=self.schema())
        self.definition.register_fake(self.fake)

    def schema(self) -> str:
        for name in [*self.dtypes, *(s.name for s in self.kernel.scalars)]:
            import keyword

            if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
                raise argument_error(f"argument `{name}` of kernel `{self.kernel.readable}`: operators of torch cannot have arguments of that name",
                                     "rename it in the interface")
        arguments = [f"Tensor({chr(ord('a') + i) if i < 26 else f'a{i}'}!) {a.name}" if a.direction == "inout" else f"Tensor {a.name}"
                     for i, a in enumerate(self.taken)]
        for s in self.kernel.scalars:
            kind = _scalar_type(s)
            if s.default is not None:
                arguments.append(f"{kind} {s.name}={bool(s.default) if kind == 'bool' else s.default!r}")
            else:
                arguments.append(f"{kind}? {s.name}=None" if s.optional else f"{kind} {s.name}")
        results = ["Tensor"] * len(self.given)
        return f"({', '.join(arguments)}) -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"

    def complete(self, arguments: "Tuple[Any, ...]") -> "List[Any]":
        """The dispatcher leaves out last arguments that have their defaults."""
        return [*arguments, *self.defaults[len(arguments):]]

    def results(self, made: "Sequence[torch.Tensor]") -> "Any":
        return made[0] if len(made) == 1 else tuple(made) if made else None

    # --- with memory

    def run(self, *arguments: "Any") -> "Any":
        values = self.complete(arguments)
        back: "List[Tuple[torch.Tensor, torch.Tensor]]" = []
        for i, a in enumerate(self.taken):
            tensor = values[i]
            if not _takes_strides(a, tensor):
                values[i] = tensor.contiguous()
                if a.direction == "inout":
                    back.append((tensor, values[i]))
        first = values[0]
        place = torch_place(first.device)
        if place.startswith("cuda"):
            outputs = self.run_on_gpu(place, first.device, values)
        else:
            outputs = self.kernel(*values, **self.cpu_options)
        for tensor, copy in back:
            tensor.copy_(copy)
        return outputs

    def run_on_gpu(self, place: str, device: "torch.device", values: "List[Any]") -> "Any":
        """On the stream that torch uses there, without waiting."""
        stream = get_device(place).stream(torch.cuda.current_stream(device).cuda_stream)
        if not torch.cuda.is_current_stream_capturing():
            outputs = self.kernel(*values, stream=stream)
            stream.count_launch()
            return outputs
        return self.kernel.prepare(*values)(stream)  # a launch of its own: the graph keeps its workspaces, and others use theirs meanwhile

    # --- without

    def fake(self, *arguments: "Any") -> "Any":
        values = self.complete(arguments)
        tensors = {a.name: tensor for a, tensor in zip(self.taken, values)}
        scalars = {s.name: value for s, value in zip(self.kernel.scalars, values[len(self.taken):])}
        for name, tensor in tensors.items():
            wanted = self.dtypes[name]
            if not _same_bits(tensor.dtype, wanted):
                raise argument_error(f"array `{name}` is of {tensor.dtype}, the kernel takes {wanted}")
        shapes = self.rule.shapes(tensors, scalars)
        first = tensors[self.taken[0].name]
        return self.results([first.new_empty(shapes[a.name], dtype=self.dtypes[a.name]) for a in self.given])


_UNSIGNED = {"uint8": "int8", "uint16": "int16", "uint32": "int32", "uint64": "int64"}


def _same_bits(given: "torch.dtype", wanted: "torch.dtype") -> bool:
    """Integers are signless; a type without name in torch comes as int8."""
    name = str(given).rsplit(".", 1)[-1]
    return bool(given == wanted or _UNSIGNED.get(name) == str(wanted).rsplit(".", 1)[-1])


def _takes_strides(array: "Array", tensor: "torch.Tensor") -> bool:
    if not array.strided:
        return bool(tensor.is_contiguous())
    return all("constant" not in d or d["constant"] == step or size <= 1
               for d, step, size in zip(array.strides, tensor.stride(), tensor.shape))
