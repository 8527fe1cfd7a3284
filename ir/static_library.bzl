"""One archive of a library and all that it is made of, for programs that are built elsewhere."""

def _static_library_impl(ctx):
    # Objects where Bazel hands them to the linker by themselves, else archives.
    pieces = {}
    for library in ctx.attr.deps:
        for linked in library[CcInfo].linking_context.linker_inputs.to_list():
            for piece in linked.libraries:
                objects = piece.objects or piece.pic_objects
                archive = piece.static_library or piece.pic_static_library
                if objects:
                    pieces.update({o: "addmod" for o in objects})
                elif archive:
                    pieces[archive] = "addlib"
    out = ctx.actions.declare_file("lib%s.a" % ctx.label.name)
    script = "create %s\n" % out.path + "".join(["%s %s\n" % (how, file.path) for file, how in pieces.items()]) + "save\nend\n"
    ctx.actions.run_shell(
        inputs = pieces.keys(),
        outputs = [out],
        command = "ar -M <<'END'\n%sEND" % script,
        mnemonic = "CcStaticLibrary",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

static_library = rule(
    implementation = _static_library_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)
