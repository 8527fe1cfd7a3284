"""Schedules. Tilus builds all of a tuning space and measures them; tune="first" takes the first one that can be built."""
from __future__ import annotations

import re
import time

from .._errors import UnsupportedError
from ._install import installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def measure(run_func: "Callable[[], Any]", warmup: int = 1, repeat: int = 5, clear_l2_cache: bool = True) -> float:
    """Milliseconds of one call, in the place of tilus.utils.benchmark_func; the VM's times vary little, and are long."""
    begin = time.perf_counter()
    run_func()
    return (time.perf_counter() - begin) * 1000


def prepare(module: "Any") -> None:
    """Changes tilus.lang.instantiated_script, which builds and measures schedules."""
    instance = module.JitInstance
    original_init, original_build = instance.__init__, instance._build_programs

    def init(self: "Any", script_cls: "Any", call_params: "Any", build_options: "Any", schedules: "Any", jit_key: "Any") -> None:
        state = installed()
        if state is None or state.tune != "first" or len(schedules) < 2:
            original_init(self, script_cls, call_params, build_options, schedules, jit_key)
            return
        for number, schedule in enumerate(schedules):
            try:
                original_init(self, script_cls, call_params, build_options, [schedule], jit_key)
                self._build_programs()
                return
            except (RuntimeError, UnsupportedError) as error:
                if number == len(schedules) - 1 or re.search(r"error\[tilus\.(groups|cluster)\]", str(error)):
                    raise

    def build(self: "Any") -> None:
        try:
            original_build(self)
        except RuntimeError:
            raise_ours([text for text, _ in self.failed_building])
            raise

    instance.__init__, instance._build_programs = init, build


def raise_ours(texts: "list[str]") -> None:
    """Errors: UnsupportedError, if one of these texts of failed builds is an error of tilevm."""
    for text in texts:
        found = re.search(r"^ *[\w.]*Error: (.*error\[tilus\.[\s\S]*)", text, re.M)
        if found:
            raise UnsupportedError(found[1].rstrip()) from None
