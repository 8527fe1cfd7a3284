#include "codegen/compilation.h"

#include "codegen/llvm/machine.h"

namespace tile::codegen {

Compilation::Compilation(const ir::Module& from, const ir::Function& kernel, const CompileOptions& compile_options,
                         const Candidate& way)
    : Program(from, kernel,
              {.target = compile_options.target,
               .permissions = compile_options.permissions,
               .blocks_alone = compile_options.blocks_alone,
               .trace = compile_options.trace},
              way),
      options(compile_options) {}

Compilation::~Compilation() = default;

}  // namespace tile::codegen
