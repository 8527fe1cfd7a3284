"""Writes every launch of Tilus kernels as files that gpu_check and `tilevm replay` read (tools/launch/record.h).

    recorder.record(folder)                                                    # after tilevm.tilus.install()
    TILUS_RECORDS=FOLDER python -m tilevm.tilus -m pytest -p recorder …        # as a plugin of pytest

A launch that traps leaves no files.
"""
import ctypes
import json
import os
import pathlib
import shutil

from tilevm._frontend import memory
from tilevm._types import BY_NUMBER
from tilevm.tilus import _launch

_program = None  # the one whose arguments are being bound


class RecordedLaunch(_launch.Launch):
    folder = None
    number = 0

    def begin(self, *args):
        super().begin(*args)
        self.blocks, self.words, self.elements, self.program = [], {}, {}, _program

    def add_memory(self, name, address, number, shape, strides):
        super().add_memory(name, address, number, shape, strides)
        steps = strides or [0] * (len(shape) - 1) + [1]
        count = 0 if 0 in shape else 1 + sum((n - 1) * step for n, step in zip(shape, steps)) if strides else _product(shape)
        self.blocks.append((address, (count * BY_NUMBER[number].bits + 7) // 8))
        self.elements[address] = BY_NUMBER[number].name

    def set_parameter(self, index, word):
        super().set_parameter(index, word)
        self.words[index] = word

    def __call__(self, *args):
        blocks = _merged(self.blocks)
        RecordedLaunch.number += 1
        base = self.folder / f"{RecordedLaunch.number:04d}_{self.program.kernel.readable}"
        before = b"".join(ctypes.string_at(begin, end - begin) for begin, end in blocks)
        made = super().__call__(*args)
        shutil.copy(self.program.program_dir / "kernel.tile", f"{base}.tile")
        pathlib.Path(f"{base}.before").write_bytes(before)
        pathlib.Path(f"{base}.after").write_bytes(b"".join(ctypes.string_at(begin, end - begin) for begin, end in blocks))
        about = {"symbol": self.program._about["name"], "grid": list(self.get_grid()), "sizes": [end - begin for begin, end in blocks],
                 "params": [self._parameter(i, blocks) for i in sorted(self.words)]}
        pathlib.Path(f"{base}.json").write_text(json.dumps(about))
        return made

    def _parameter(self, index, blocks):
        known = self.program._about["parameters"]
        about = known[index] if index < len(known) else {**self.program._about["workspaces"][index - len(known)], "pointer": True}
        word = self.words[index]
        if not about["pointer"]:
            return ["scalar", about["element"], _value(about["element"], word)]
        for number, (begin, end) in enumerate(blocks):
            if begin <= word < end:
                return ["pointer", number, word - begin, self._element(word, about["element"])]
        return ["scalar", "i64", word]

    def _element(self, address, element):
        """The element type of the tensor at an address, if the program passes it as a pointer to bytes."""
        tensor = memory._noted.get(address, lambda: None)()
        known = str(tensor.dtype) if tensor is not None else self.elements.get(address, element)
        return known if element == "i8" else element


def _product(numbers):
    made = 1
    for n in numbers:
        made *= n
    return made


def _value(element, word):
    """The number that the bits of a scalar stand for."""
    formats = {"f16": "e", "f32": "f", "f64": "d"}
    if element in formats:
        import struct

        return struct.unpack(f"<{formats[element]}", word.to_bytes(8, "little")[:struct.calcsize(formats[element])])[0]
    bits = int(element[1:])
    word &= (1 << bits) - 1
    return word - (1 << bits) if bits > 1 and word >> (bits - 1) else word


def _merged(blocks):
    """Memory (begin, end) without overlaps."""
    found = []
    for begin, size in sorted(blocks):
        if found and begin < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], begin + size))
        elif size:
            found.append((begin, begin + size))
    return found


def record(folder):
    """Every launch from here on, in this process."""
    RecordedLaunch.folder = pathlib.Path(folder)
    RecordedLaunch.folder.mkdir(parents=True, exist_ok=True)
    bind = _launch.CompiledProgram._bind

    def bind_and_note(self, *args):
        global _program
        _program = self
        return bind(self, *args)

    _launch.Launch = RecordedLaunch
    _launch.CompiledProgram._bind = bind_and_note


def pytest_configure(config):
    record(os.environ["TILUS_RECORDS"])
