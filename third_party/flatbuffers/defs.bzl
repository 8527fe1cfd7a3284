"""C++ headers from FlatBuffers schemas, by the system's flatc (package flatbuffers-compiler)."""

FLATC_ARGS = [
    "--cpp",
    "--cpp-std c++17",
    "--scoped-enums",
    "--warnings-as-errors",
]

def flatbuffer_cc_library(name, src, flatc_args = FLATC_ARGS, **kwargs):
    """Makes a cc_library of the header generated from one schema.

    Args:
      name: of the library. Include its header as "folder/of/src/BASE_generated.h".
      src: the schema, BASE.fbs, which includes no other schema.
      flatc_args: options for flatc.
      **kwargs: visibility, testonly and tags of the library.
    """
    header = src.replace(".fbs", "_generated.h")
    native.genrule(
        name = name + "_flatc",
        srcs = [src],
        outs = [header],
        cmd = "flatc %s -o $(@D) $<" % " ".join(flatc_args),
        message = "Compiling schema",
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        hdrs = [header],
        deps = ["//third_party/flatbuffers"],
        **kwargs
    )
