"""Calls of torch with device="cuda": done on the CPU; their tensors say that they are on "cuda:0".

A tensor is on "cuda" unless it was made on the CPU: by a function without a device, by `.cpu()`, from NumPy, or from such tensors only.
Those are marked. What torch makes by itself, gradients for example, is not, and is on "cuda".
"""
from __future__ import annotations

import functools
import importlib
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
    TorchFunctionMode: Any
else:
    import torch
    from torch.overrides import TorchFunctionMode

from ... import _arrays, _tilevm
from . import fresh, numerics, random, reads

_defaults: Any = importlib.import_module("torch.utils._device")

_CPU = torch.device("cpu")
_CUDA = torch.device("cuda", 0)
_MARK = "_tilevm_on_cpu"
_PLAIN = "_tilevm_plain"  # of a method in the place of torch's, that one: the mode is handed the method that a tensor has

_real_device = torch.Tensor.device.__get__

# Questions about a tensor that have nothing to do with where it is. A launch asks many.
_QUESTIONS = frozenset([getattr(torch.Tensor, name) for name in ("data_ptr", "numel", "nelement", "size", "stride", "dim", "is_contiguous",
                                                                 "element_size", "storage_offset", "untyped_storage", "is_floating_point")]
                       + [getattr(torch.Tensor, name).__get__ for name in ("dtype", "shape", "ndim", "layout", "requires_grad", "is_leaf")])

# Those that run code of the caller, outside of this mode.
_CALL_BACK = frozenset(("backward", "grad"))
_FACTORIES = ("zeros", "ones", "empty", "full", "rand", "randn", "randint", "arange", "tensor", "zeros_like", "ones_like", "empty_like",
              "full_like", "randn_like", "rand_like", "randint_like", "eye", "linspace", "logspace", "randperm", "empty_strided",
              "as_tensor", "asarray", "scalar_tensor", "range", "normal", "from_numpy", "frombuffer")


def _named(device: Any) -> "Optional[str]":
    """"cuda" or "cpu", if it is the name of one; a number is one of a GPU."""
    if isinstance(device, torch.device):
        return device.type if device.type in ("cuda", "cpu") else None
    if isinstance(device, str):
        kind = device.split(":")[0]
        return kind if kind in ("cuda", "cpu") else None
    return None


def on_cpu(tensor: Any) -> bool:
    """Whether the tensor is one of the CPU to the program."""
    return _MARK in tensor.__dict__


def marked_as_cpu(tensor: Any) -> Any:
    """The tensor, which is one of the CPU to the program from here on."""
    tensor.__dict__[_MARK] = True
    return tensor


def _mark(result: Any, cpu: bool, arguments: "Tuple[Any, ...]") -> None:
    if isinstance(result, torch.Tensor):
        if cpu and not any(result is a for a in arguments):
            result.__dict__[_MARK] = True
    elif isinstance(result, (tuple, list)):
        for item in result:
            _mark(item, cpu, arguments)


def _tensors(values: Any) -> "list[Any]":
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += _tensors(value)
    return found


def _to(function: "Callable[..., Any]", arguments: "Tuple[Any, ...]", keywords: "Dict[str, Any]", target: "Optional[str]") -> Any:
    """`.to`, `.cpu`, `.cuda`: between the two a copy, as there is one."""
    source = arguments[0]
    if target is None:
        others = [a for a in arguments[1:] if isinstance(a, torch.Tensor)]
        if others:
            target = "cpu" if on_cpu(others[0]) else "cuda"
    result = function(*arguments, **keywords)
    if not isinstance(source, torch.Tensor) or not isinstance(result, torch.Tensor):
        return result
    was_cpu = on_cpu(source)
    is_cpu = was_cpu if target is None else target == "cpu"
    if is_cpu != was_cpu and fresh.has_memory(result) and result.data_ptr() == source.data_ptr():
        result = result.clone()
    if result is not source:
        result.__dict__.pop(_MARK, None)
        if is_cpu:
            result.__dict__[_MARK] = True
    return result


def _is_default(function: "Callable[..., Any]") -> bool:
    """Whether this is a factory within `with torch.device("cuda")`, or under torch.set_default_device: torch may say so after us."""
    default = _defaults.CURRENT_DEVICE
    return default is not None and default.type == "cuda" and function in _defaults._device_constructors()


def _call(function: "Callable[..., Any]", arguments: "Tuple[Any, ...]", keywords: "Dict[str, Any]") -> Any:
    """A function of torch, outside of the mode."""
    name = getattr(function, "__name__", "")
    target = None
    if "device" in keywords:
        target = _named(keywords["device"])
        if target == "cuda" or (isinstance(keywords["device"], int) and not isinstance(keywords["device"], bool)):
            target = "cuda"
            keywords["device"] = _CPU
    for i, value in enumerate(arguments):
        if isinstance(value, (torch.device, str)):
            named = _named(value)
            target = named or target
            if named == "cuda":
                arguments = (*arguments[:i], _CPU, *arguments[i + 1:])
    if target is None and _is_default(function) and keywords.get("device") is None:
        target = "cuda"
        keywords["device"] = _CPU
    keywords.pop("pin_memory", None)
    if arguments and hasattr(arguments[0], "_tilevm_host"):  # of the CuPy that stands for a GPU's (cupy_cpu)
        arguments = (arguments[0]._tilevm_host, *arguments[1:])
        target = target or "cuda"
    if isinstance(keywords.get("generator"), random.CudaGenerator):
        keywords["generator"] = keywords["generator"].plain()
    if name == "to":
        result = _to(function, arguments, keywords, target)
        reads.see(name, arguments, keywords, result)
        return result
    if name in numerics.CHANGED:
        result = numerics.call(function, name, arguments, keywords)
    elif name in fresh.GROWING and fresh.wanted():
        before = fresh.bytes_of(arguments[0])
        result = function(*arguments, **keywords)
        fresh.note(result, before)
    else:
        result = function(*arguments, **keywords)
        if name in fresh.NAMES and fresh.wanted():
            fresh.note(result)
    if name in reads.NAMES:
        reads.see(name, arguments, keywords, result)
    if target is None:
        sources = _tensors(arguments) + _tensors(keywords.values())
        cpu = all(map(on_cpu, sources)) if sources else True
    else:
        cpu = target == "cpu"
    if cpu:
        _mark(result, True, arguments)
    return result


class Redirect(TorchFunctionMode):  # type: ignore[misc]
    """In every thread."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _QUESTIONS:
            return func(*args, **(kwargs or {}))
        func = getattr(func, _PLAIN, func)
        keywords = dict(kwargs or {})
        if func is torch.device:
            return func(*args, **keywords)
        if getattr(func, "__name__", "") not in _CALL_BACK:
            return _call(func, args, keywords)
        with torch._C.DisableTorchFunction():  # it would come here again
            return func(*args, **keywords)


def _anywhere(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """A factory for where the mode is not: threads and callbacks that torch itself starts."""

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if _named(keywords.get("device")) == "cuda":
            keywords["device"] = _CPU
            result = function(*arguments, **keywords)
            if isinstance(result, torch.Tensor):
                result.__dict__.pop(_MARK, None)
        else:
            result = function(*arguments, **keywords)
        if not _in_mode() and function.__name__ in fresh.NAMES and fresh.wanted():
            fresh.note(result)
        return result

    return call


def _in_mode() -> bool:
    """Whether calls of torch come to the mode."""
    return not torch._C._is_torch_function_all_disabled() and torch._C._len_torch_function_stack() > 0


def _to_anywhere(function: "Callable[..., Any]") -> "Callable[..., Any]":
    """Tensor.to, also where the mode is not: in backward functions."""

    @functools.wraps(function)
    def to(*arguments: Any, **keywords: Any) -> Any:
        if not _in_mode():
            return _call(function, arguments, keywords)
        return function(*arguments, **keywords)

    setattr(to, _PLAIN, function)
    return to


def _device_of(tensor: Any) -> Any:
    real = _real_device(tensor)
    return _CUDA if real.type == "cpu" and _MARK not in tensor.__dict__ else real


def _move(target: str, name: str) -> "Callable[..., Any]":
    def move(tensor: Any, *arguments: Any, **keywords: Any) -> Any:
        return _to(lambda t: t, (tensor,), {}, target)

    move.__name__ = name
    return move


def _patch_tensor() -> None:
    tensor: Any = torch.Tensor
    tensor.device = property(_device_of)
    tensor.is_cuda = property(lambda t: _device_of(t).type == "cuda")
    tensor.is_cpu = property(lambda t: _device_of(t).type == "cpu")
    tensor.get_device = lambda t: 0 if _device_of(t).type == "cuda" else -1
    tensor.to = _to_anywhere(tensor.to)
    tensor.cuda = _move("cuda", "cuda")
    tensor.cpu = _move("cpu", "cpu")
    tensor.pin_memory = lambda t, *a, **k: t
    tensor.is_pinned = lambda t, *a, **k: on_cpu(t)
    tensor.record_stream = lambda t, stream: None
    torch.nn.Module.cuda = lambda m, device=None: m._apply(lambda t: t.cuda())


def _leave_defaults_to_us() -> None:
    """torch.set_default_device("cuda") is a mode below ours: _call() sees to it, and what comes there are CPU tensors that we make."""
    context: Any = _defaults.DeviceContext
    original = context.__torch_function__

    def torch_function(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.device.type == "cuda" and torch._C._len_torch_function_stack() == 0:
            return func(*args, **(kwargs or {}))
        return original(self, func, types, args, kwargs)

    context.__torch_function__ = torch_function


def _not_compiled(model: Any = None, **options: Any) -> Any:
    """torch.compile, which would write kernels for a GPU, or trace a torch that is not as it knows it: the function as it is."""
    return (lambda function: function) if model is None else model


def _from_dlpack(original: "Callable[..., Any]") -> "Callable[..., Any]":
    @functools.wraps(original)
    def from_dlpack(ext_tensor: Any, *arguments: Any, **keywords: Any) -> Any:
        host = getattr(ext_tensor, "_tilevm_host", None)
        return original(ext_tensor, *arguments, **keywords) if host is None else torch.as_tensor(host, device="cuda")

    return from_dlpack


def _in_new_threads() -> None:
    start = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def bootstrap(thread: "threading.Thread") -> None:
        with Redirect():
            start(thread)

    threading.Thread._bootstrap_inner = bootstrap  # type: ignore[attr-defined]


def install(module: Any) -> None:
    """For good, in this thread and those that start later."""
    _defaults._device_constructors()  # remembers the factories as they are, for `with torch.device("cuda")`
    for name in _FACTORIES:
        if hasattr(module, name):
            setattr(module, name, _anywhere(getattr(module, name)))
    # cuTile's extension asks this function for tensors, without more arguments, and takes those of GPUs only.
    module._C._to_dlpack = functools.partial(_tilevm.as_cuda_dlpack, module._C._to_dlpack)
    for name in ("new_tensor", "new_zeros", "new_ones", "new_empty", "new_full", "new_empty_strided"):
        setattr(torch.Tensor, name, _anywhere(getattr(torch.Tensor, name)))
    module.from_dlpack = module.utils.dlpack.from_dlpack = _from_dlpack(module.from_dlpack)
    module.compile = _not_compiled
    _leave_defaults_to_us()
    _patch_tensor()
    _in_new_threads()
    _arrays.tell_where_torch_cuda_is("cpu")  # tilevm's own kernels run where the tensors are
    Redirect().__enter__()
