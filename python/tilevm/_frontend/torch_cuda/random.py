"""Random numbers of "cuda": the CPU's, of generators whose state is told as a GPU's is: a seed and an offset, 16 bytes.

    seed, offset = torch.cuda.default_generators[0].get_state().view(torch.int64)

Programs that draw numbers in their own kernels take both from there, and set the state with a greater offset.
"""
from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any, Tuple

if TYPE_CHECKING:  # torch need not be installed where hints are checked
    torch: Any
    _Generator = object
else:
    import torch

    _Generator = torch.Generator

_real: Any = _Generator
_KEPT = 1000  # states that can be gone back to; of others only seed and offset are known


class CudaGenerator(_Generator):
    """A generator of "cuda": of numbers of its own, or another name of `source`."""

    def __new__(cls, source: Any = None) -> "CudaGenerator":
        made: "CudaGenerator" = super().__new__(cls)
        return made

    def __init__(self, source: Any = None) -> None:
        self.source = source
        self._kept: "collections.OrderedDict[Tuple[int, int], Any]" = collections.OrderedDict()
        self._note(int(_real.initial_seed(self.plain())), 0)

    @property
    def device(self) -> Any:
        return torch.device("cuda", 0)

    def plain(self) -> Any:
        """The one that draws."""
        return self if self.source is None else self.source

    def _note(self, seed: int, offset: int) -> None:
        """This is its state now."""
        self._at = seed % 2**64, offset % 2**64
        self._state = self._kept[self._at] = _real.get_state(self.plain())
        self._kept.move_to_end(self._at)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def get_state(self) -> Any:
        if not torch.equal(_real.get_state(self.plain()), self._state):  # numbers were drawn
            self._note(self._at[0], self._at[1] + 4)
        words = [word - 2**64 if word >= 2**63 else word for word in self._at]
        return torch.tensor(words, dtype=torch.int64, device="cpu").view(torch.uint8)

    def set_state(self, new_state: Any) -> "CudaGenerator":
        seed, offset = (int(word) % 2**64 for word in new_state.cpu().view(torch.int64))
        if (seed, offset) in self._kept:
            _real.set_state(self.plain(), self._kept[seed, offset])
        else:
            _real.manual_seed(self.plain(), (seed + offset * 0x9E3779B97F4A7C15) % 2**64)
        self._note(seed, offset)
        return self

    def manual_seed(self, seed: int) -> "CudaGenerator":
        _real.manual_seed(self.plain(), seed)
        self._note(seed, 0)
        return self

    def seed(self) -> int:
        seed: int = _real.seed(self.plain())
        self._note(seed, 0)
        return seed

    def initial_seed(self) -> int:
        return self._at[0]

    def get_offset(self) -> int:
        self.get_state()
        return self._at[1]

    def set_offset(self, offset: int) -> None:
        self.set_state(torch.tensor([self._at[0] - 2**64 if self._at[0] >= 2**63 else self._at[0], offset]))

    def clone_state(self) -> "CudaGenerator":
        other = CudaGenerator()
        _real.set_state(other, _real.get_state(self.plain()))
        other._note(*self._at)
        return other


class GeneratorType(type):
    """torch.Generator: what says "cuda" draws on the CPU."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _real)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _real)

    def __call__(cls, device: Any = "cpu") -> Any:
        on_cuda = isinstance(device, int) or torch.device(device).type == "cuda"
        return CudaGenerator() if on_cuda else _real("cpu")


def install(module: Any) -> None:
    cuda = module.cuda
    generator = CudaGenerator(module.default_generator)
    module.Generator = GeneratorType("Generator", (), {})
    cuda.default_generators = (generator,)
    for place in (cuda, cuda.random):
        place.manual_seed = place.manual_seed_all = lambda seed: generator.manual_seed(seed) and None
        place.seed = place.seed_all = lambda: generator.seed() and None
        place.initial_seed = lambda: generator.initial_seed()
        place.get_rng_state = lambda device=None: generator.get_state()
        place.set_rng_state = lambda state, device=None: generator.set_state(state) and None
        place.get_rng_state_all = lambda: [generator.get_state()]
        place.set_rng_state_all = lambda states: generator.set_state(states[0]) and None
