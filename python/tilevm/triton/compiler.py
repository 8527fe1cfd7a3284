"""The compiler of the back end: Triton's own passes to TTIR, as NVIDIA's back end has them, then a .tbc, for a GPU with machine code in it.

Options are those of NVIDIA's back end in the version of Triton that is there, so that kernels are the same as on a GPU; those of AMD's
are taken and mean nothing.
"""
from __future__ import annotations

import dataclasses
import functools
import re

from triton.backends.nvidia import compiler as _nvidia

from .. import _module
from .._errors import UnsupportedError
from .._release import __version__
from . import _promises
from ._install import installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Collection, Dict

# A program asks how many blocks fit on a multiprocessor by dividing by these. On the cpu: what every block takes of a GPU of 8.0 and
# newer, and a common number of registers.
RESERVED_SHARED_BYTES = 1024
REGISTERS = 32


@functools.lru_cache(None)
def _foreign_options() -> "frozenset[str]":
    """Of other back ends."""
    try:
        from triton.backends.amd import compiler
    except ImportError:
        return frozenset()
    return frozenset(field.name for field in dataclasses.fields(compiler.HIPOptions))


class TilevmBackend(_nvidia.CUDABackend):  # type: ignore[misc]
    """For targets of NVIDIA, while tilevm is installed in this process."""

    def __init__(self, target: "Any") -> None:
        super().__init__(target)
        self.binary_ext = "tbc"

    @staticmethod
    def supports_target(target: "Any") -> bool:
        return installed() is not None and target.backend == "cuda"

    def hash(self) -> str:
        """Of what compiles: Triton keeps kernels on disk by it."""
        state = installed()
        return f"tilevm-{__version__}-{_module.digest_of_compiler()}-{'gpu' if state and state.is_gpu else 'cpu'}-{self.target.arch}"

    def load_dialects(self, ctx: "Any") -> None:
        super().load_dialects(ctx)
        _promises.keep()  # before a kernel is translated

    def parse_options(self, opts: "Dict[str, Any]") -> "Any":
        options = super().parse_options(opts)
        for name in opts:
            if name not in options.__dict__ and name in _foreign_options():
                object.__setattr__(options, name, opts[name])
        return options

    def add_stages(self, stages: "Dict[str, Any]", options: "Any", language: "Any" = None) -> None:
        if getattr(language, "name", "TRITON") != "TRITON":
            raise UnsupportedError("error[triton.gluon]: Gluon kernels are written for the threads and layouts of one GPU: tilevm runs "
                                   "tile kernels\n  fix: write the kernel in triton.language")
        theirs: "Dict[str, Any]" = {}
        super().add_stages(theirs, options, language)
        stages["ttir"] = theirs["ttir"]
        stages["tbc"] = lambda module, metadata: self.make_tbc(str(module), metadata, options)

    def make_tbc(self, text: str, metadata: "Dict[str, Any]", options: "Any") -> bytes:
        """The file of a kernel, from its TTIR. Errors: ModuleError with the Python line of what is not supported."""
        found = re.search(r'tt\.func public @("([^"]*)"|[\w$.]+)', text)
        name = (found[2] or found[1]) if found else ""
        metadata["name"] = name
        metadata["makes_pointers"] = "tt.int_to_ptr" in text or "!tt.ptr<!tt.ptr" in text
        metadata["rounds_to_tf32"] = _TF32.search(text) is not None
        metadata["shared"], metadata["registers"] = RESERVED_SHARED_BYTES, REGISTERS
        if not getattr(options, "enable_fp_fusion", True):
            text = without_fusion(text)
        metadata["descriptors"] = text if _DESCRIPTOR.search(text) else ""  # may be wanted with another padding
        return to_tbc(text, name, re.sub(r"\D", "", str(options.arch)) or str(self.target.arch))


_TF32 = re.compile(r"tt\.dot [^\n]*\binputPrecision = tf32\b[^\n]*: tensor<[\dx]*xf32> \* ")  # written for other types, too
_DESCRIPTOR = re.compile(r"!tt\.tensordesc<(?:[^<>]|<[^<>]*>)*>( \{)?")


def to_tbc(text: str, name: str, arch: str) -> bytes:
    """Of TTIR; with machine code for `arch` ("90") if kernels run on a GPU. Errors: ModuleError."""
    module = _module.load(text.encode(), name=f"{name}.ttir")
    state = installed()
    return (module.compile(arch) if state is not None and state.is_gpu else module).to_bytes()


def without_fusion(text: str) -> str:
    """TTIR in which a product stays a rounding of its own, whatever adds to it: Triton's enable_fp_fusion=False."""
    begin = text.index("tt.func public")
    end = text.index("\n", begin)
    return text[:begin] + text[begin:end].replace(" attributes {", " attributes {tilevm.fp_fusion = false, ", 1) + text[end:]


def padded_with_nan(text: str, which: "Collection[int]") -> str:
    """TTIR whose parameters that are descriptors, counted by themselves, read NaN outside of their tensors."""
    begin = text.index("tt.func public")
    end = text.index("\n", begin)
    count = -1

    def mark(match: "re.Match[str]") -> str:
        nonlocal count
        count += 1
        if count not in which:
            return match[0]
        return match[0].removesuffix(" {") + ' {tilevm.padding = "nan"' + (", " if match[1] else "}")

    return text[:begin] + _DESCRIPTOR.sub(mark, text[begin:end]) + text[end:]
