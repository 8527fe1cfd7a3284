"""CUDA Tile C++ in a build: NVIDIA's nvcc, if this machine has one that compiles it.

    # WORKSPACE
    nvcc_configure(name = "nvcc")

    # BUILD
    load("@nvcc//:nvcc.bzl", "NVCC", "NO_NVCC")      # a path or "", and why there is none

The nvcc that TILEVM_NVCC names in the environment, else that of the PATH; install.sh gets one. Bazel looks again when these
variables change.
"""

def _find(ctx):
    nvcc = ctx.os.environ.get("TILEVM_NVCC", "") or str(ctx.which("nvcc") or "")
    if not nvcc:
        return "", "no nvcc: TILEVM_NVCC is not set, and there is none on the PATH"
    if not ctx.path(nvcc).exists:
        return "", "TILEVM_NVCC names %s, which is not there" % nvcc
    if "--enable-tile" not in ctx.execute([nvcc, "--help"]).stdout:
        return "", "%s has no --enable-tile: it is older than CUDA 13.3" % nvcc
    return nvcc, ""

def _nvcc_impl(ctx):
    nvcc, why = _find(ctx)
    ctx.file("BUILD.bazel", "")
    ctx.file("nvcc.bzl", "NVCC = %s\nNO_NVCC = %s\n" % (repr(nvcc), repr(why)))

nvcc_configure = repository_rule(
    implementation = _nvcc_impl,
    environ = ["TILEVM_NVCC", "PATH"],
    local = True,
)
