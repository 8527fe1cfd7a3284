// Machine code as text, by CUDA's nvdisasm or cuobjdump.
//
//   absl::StatusOr<std::string> text = Disassemble(cubin);
//
// Where they are looked for: TILEC_NVDISASM (a path to either), CUDA_HOME, CUDA_PATH, /usr/local/cuda, PATH. NotFound if there
// is none; Unavailable if it can't be run or fails. Thread-safe.
#ifndef TILE_CODEGEN_ASSEMBLE_DISASSEMBLE_H_
#define TILE_CODEGEN_ASSEMBLE_DISASSEMBLE_H_

#include <string>

#include "absl/status/statusor.h"

namespace tile::codegen {

std::string FindDisassembler();
absl::StatusOr<std::string> Disassemble(const std::string& cubin);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_DISASSEMBLE_H_
