"""Programs of programs/ against NumPy, and each of them with one mistake of its synchronisation, which must be found. Run by test_tilus.py with
every check. A mistake replaces text of the program, which is then loaded from a file of its own."""
import importlib.util
import pathlib

import pytest
import tilevm
import tilus

PROGRAMS = pathlib.Path(__file__).parent / "programs"
NEED_ATOMICS = ("buckets", "histogram")
HAS_ATOMICS = hasattr(tilus.Script, "atomic") or "atomic" in getattr(tilus.Script, "__annotations__", {})

# Program, its text, which of the places with that text (0 is the first), what stands there instead, what the message is to name.
MISTAKES = [
    ("double_buffer", "self.copy_async_wait_group(1)", 0, "self.copy_async_wait_group(2)", "vm.missing_token"),
    ("double_buffer", "self.sync()", 0, "pass", "vm.missing_token"),
    ("double_buffer", "self.sync()", 1, "pass", "vm.missing_token"),
    ("double_buffer", "self.copy_async_commit_group()", 1, "pass", "vm.missing_token"),
    ("split_k", "self.lock_semaphore(turn, value=self.blockIdx.z)", 0, "pass", "vm.race"),
    ("split_k", "self.lock_semaphore(turn, value=self.blockIdx.z)", 0, "self.lock_semaphore(turn, value=1)", "vm.deadlock"),
    ("split_k", "self.sync()", 0, "pass", "vm.race"),
    ("softmax", "self.sync()", 0, "pass", "vm.missing_token"),
    ("softmax", "self.sync()", 1, "pass", "vm.missing_token"),
    ("softmax", "self.store_shared(s, acc)\n            self.sync()", 0, "self.sync()\n            self.store_shared(s, acc)", "vm.missing_token"),
    ("histogram", "self.sync()", 0, "pass", "vm.missing_token"),
    ("histogram", "self.sync()", 1, "pass", "vm.missing_token"),
    ("histogram", "self.atomic.global_add(gout, found)", 0,
     "self.store_global(gout, self.load_global(gout, offsets=[0], shape=[self.bins]) + found, offsets=[0])", "vm.race"),
    ("layer_norm", "self.copy_async_wait_all()", 0, "pass", "vm.missing_token"),
    ("layer_norm", "self.sync()", 0, "pass", "vm.missing_token"),
    ("layer_norm", "self.sync()", 1, "pass", "vm.missing_token"),
    ("transpose", "self.sync()", 0, "pass", "vm.missing_token"),
    ("transpose", "self.sync()", 1, "pass", "vm.missing_token"),
    ("transpose", "self.store_shared(s, x)\n            self.sync()", 0, "self.sync()\n            self.store_shared(s, x)", "vm.missing_token"),
    ("pipeline", "self.copy_async_commit_group()\n        stage", 0, "pass\n        stage", "vm.missing_token"),
    ("pipeline", "self.copy_async_wait_group(self.stages - 2)", 0, "self.copy_async_wait_group(self.stages - 1)", "vm.missing_token"),
    ("pipeline", "self.sync()", 0, "pass", "vm.missing_token"),
    ("pipeline", "self.copy_async_commit_group()  # of the loop", 0, "pass", "vm.missing_token"),
    ("buckets", "self.sync()", 0, "pass", "vm.missing_token"),
    ("buckets", "self.sync()", 1, "pass", "vm.missing_token"),
    ("buckets", "self.atomic.global_add(gcounts, self.load_shared(counts))", 0,
     "self.store_global(gcounts, self.load_global(gcounts, offsets=[0], shape=[self.buckets]) + self.load_shared(counts), offsets=[0])", "vm.race"),
]


def load(name, text, folder):
    """The module of a program with this text."""
    if name in NEED_ATOMICS and not HAS_ATOMICS:
        pytest.skip("this Tilus has no Script.atomic; 0.2.0 does not")
    file = folder / f"{name}.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("name", sorted(file.stem for file in PROGRAMS.glob("*.py")))
def test_a_program_agrees_with_numpy(name, odd, tmp_path):
    load(name, (PROGRAMS / f"{name}.py").read_text(), tmp_path).run(odd)


@pytest.mark.parametrize("name, old, which, new, code", MISTAKES)
def test_a_mistake_is_found(name, old, which, new, code, tmp_path):
    parts = (PROGRAMS / f"{name}.py").read_text().split(old)
    assert which + 1 < len(parts), f"the program has {len(parts) - 1} of {old!r}"
    text = old.join(parts[:which + 1]) + new + old.join(parts[which + 1:])
    with pytest.raises(tilevm.TrapError) as caught:
        load(name, text, tmp_path).run(False)
    assert caught.value.code == code and f"{name}.py:" in str(caught.value), str(caught.value)
