// A kernel as a device image: compiled, assembled, with all that a runtime needs to launch it.
//
//   absl::StatusOr<BuiltImage> i = BuildImage(module, *module.functions[0], options, ir::ImageKind::kCubin);
//   images.push_back(i->image);        // `image.payload` lies in i->payload
//   WriteTbc(module, {.images = images});
//
// Errors as of Compile and Assemble. Thread-safe like Compile.
#ifndef TILE_CODEGEN_BUILD_IMAGE_H_
#define TILE_CODEGEN_BUILD_IMAGE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/assemble/ptxas.h"
#include "codegen/compile.h"
#include "ir/tbc/image.h"

namespace tile::codegen {

struct BuiltImage {
  ir::Image image;
  std::unique_ptr<std::string> payload;  // cubin or PTX
  Compiled compiled;
  Assembled assembled;       // of a cubin
  std::string largest_tile;  // Trace::largest_tile
};

// One image: the general one, or with options.descriptors the fastest.
absl::StatusOr<BuiltImage> BuildImage(const ir::Module& module, const ir::Function& function,
                                      const CompileOptions& options, ir::ImageKind kind);

// All images that a file should have for this target, the fastest first; the last one runs with any arguments.
absl::StatusOr<std::vector<BuiltImage>> BuildImages(const ir::Module& module, const ir::Function& function,
                                                    const CompileOptions& options, ir::ImageKind kind);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_BUILD_IMAGE_H_
