// What the passes of codegen/passes.def hand on to each other: the program (passes/program.h), and what it becomes.
//
//   Compilation c(module, function, options, candidate);
//   absl::Status s = RunProgramPasses(c);      // codegen/pipeline.h; if it fails: c.fit
//   s = RunMachinePasses(c);
//   c.result
//
// A kernel that is read back from the text of a pass (passes/gpu_text.h) goes on with the passes after that one.
#ifndef TILE_CODEGEN_COMPILATION_H_
#define TILE_CODEGEN_COMPILATION_H_

#include <memory>

#include "absl/status/status.h"
#include "codegen/compile.h"
#include "codegen/passes/program.h"
#include "ir/module.h"

namespace tile::codegen {

class LlvmCode;

struct Compilation : Program {
  Compilation(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
              const Candidate& candidate);
  ~Compilation();

  const CompileOptions& options;
  std::unique_ptr<ir::Module> before;  // the program before the GPU level, for CompileOptions::verify_each
  std::unique_ptr<LlvmCode> llvm;
  Compiled result;
};

// The passes, each over what its level works on.
using TileLevel = Program;
using GpuLevel = Program;
using LlvmLevel = Compilation;
using PtxLevel = Compilation;
#define TILE_PASS(Function, level, ...) absl::Status Function(level##Level&);
#define TILE_TOOL(...)
#include "codegen/passes.def"

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_COMPILATION_H_
