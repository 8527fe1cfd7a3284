"""triton.autotune on the cpu. Times of the VM say nothing about a GPU, so that a configuration is measured once, or the first one taken.

A kernel that changes its arguments in place runs once for each configuration, and a GPU leaves what all of these runs made of them. Here
the memory is put back after each trial, and a warning names the arguments.
"""
from __future__ import annotations

import functools
import threading
import time

from .._frontend.trials import Memory
from .._warnings import KernelWarning
from ._install import installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional

_SHORT = 0.1  # seconds: what is over sooner, compiling included, is measured again without

_local = threading.local()  # `trial`: what is measured


class _Trial:
    """Of one configuration. `watched`: what a second run changes is told, once for each autotuner."""

    def __init__(self, tuner: "Any", arguments: "Dict[str, Any]") -> None:
        self.memory = Memory(arguments)
        self.watched = not getattr(tuner, "_tilevm_watched", False)
        self.tuner = tuner

    def tell(self, once: "List[bytes]", twice: "List[bytes]") -> None:
        """What the arrays hold after one run, and after two."""
        import warnings

        self.tuner._tilevm_watched = True
        names = [name for name in self.memory.different(once, twice) if name not in self.tuner.reset_to_zero]
        if not names:
            return
        code = self.tuner.base_fn.__code__
        text = ", ".join(f"`{name}`" for name in names)
        listed = ", ".join(repr(name) for name in names)
        warnings.warn_explicit(KernelWarning(
            f"warning[triton.autotune]: kernel `{self.tuner.base_fn.__name__}` changes {text} in place, and triton.autotune runs it once "
            f"for each configuration: on a GPU the result is that of all these runs. Here {text} is put back after each\n"
            f"  fix: pass restore_value=[{listed}] to triton.autotune, or reset_to_zero if the kernel adds to zeros",
            "triton.autotune"), KernelWarning, code.co_filename, code.co_firstlineno)


def measure(kernel_call: "Callable[[], object]", quantiles: "Any" = None, **options: "Any") -> "Any":
    """Milliseconds of a call: a number, or as often as there are quantiles."""
    best = float("inf")
    trial: "Optional[_Trial]" = getattr(_local, "trial", None)
    watched = trial is not None and trial.watched
    after: "List[List[bytes]]" = []
    for _ in range(2):
        start = time.perf_counter()
        kernel_call()
        took = time.perf_counter() - start
        best = min(best, took)
        if trial is not None and watched:
            after.append(trial.memory.read())
        elif took > _SHORT:
            break
    if trial is not None and watched:
        trial.tell(*after)
    return best * 1e3 if quantiles is None else [best * 1e3] * len(quantiles)


def prepare(module: "Any") -> None:
    """Makes Triton's autotuner (triton.runtime.autotuner) leave memory as it was, and take the first configuration if that is asked for."""
    state = installed()
    if state is None or state.is_gpu:
        return
    prune, bench = module.Autotuner.prune_configs, module.Autotuner._bench

    @functools.wraps(prune)
    def prune_configs(self: "Any", kwargs: "Dict[str, Any]") -> "List[Any]":
        configs: "List[Any]" = list(prune(self, kwargs))  # a program's own pruning may give them one by one
        state = installed()
        return configs[:1] if state is not None and state.tune == "first" else configs

    @functools.wraps(bench)
    def _bench(self: "Any", *args: "Any", config: "Any", **meta: "Any") -> "Any":
        trial = _local.trial = _Trial(self, {**self.nargs, **meta})
        try:
            return bench(self, *args, config=config, **meta)
        finally:
            _local.trial = None
            trial.memory.put_back()

    module.Autotuner.prune_configs, module.Autotuner._bench = prune_configs, _bench
