// Which image of a kernel a device can run, and with which grid and how much workspace: everything that can be said
// without the driver. ABI.md has the rules. Pure functions; thread-safe.
#ifndef TILE_RUNTIME_CUDA_IMAGE_CHOICE_H_
#define TILE_RUNTIME_CUDA_IMAGE_CHOICE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "ir/tbc/image.h"

namespace tile::runtime::cuda {

struct Target {
  int major = 0, minor = 0;  // compute capability
  int num_sms = 1;
  int driver_version = 0;  // 13000
};

// "" if the image can run there; else why not, as a clause: "is for sm_80, this GPU is sm_90".
std::string WhyNotOn(const ir::Image& image, const ir::Sha256Digest& code_hash, const Target& target);

// The arguments of a launch, as expressions of an image see them.
struct ImageArguments {
  const ir::Function* function = nullptr;
  absl::Span<const uint64_t> words;                  // one per parameter
  std::array<int64_t, 3> grid = {1, 1, 1};           // in tile blocks
  std::array<int64_t, 3> hardware_grid = {0, 0, 0};  // once it is known
  int num_sms = 1;
};
absl::StatusOr<int64_t> Evaluate(const ir::Expr& e, const ImageArguments& arguments);

// "" if all requirements hold; else the first that does not.
std::string WhyNotFor(const ir::Image& image, const ImageArguments& arguments);

// `resident`: blocks that the device runs at once, for kPersistentGrid. An error if the hardware has no such grid.
absl::StatusOr<std::array<int64_t, 3>> HardwareGrid(const ir::Image& image, const ImageArguments& arguments,
                                                    int64_t resident);

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_IMAGE_CHOICE_H_
