// From a kernel to PTX, by the passes of codegen/passes.def.
//
//   CompileOptions options;
//   options.target = FindTarget(90);
//   absl::StatusOr<Compiled> c = Compile(module, *module.functions[0], options);
//   c->ptx, c->threads, c->shared_bytes;
//
// `module` must be verified; it is not changed: the kernel is compiled from a copy. Same input, same options: same
// output. Errors are complete messages with file:line:col. Different modules may be compiled in different threads.
#ifndef TILE_CODEGEN_COMPILE_H_
#define TILE_CODEGEN_COMPILE_H_

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/target/permissions.h"
#include "codegen/target/target.h"
#include "codegen/trace/trace.h"
#include "ir/module.h"
#include "ir/tbc/image.h"

namespace tile::codegen {

struct Schedule;

enum class Joining : uint8_t { kNever, kWhereFaster, kAlways };

struct CompileOptions {
  const Target* target = nullptr;
  int opt_level = 3;       // of LLVM and ptxas, 0 … 3
  int num_warps = 0;       // 0: chosen by the plan
  bool line_info = false;  // source lines in the machine code
  // What the code may ask of launches: Compiled::requirements and Compiled::maps say what it does ask.
  Permissions permissions;
  // How many blocks a multiprocessor holds without May::kCoarsen; 0: not known. The gain of coarser blocks depends on it.
  int blocks_alone = 0;
  bool recomputes_addresses = false;  // in loops, for kernels that spill (llvm/recompute_addresses.h)
  // Whether BuildImages makes images of other grids (codegen/variants.def), and for which grids of fitting sizes.
  Joining joining = Joining::kWhereFaster;
  // The kernel is what this pass left (program_text.h): only those after it run. Empty: it is tile code.
  std::string start_after;
  bool verify_each = false;  // the program after each pass, for tests and those who change passes
  // With verify_each: how often the schedule of a program at the GPU level runs (gpu/schedule/run.h).
  int schedule_seeds = 10;
  Trace* trace = nullptr;  // texts, times and remarks of the passes; may be null
  // Called when the program is ready for LLVM, which takes most of the time from there to PTX. May be empty.
  std::function<void()> on_program;
  // Called with the program of the cheapest candidate, before the GPU level. It is gone afterwards. May be empty.
  std::function<void(const ir::Function& program, const Schedule& schedule)> on_tile_code;
};

struct Compiled {
  std::string ptx;
  std::string symbol;            // of the kernel in the PTX (symbol.h)
  int threads = 0;               // per block
  int64_t parameter_bytes = 0;   // with those of the runtime and descriptors
  uint64_t shared_bytes = 0;     // dynamic shared memory per block
  uint64_t workspace_bytes = 0;  // device memory per block
  // What the code needs beyond its parameters: descriptors, in order after them; conditions under which it may be used.
  std::vector<ir::TmaDescriptor> maps;
  bool makes_maps = false;                 // descriptors of tensors that the host does not know
  bool one_row = false;                    // the hardware's grid is x·y, 1, z of the launch's
  bool persistent = false;                 // or a row of fewer blocks
  std::array<int64_t, 2> joined = {1, 1};  // blocks of the launch's grid that are one, along x and y
  int64_t joined_least = 0;                // blocks of the launch's grid along that dimension, of fewer they stay alone
  int blocks = 1;                          // that a multiprocessor is to hold
  bool multiplies = false;                 // there are matrix products
  bool chain = false;                      // several products, of which one makes what another multiplies
  int64_t parts = 1;                       // hardware blocks, side by side along x, that are one
  ir::Expr spread;                         // so many hardware blocks along x have a tile each; empty: others
  std::array<int64_t, 2> joined_cycles = {0, 0};  // what a block takes without either, and with it, in comparison
  bool widens_k = false;                          // iterations along K became fewer; a requirement says for which sizes
  int cluster_dim = -1;  // clusters of 2, 1, 1 do for grids whose size in this dimension is even
  std::vector<ir::ImageRequirement> requirements;
  std::vector<ir::ImageSite> sites;  // what may report something at run time
  int llvm_instructions = 0;         // after optimisation
  bool is_large = false;             // few of LLVM's passes have run (llvm/large_function.h)
};

// The passes, in order, and what their text is (Trace::on_text).
struct PassInfo {
  const char* name;
  const char* text;
  bool of_program;    // its text can be read back (passes/gpu_text.h)
  bool of_tile_code;  // of those it is tile code, which a VM runs (passes/tile_code.h), and not the GPU level
  bool optional;      // the program is valid without it (Trace::left_out)
};
absl::Span<const PassInfo> AllPasses();

// Error: the kernel cannot be compiled with these permissions, for instance because shared memory does not hold its tiles.
absl::StatusOr<Compiled> Compile(const ir::Module& module, const ir::Function& function, const CompileOptions& options);

// The same for an image beside others. It is none if the pass that its permissions are for found nothing to change, or if no candidate fits.
struct Attempt {
  enum class Outcome : uint8_t { kCompiled, kUnchanged, kDoesNotFit };
  Outcome outcome = Outcome::kCompiled;
  Compiled compiled;
  absl::Status why_not;  // it does not fit
};
absl::StatusOr<Attempt> TryCompile(const ir::Module& module, const ir::Function& function,
                                   const CompileOptions& options);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_COMPILE_H_
