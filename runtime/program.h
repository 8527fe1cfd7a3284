// A module with its machine code: what a device loads kernels from. Immutable and thread-safe once made.
//
//   absl::StatusOr<std::shared_ptr<const Program>> p = Program::FromFile("kernel.tbc");
//   const ir::Function* f = (*p)->module->FindFunction("scale");
//
// Errors are InvalidArgument: no .tbc file, a damaged one, one that the verifier rejects (every mistake is listed).
#ifndef TILE_RUNTIME_PROGRAM_H_
#define TILE_RUNTIME_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "ir/tbc/image.h"

namespace tile::runtime {

struct Program {
  std::shared_ptr<const ir::Module> module;
  std::vector<ir::Image> images;
  ir::Sha256Digest code_hash = {};                  // of the code section; images with another one are not used
  std::vector<std::shared_ptr<const void>> memory;  // what payloads of images are in

  // The bytes are copied if there are images, which refer to them.
  static absl::StatusOr<std::shared_ptr<const Program>> FromBytes(absl::Span<const uint8_t> bytes,
                                                                  const std::string& name);
  // Mapped; the file must not be shortened while the program lives.
  static absl::StatusOr<std::shared_ptr<const Program>> FromFile(const std::string& path);
};

// Reads the images of a .tbc file, and the hash of its code, into a program whose module is there already. `bytes` must
// live as long as the program.
absl::Status ReadImages(absl::Span<const uint8_t> bytes, const std::string& name, Program* program);

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_PROGRAM_H_
