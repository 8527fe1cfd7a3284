"""Tasks as KernelBench has them: a class Model, get_inputs and get_init_inputs, whose sizes are constants of the file.

    batch_size = 4096                                    # tried with 64
    dim = 393216                                         # tried with 48
    def get_inputs(): return [torch.rand(batch_size, dim)]

These sizes are meant for a GPU: an example may take gigabytes. So the constants of the module are reduced, from very small numbers upwards, and the
largest example that fits is taken. A reduced size keeps its odd part and its parity, so that heads, groups and strides still divide it.
"""
from __future__ import annotations

from . import _values
from ._reference import flatten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Dict, List, Optional, Tuple

SEED = 20260101
_MOST_ELEMENTS = 1 << 17  # of inputs and parameters together
_LEAST = 16  # smaller constants are no sizes: axes, strides, groups
_CAPS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 1 << 14, 1 << 16, 1 << 20)


class Example:
    """`model`, `init` (arguments of its class), `inputs` of a call, `reduced`: constants that were changed, from what to what."""

    def __init__(self, module: "ModuleType", constants: "Dict[str, Any]") -> None:
        import torch

        before = {name: getattr(module, name) for name in constants}
        vars(module).update(constants)
        self.reduced = {name: (before[name], value) for name, value in constants.items() if value != before[name]}
        self.init = tuple(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else ()
        by_name = len(self.init) == 2 and isinstance(self.init[0], (list, tuple)) and isinstance(self.init[1], dict)
        torch.manual_seed(SEED)
        self.model = module.Model(*self.init[0], **self.init[1]) if by_name else module.Model(*self.init)
        self.model.eval()
        torch.manual_seed(SEED)
        self.inputs: "Tuple[Any, ...]" = tuple(module.get_inputs())

    @property
    def elements(self) -> int:
        arrays = [a for a in flatten(list(self.inputs)) if _values.is_array(a)]
        return sum(_values.count(a) for a in [*arrays, *self.model.parameters()])


def largest(module: "ModuleType") -> Example:
    """The largest example that fits, or the smallest that there is. Errors: what the module raises, if no example works."""
    import torch

    whole = {name: value for name, value in vars(module).items() if not name.startswith("_") and _most(value) >= _LEAST}
    found: "Optional[Example]" = None
    raised: "Optional[Exception]" = None
    tried: "List[Dict[str, Any]]" = []
    for cap in _CAPS:
        constants = _reduced(whole, cap)
        if constants in tried:
            continue
        tried.append(constants)
        vars(module).update(whole)
        try:
            example = Example(module, constants)
            with torch.no_grad():
                example.model(*example.inputs)
        except Exception as error:  # noqa: BLE001  # sizes that do not fit each other
            raised = error
            continue
        if found is not None and example.elements > _MOST_ELEMENTS:
            break
        found = example
        if example.elements > _MOST_ELEMENTS or constants == whole:
            break
    vars(module).update(whole)
    if found is None:
        assert raised is not None
        raise raised
    vars(module).update({name: value for name, (_, value) in found.reduced.items()})  # the model may read them when it is called
    return found


def _most(value: "Any") -> int:
    """The largest of the integers that a constant is made of; 0 if it is none."""
    if type(value) is int:
        return value
    return max(map(_most, value), default=0) if isinstance(value, (tuple, list)) and all(type(v) is int for v in value) else 0


def _reduced(whole: "Dict[str, Any]", cap: int) -> "Dict[str, Any]":
    """Different sizes stay different where they can."""
    taken: "Dict[int, int]" = {}

    def one(size: int) -> int:
        if size <= max(cap, _LEAST - 1):
            return size
        small = size
        while small > cap or taken.get(small, size) != size and small > 4:
            small = small >> 1 | size & 1 if small > 3 else small >> 1
        taken[small] = size
        return max(1, small)

    return {name: one(value) if type(value) is int else type(value)(map(one, value)) for name, value in whole.items()}


def remark(example: Example) -> str:
    """What was reduced, as a remark of the verdict; "" for nothing."""
    changes = ", ".join(f"{name} {old} -> {new}" for name, (old, new) in example.reduced.items())
    return f"sizes of the task were reduced: {changes}" if changes else ""
