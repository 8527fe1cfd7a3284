"""Fuzz targets that are ordinary tests too."""

def fuzz_test(name, srcs, deps = [], corpus = [], programs = [], **kwargs):
    """A test over a source that defines LLVMFuzzerTestOneInput.

    `bazel test :NAME` runs every file of the corpus once, with any compiler. With --config=fuzz it
    searches for ten seconds instead. To search for longer:

        bazel run --config=fuzz :NAME -- -max_total_time=600 [FOLDER OF INPUTS]

    Args:
      name: of the test.
      srcs: sources, with `extern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t)`.
      deps: libraries.
      corpus: input files, or labels of groups of them.
      programs: what the test starts, beside where it runs.
      **kwargs: what else cc_test takes.
    """
    native.cc_test(
        name = name,
        srcs = srcs,
        args = select({
            "//third_party/fuzzer:fuzzing": ["-max_total_time=10"],
            "//conditions:default": ["$(rootpaths %s)" % files for files in corpus],
        }),
        data = corpus + programs,
        deps = deps + ["//third_party/fuzzer"],
        **kwargs
    )
