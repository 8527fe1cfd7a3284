"""Makes one file of a cuTile kernel, with machine code for a GPU beside the portable form, for programs without Python (launch.c).

    python examples/cutile/ship.py neighbours.tbc [GPU, as 90]...
"""
import io
import sys

import tilevm
import tilevm.cutile

tilevm.cutile.install(device="cpu")

import torch  # noqa: E402
from cuda.tile.compilation import CallingConvention, KernelSignature, export_kernel  # noqa: E402
from neighbours import TILE, neighbours  # noqa: E402


def main() -> None:
    out, *gpus = sys.argv[1:]
    array = torch.empty(1000, device="cuda")  # what is known of the arguments: element type, rank; alignment and strides, too
    signature = KernelSignature.from_kernel_args(neighbours, (array, array, 999, TILE), CallingConvention.cutile_python_v1())
    bytecode = io.BytesIO()
    export_kernel(neighbours, [signature.with_symbol("neighbours")], bytecode, gpu_code="sm_90", output_format="tileir_bytecode")
    module = tilevm.load(bytecode.getvalue(), "neighbours.py")
    if gpus:
        module = module.compile([int(gpu) for gpu in gpus])
    module.save(out)
    print(out, "has", *(f"{p.name}: {p.type}" for p in module["neighbours"].parameters))


if __name__ == "__main__":
    main()
