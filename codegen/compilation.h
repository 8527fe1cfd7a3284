// What the passes of codegen/passes.def hand on to each other: a copy of the kernel, which carries all decisions about it, and what
// it becomes.
//
//   Compilation c(module, function, options, candidate);
//   absl::Status s = RunPasses(c);      // codegen/pipeline.h
//   c.result, or why not: c.fit
//
// A kernel that is read back from the text of a pass (passes/gpu_text.h) goes on with the passes behind that one.
#ifndef TILE_CODEGEN_COMPILATION_H_
#define TILE_CODEGEN_COMPILATION_H_

#include <memory>

#include "absl/status/status.h"
#include "codegen/compile.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"

namespace tile::codegen {

class LlvmCode;

// How loops over products may be compiled.
enum class Ahead : uint8_t { kNothing, kCopies, kTma };
// How they are, behind the pass `fetch`.
Ahead AheadOf(const ir::Function& function);

// One way to compile a kernel: the most that it may fetch ahead.
struct Candidate {
  Ahead ahead = Ahead::kNothing;
  int most_stages = 0;
};

// Whether a candidate can be compiled: all that other candidates may do better.
enum class Fit : uint8_t { kFits, kTooMuchShared, kTooManyRegisters };

struct Compilation {
  Compilation(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
              const Candidate& candidate);
  ~Compilation();

  const CompileOptions& options;
  const Target& target;
  const Candidate candidate;
  const std::unique_ptr<ir::Module> module;  // with this one kernel
  ir::Function* const function;
  // The trace of the options, or one that nobody reads.
  Trace& trace() { return options.trace != nullptr ? *options.trace : unread_; }
  void Remark(absl::string_view about, absl::string_view what);

  // Schedule, Emit
  Fit fit = Fit::kFits;  // else what the error is about
  // Layouts
  LayoutTable layouts;
  // Emit
  std::unique_ptr<LlvmCode> llvm;
  // Emit, Optimise, Ptx
  Compiled result;

 private:
  Trace unread_;
};

#define TILE_PASS(Name, ...) absl::Status Name##Pass(Compilation& c);
#define TILE_TOOL(...)
#include "codegen/passes.def"

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_COMPILATION_H_
