"""Kernels compiled once per instruction set.

    isa_cc_library(name = "elementwise_kernels", srcs = ["elementwise_integer.cc"], hdrs = [...], deps = [...])

compiles every source three times on x86-64, with -DTILE_VM_ISA=v2, v3 and v4, and elsewhere once, with
-DTILE_VM_ISA=generic. The source puts all that it defines into `namespace tile::vm::TILE_VM_ISA`; isa.h tells how a
caller picks one at run time. NAME_symbols_test checks that no symbol escapes from that namespace.
"""

_MARCH = {
    "v2": "x86-64-v2",
    "v3": "x86-64-v3",
    "v4": "x86-64-v4",
}

# Results must not depend on the instruction set, so nothing here may change a value: no contraction, no reassociation.
# Only the side effects of <math.h> and of floating-point traps are given up.
_COPTS = [
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-exceptions",
    "-fno-asynchronous-unwind-tables",
    "-Wno-psabi",
]

# The least of several, which machines from before 2013 and plain emulators run: small rather than fast.
_LEAST = "v2"

def isa_cc_library(name, srcs, hdrs = [], deps = [], copts = [], least_copts = [], visibility = None):
    """A cc_library whose sources are compiled for each instruction set.

    Args:
      least_copts: more options for the least of them
    """
    for isa in list(_MARCH) + ["generic"]:
        native.cc_library(
            name = name + "_" + isa,
            srcs = srcs,
            hdrs = hdrs,
            copts = _COPTS + copts + (["-march=" + _MARCH[isa]] if isa in _MARCH else []) +
                    (least_copts if isa == _LEAST else []),
            linkstatic = True,
            local_defines = ["TILE_VM_ISA=" + isa],
            tags = ["manual"],  # Only those of the machine's architecture are built, through the rules below.
            visibility = ["//visibility:private"],
            deps = deps,
        )
    isas = select({
        "//vm/kernels:x86_64": [name + "_" + isa for isa in _MARCH],
        "//conditions:default": [name + "_generic"],
    })

    native.filegroup(
        name = name + "_isas",
        testonly = True,
        srcs = isas,
    )
    native.sh_test(
        name = name + "_symbols_test",
        size = "small",
        srcs = ["//vm/kernels:isa_symbols_test.sh"],
        args = ["$(locations :%s_isas)" % name],
        data = [name + "_isas"],
    )
    native.cc_library(
        name = name,
        hdrs = hdrs,
        visibility = visibility,
        deps = deps + isas,
    )
