"""Run by Python at start, for child processes of `python -m tilevm.cutile`, `tilevm.triton` and `tilevm.tilus`: installs tilevm there, then
does what the sitecustomize of the environment does."""
import os
import sys

_BESIDE = os.environ.get("TILEVM_BESIDE", "").split(",")


def _install(frontend: str, variable: str) -> None:
    try:
        import importlib

        if frontend in _BESIDE:
            importlib.import_module(f"tilevm.{frontend}._install").install_beside()
        else:
            importlib.import_module(f"tilevm.{frontend}").install(os.environ[variable])
    except Exception as error:  # Python goes on without a sitecustomize that fails, and says too little
        print(f"tilevm.{frontend}: not installed in this process: {error}", file=sys.stderr)


def _next() -> None:
    import importlib.machinery

    here = os.path.dirname(os.path.abspath(__file__))
    path = [part for part in sys.path if os.path.abspath(part) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is not None and spec.loader is not None:
        import importlib.util

        spec.loader.exec_module(importlib.util.module_from_spec(spec))


for _frontend in sorted(("cutile", "triton", "tilus"), key=lambda frontend: frontend in _BESIDE):
    if f"TILEVM_{_frontend.upper()}_DEVICE" in os.environ:
        _install(_frontend, f"TILEVM_{_frontend.upper()}_DEVICE")
_next()
