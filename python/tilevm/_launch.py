"""A launch whose arguments are bound: run it once or often."""
from __future__ import annotations

from . import _arrays, _tilevm
from ._errors import argument_error, entry
from ._stream import Stream, stream_of
from ._types import BY_NAME, BY_NUMBER, fits
from ._warnings import warn_caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Tuple

    from ._device import Device
    from ._interface import Array
    from ._kernel import Kernel


class _Copy:
    """An array of the host and its copy on a GPU."""

    __slots__ = ("view", "buffer", "back")

    def __init__(self, view: "_arrays.View", buffer: "Any", back: bool) -> None:
        self.view, self.buffer, self.back = view, buffer, back


def _records_gradients() -> bool:
    import sys

    return bool(sys.modules["torch"].is_grad_enabled()) if "torch" in sys.modules else False


def _check_element(argument: "Array", view: "_arrays.View") -> None:
    """Errors: ArgumentError for an array of other elements than the kernel takes."""
    wanted = BY_NAME.get(argument.element)
    if wanted is None or fits(view.element, wanted):
        return
    dtype = wanted.torch if view.library == "torch" else wanted.numpy
    written = f".to(torch.{dtype})" if view.library == "torch" else f'.astype("{dtype}")'
    if argument.direction == "out":
        raise argument_error(f"argument `{argument.name}` is of {BY_NUMBER[view.element.number].name}, the kernel gives {wanted.name}",
                             f"pass an array of {dtype or wanted.name}, or leave it out: then it is made")
    raise argument_error(f"argument `{argument.name}` is of {BY_NUMBER[view.element.number].name}, the kernel takes {wanted.name}",
                         f"{argument.name}{written}" if dtype else f"pass an array of {wanted.name}")


def _check_rank(argument: "Array", view: "_arrays.View") -> None:
    """Errors: ArgumentError for an array of another number of dimensions."""
    rank = len(view.shape)
    if rank != argument.rank:
        fix = f"{argument.name}.reshape(-1) has one" if argument.rank == 1 else \
            f"{argument.name}[None] has one more" if rank == argument.rank - 1 else "reshape it"
        raise argument_error(f"array `{argument.name}` has rank {rank}, the kernel takes rank {argument.rank}: {argument}, not {list(view.shape)}", fix)


def _check_strides(argument: "Array", view: "_arrays.View") -> None:
    """Errors: ArgumentError for strides that the kernel does not take."""
    if view.contiguous:
        return
    assert view.strides is not None
    copy = f"{argument.name}.contiguous()" if view.library == "torch" else f"numpy.ascontiguousarray({argument.name})"
    if any(s < 0 and n > 1 for s, n in zip(view.strides, view.shape)):
        raise argument_error(f"argument `{argument.name}` has a negative stride", f"copy it: {copy}")
    if not argument.strided:
        names = ", ".join(f"s{d}" for d in range(len(view.shape)))
        raise argument_error(f"argument `{argument.name}` has strides {list(view.strides)}, but must be row-major without gaps "
                             f"{list(_arrays.row_major(view.shape))}: the kernel takes no strides",
                             f"copy it: {copy}; or let the kernel take any: `strides [{names}]` behind the sizes of `{argument.name}` in its signature")


def element_number(argument: "Array", view: "_arrays.View") -> int:
    """The element type that an array is bound as."""
    wanted = BY_NAME.get(argument.element)
    return wanted.number if wanted is not None and fits(view.element, wanted) else view.element.number


class Launch(_tilevm.Launch):
    """Made by `Kernel.prepare`. Calling it runs the kernel on the arrays that were bound, with what they hold then.

        launch = kernel.prepare(x, out=y)
        for _ in range(100):
            launch()

    `launch(stream)` runs it and returns `outputs`. Without a stream the call waits; with one (a tilevm.Stream, torch.cuda.Stream, a
    CUstream's number) it does not, but for arrays that are copied back to the host. Errors: TrapError; StateError.

    `outputs`, `kernel`, `device`, `grid`. Keeps its arrays alive. Threads that call one launch wait for each other; prepare one for
    each."""

    kernel: "Kernel"
    device: "Device"
    outputs: "Any"

    stream: "Optional[Stream]"

    def begin(self, kernel: "Kernel", handle: "Any", device: "Device",
              options: "Tuple[int, int, Optional[Tuple[int, int, int]]]") -> None:
        """For Kernel.prepare; `options`: check level, threads, grid."""
        self.kernel_handle = handle
        self.options = options
        self.stream = None  # of the last run
        self.kernel = kernel
        self.device = device
        self.outputs = None
        self._kept: "List[object]" = []
        self.copies: "List[_Copy]" = []
        self._torch = False

    @property
    def grid(self) -> "Tuple[int, int, int]":
        """Blocks in x, y, z."""
        return self.get_grid()

    def __repr__(self) -> str:
        return f"<tilevm.Launch {self.kernel.readable} on {self.device.name}, grid {self.grid}>"

    @entry
    def _call(self, stream: "Any" = None) -> "Any":
        """Of calls whose form was not remembered."""
        on = stream_of(stream, self.device)
        wait = on is None
        if on is None and self._torch:  # in order with what torch does
            import sys

            on = stream_of(sys.modules["torch"].cuda.current_stream(self.device.ordinal), self.device)
        handle = None if on is None else on.handle
        self.stream = on
        if on is not None:
            on.note(self)
        for copy in self.copies:
            copy.buffer.copy(0, copy.view.address, copy.view.bytes, handle, True)
        self.run(handle)
        for copy in self.copies:
            if copy.back:
                copy.buffer.copy(0, copy.view.address, copy.view.bytes, handle, False)
        if on is not None and (wait or self.copies):
            on.synchronize()
        # Another call of this form needs nothing of what was done here. Without a stream it may: torch's current one is another then.
        if not self.copies and (not wait or on is None) and (stream is None or isinstance(stream, (Stream, int))):
            self.remember(stream, handle, self.outputs)
        else:
            self.remember()
        return self.outputs

    def keep(self, owner: object) -> None:
        """For frontends, which give addresses: the memory lives as long as the launch."""
        self._kept.append(owner)

    def address_of(self, view: "_arrays.View", back: bool) -> int:
        """For Kernel.prepare: on the device, of the array, or of its copy. Keeps the array alive."""
        self._kept.append(view.owner)
        if not self.device.is_gpu:
            return view.address
        self._torch |= view.library == "torch" and view.device != "cpu"
        if view.device != "cpu":
            return view.address
        buffer = _tilevm.Buffer(self.device.handle, view.bytes)
        self.copies.append(_Copy(view, buffer, back))
        return buffer.address()

    def bind(self, argument: "Array", value: "Any", view: "_arrays.View") -> None:
        """For Kernel.prepare: an array of the interface."""
        writes = argument.direction != "in"
        if writes and view.read_only:
            raise argument_error(f"argument `{argument.name}` ({argument.direction}) is read-only")
        wants_gradient = view.library == "torch" and getattr(value, "requires_grad", False) and _records_gradients()
        if wants_gradient and not writes:
            warn_caller("python.gradient", f"argument `{argument.name}` requires grad, and what the kernel gives has no gradient",
                        "make the kernel an operator (tilevm.torch.op with backward=), pass a detached tensor, or call under torch.no_grad()")
        if wants_gradient and writes:
            raise argument_error(f"argument `{argument.name}` ({argument.direction}) requires grad, but torch does not see what a kernel writes",
                                 "pass a detached tensor, call under torch.no_grad(), or make the kernel an operator (tilevm.torch.op)")
        if argument.element == "f4E2M1FN" and fits(view.element, BY_NAME[argument.element]):
            view = _arrays.unpacked(view, argument.name)
        _check_element(argument, view)
        _check_rank(argument, view)
        _check_strides(argument, view)
        strides = None if view.contiguous else view.strides
        self.set_array(argument.name, self.address_of(view, writes), element_number(argument, view), view.shape, strides)
