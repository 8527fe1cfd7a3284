"""Launches of Triton's kernels as files that `tilevm diff` takes, and the first operation whose result differs on a GPU.

    recorder = Recorder(triton.runtime.driver.active)        # in the answer's process, before the first launch
    recorder.folder = "/tmp/x"                               # from here on each launch is written there
    differing("/tmp/x", "--device=cuda", "--compile")        # where the judge is: "answer.py:8:21: the first result that differs, of mulf, …"

What a launch reads is written before it runs. Arrays are those from their first element to the end of their memory.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

    from ._cases import Case
    from ._judge import Judge

_LIST = "launches.jsonl"
_SECONDS = 120.0  # for both runs of a launch and the compiler


class Recorder:
    """`folder`: where launches go; "": nowhere."""

    def __init__(self, active: "Any") -> None:
        self.folder = ""
        self._programs: "Dict[int, Tuple[Any, bytes]]" = {}  # by the identity of what is launched, which is kept
        load = active.utils.load_binary

        def load_binary(name: str, kernel: bytes, *more: "Any") -> "Any":
            made = load(name, kernel, *more)
            self._programs[id(made[1])] = made[1], bytes(kernel)
            return made

        active.utils.load_binary = load_binary

    def note(self, source: "Any", arguments: "Any") -> None:
        """`arguments`: what Triton calls a launcher with. A launch with what `tilevm diff` has no form for is left out."""
        if not self.folder or id(arguments[4]) not in self._programs:
            return
        stem = os.path.join(self.folder, str(len(os.listdir(self.folder))))
        words = []
        for number, (kind, value) in enumerate(zip(source.signature.values(), arguments[9:])):
            if kind != "constexpr":
                words.append(_word(value, f"{stem}-{number}.npy"))
        if None in words:
            return
        with open(f"{stem}.tbc", "wb") as file:
            file.write(self._programs[id(arguments[4])][1])
        with open(os.path.join(self.folder, _LIST), "a", encoding="utf-8") as text:
            text.write(json.dumps([f"{stem}.tbc", "--grid=" + ",".join(map(str, arguments[:3])), *words]) + "\n")


def _word(value: "Any", path: str) -> "Optional[str]":
    if type(value) in (int, float):
        return repr(value)
    if type(value) is bool:
        return str(int(value))
    if not hasattr(value, "untyped_storage") or value.dtype is sys.modules["torch"].bfloat16:
        return None
    import numpy

    torch = sys.modules["torch"]
    with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        count = value.untyped_storage().nbytes() // value.element_size() - value.storage_offset()
        try:
            numpy.save(path, value.detach().as_strided((count,), (1,)).cpu().numpy())
        except TypeError:  # no type of NumPy's
            return None
    return path


def differing(folder: str, *options: str) -> str:
    """What `tilevm diff` says of the first launch that differs with these options, or why it cannot compare one; "" if none differs."""
    from .. import tool

    path = os.path.join(folder, _LIST)
    lines = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    for words in map(json.loads, lines):
        done = subprocess.run([tool("tilevm"), "diff", *words, *options, "--json"], capture_output=True, text=True, timeout=_SECONDS, check=False)
        if done.returncode == 3:
            said = json.loads(done.stdout)
            first = said.get("first_op") or {}
            text = str(first.get("text", "")).splitlines()
            where = f"{first.get('where')}: the first result that differs, of {first.get('op')}, " if first else "no operation was found, "
            return where + (text[0] if text else f"an argument of {os.path.basename(words[0])} differs")
        if done.returncode:
            return f"tilevm diff cannot compare its launches: {(done.stderr.splitlines() or ['it ended'])[0]}"
    return ""


def first_operation(judge: "Judge", case: "Case", *options: str) -> str:
    """Where a launch of the answer differs from the VM's, which has the right result for this case; "" where it has not."""
    from ._judge import Failed, Judge, Options
    from ._process import Bounds, Server
    from ._reference import Refused

    with Server(judge.server.imports) as server:
        vm = Judge(judge.task, judge.answer, server, judge.entry, Options(probes=False, bounds=Bounds(sandbox=False)), judge.reference)
        try:
            if vm.try_case(case) is not None:
                return ""
            with tempfile.TemporaryDirectory() as folder:
                judge.call(judge.arguments(case), record=folder)
                return differing(folder, *options) or "no launch differs by itself"
        except (Failed, Refused):
            return ""
        finally:
            vm.close()


__all__: "List[str]" = ["Recorder", "differing", "first_operation"]
