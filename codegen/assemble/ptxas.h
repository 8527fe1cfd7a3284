// PTX to machine code by a `ptxas` executable, or without one by nvJitLink (codegen/assemble/nvjitlink.h). The executable comes first:
// a mistake in it does not end this process.
//
//   absl::StatusOr<Assembled> a = Assemble(ptx, "sm_90a", {});
//   a->cubin, a->log;    // the log holds registers, spills and warnings
//
// Where ptxas is looked for: TILEC_PTXAS, CUDA_HOME, CUDA_PATH, /usr/local/cuda, PATH. TILEC_PTXAS or TILEC_NVJITLINK say
// which of the two it is to be. Thread-safe.
#ifndef TILE_CODEGEN_ASSEMBLE_PTXAS_H_
#define TILE_CODEGEN_ASSEMBLE_PTXAS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tile::codegen {

struct AssembleOptions {
  int opt_level = 3;
  bool line_info = false;
};

struct Assembled {
  std::string cubin;
  std::string log;
  int registers = 0;    // per thread
  int spill_bytes = 0;  // stores and loads
  int stack_bytes = 0;
};

// NotFound if there is no assembler; Unavailable if it cannot be run; ResourceExhausted with its words if it finds no
// registers for the kernel, Internal if it rejects the PTX for another reason.
absl::StatusOr<Assembled> Assemble(const std::string& ptx, const std::string& arch, const AssembleOptions& options);

// The same begun before there is PTX: ptxas takes 10 ms until it reads, in which LLVM may work. Dropped without Finish, it ends.
//
//   Assembly assembly("sm_90a", {});
//   … make ptx …
//   absl::StatusOr<Assembled> a = assembly.Finish(ptx);
//
// Finish may be called in another thread, once.
class Assembly {
 public:
  Assembly(const std::string& arch, const AssembleOptions& options);
  ~Assembly();
  absl::StatusOr<Assembled> Finish(const std::string& ptx);

 private:
  struct Running;
  std::string arch_;
  AssembleOptions options_;
  std::unique_ptr<Running> running_;  // null: nothing could be begun
};

// What Assemble uses; without a path: nothing was found.
struct Assembler {
  std::string path;
  bool in_process = false;  // it is nvJitLink
};
Assembler FindAssembler();
// Where ptxas was found, empty if nowhere. For `tilec doctor`.
std::string FindPtxas();
// What `ptxas --version` says; empty if there is none.
std::string PtxasVersion();
// The newest PTX version that the ptxas in use reads, major * 10 + minor; 0: there is none, or it does not say. A GPU needs one that
// knows its PTX version (codegen/target/targets.def).
int NewestPtx();
// The device library of CUDA (libdevice.10.bc), empty if nowhere; TILEC_LIBDEVICE names it.
std::string FindLibdevice();

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_PTXAS_H_
