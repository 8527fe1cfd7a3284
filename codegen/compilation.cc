#include "codegen/compilation.h"

#include "codegen/llvm/machine.h"

namespace tile::codegen {

Compilation::Compilation(const ir::Module& from, const ir::Function& kernel, const CompileOptions& compile_options,
                         const Candidate& way)
    : Program(from, kernel,
              {.target = compile_options.target,
               .aligned = compile_options.aligned,
               .joins_blocks = compile_options.joins_blocks,
               .blocks_alone = compile_options.blocks_alone,
               .parts_blocks = compile_options.parts_blocks,
               .spreads = compile_options.spreads,
               .widens_k = compile_options.widens_k,
               .trace = compile_options.trace},
              way),
      options(compile_options) {}

Compilation::~Compilation() = default;

}  // namespace tile::codegen
