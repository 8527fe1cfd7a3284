// PTX to machine code in this process, by CUDA's library nvJitLink, which is opened when it is first needed: for machines
// that have the library (it comes alone, without a toolkit) and no ptxas.
//
//   const std::string library = FindNvJitLink();                        // "" if there is none
//   absl::StatusOr<Linked> l = AssembleInProcess(library, ptx, {"-arch=sm_90a", "-Xptxas=-v"});
//
// Where it is looked for: TILEC_NVJITLINK (and nowhere else if that is set), below CUDA_HOME, CUDA_PATH, /usr/local/cuda,
// where the system finds libraries. Thread-safe.
#ifndef TILE_CODEGEN_ASSEMBLE_NVJITLINK_H_
#define TILE_CODEGEN_ASSEMBLE_NVJITLINK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tile::codegen {

// A path, or a name for dlopen.
std::string FindNvJitLink();

struct Linked {
  std::string cubin;
  std::string log;  // the words of the assembler inside
};

// Unavailable if the library can't be opened or lacks a function; Internal with its words if it rejects the PTX.
absl::StatusOr<Linked> AssembleInProcess(const std::string& library, const std::string& ptx,
                                         const std::vector<std::string>& options);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_NVJITLINK_H_
