"""Foreign programs on the simulator: a folder that compile_triton.py or compile_cute.py has filled, run and compared.

    program = Program(folder / "bf16.json")
    result = program.run(simulator, seed=3, lateness=1)       # "right", "wrong", or what the simulator says
"""

import json

import numpy
import problems
import simulator

SCRATCH_BYTES = 1 << 20  # what Triton's kernels take for tensor maps that they make
WRONG = "wrong"
RIGHT = "right"


class Program:
    def __init__(self, path, ptx=None):
        self.name = path.stem
        self.launch = json.loads(path.read_text())
        self.ptx = path.with_suffix(".ptx").read_text() if ptx is None else ptx

    def run(self, sim, seed, lateness):
        problem = problems.make(self.launch["problem"], numpy.random.default_rng(seed))
        try:
            kernel = sim.load(self.ptx)
        except RuntimeError as error:
            return str(error)
        arrays = [sim.array(a) if isinstance(a, numpy.ndarray) else a for a in problem.arguments]
        held = [a for a in arrays if isinstance(a, simulator.Array)]
        try:
            arguments = self.arguments(sim, kernel, arrays, held)
            error = sim.launch(kernel, self.launch["grid"], self.launch["threads"], self.launch["shared"], arguments, seed, lateness,
                               self.launch.get("cluster", (1, 1, 1)), self.launch.get("ptxas_waits", False))
            if error is not None:
                return error
            return RIGHT if problems.error_of(problem, arrays[problem.output].get()) <= problem.tolerance else WRONG
        finally:
            for array in held:
                array.free()
            kernel.unload()

    def arguments(self, sim, kernel, arrays, held):
        """As the kernel's parameters are: those of the launch's table, or the arrays and scalars; then Triton's scratch memory."""
        if "parameters" in self.launch:
            return [parameter_of(sim, p, arrays) for p in self.launch["parameters"]]
        arguments = list(arrays)
        while len(arguments) < kernel.num_parameters:
            arguments.append(sim.array(numpy.zeros(SCRATCH_BYTES, numpy.uint8)))
            held.append(arguments[-1])
        return arguments


def parameter_of(sim, p, arrays):
    """{"bytes": [...]}, {"map": argument, …}, {"argument": index}."""
    if "bytes" in p:
        return (simulator.ctypes.c_uint8 * len(p["bytes"]))(*p["bytes"])
    if "map" in p:
        return sim.tensor_map(arrays[p["map"]], p["sizes"], p["box"], p["element_bytes"], p["type"], p["swizzle"])
    return arrays[p["argument"]]
