"""Shared libraries that use Abseil."""

def _flag_impl(_ctx):
    return []

flag = rule(
    implementation = _flag_impl,
    build_setting = config.bool(flag = True),
)

def _with_shared_abseil(_settings, _attr):
    return {"//third_party/absl:use_shared": True}

_shared_abseil = transition(
    implementation = _with_shared_abseil,
    inputs = [],
    outputs = ["//third_party/absl:use_shared"],
)

def _shared_library_impl(ctx):
    built = ctx.attr.library[0][DefaultInfo].files.to_list()[0]
    out = ctx.actions.declare_file(ctx.label.name + "/" + built.basename)
    ctx.actions.symlink(output = out, target_file = built)
    files = [out]
    for program, path in ctx.attr.programs.items():
        beside = ctx.actions.declare_file(ctx.label.name + "/" + path)
        ctx.actions.symlink(output = beside, target_file = program[DefaultInfo].files_to_run.executable, is_executable = True)
        files.append(beside)
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))]

# NAME/libX.so: a cc_binary(linkshared = True), which is to be tagged "manual", linked with Debian's shared Abseil. Programs
# that it starts lie in the same folder.
shared_library = rule(
    implementation = _shared_library_impl,
    attrs = {
        "library": attr.label(cfg = _shared_abseil, mandatory = True),
        "programs": attr.label_keyed_string_dict(),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
    },
)
