// An image in the driver's hands. Internal to runtime/cuda.
#ifndef TILE_RUNTIME_CUDA_LOADED_IMAGE_H_
#define TILE_RUNTIME_CUDA_LOADED_IMAGE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ir/tbc/image.h"
#include "runtime/cuda/context.h"

namespace tile::runtime::cuda {

class LoadedImage {
 public:
  // Errors are clauses about the image: "can't be loaded: …".
  static absl::StatusOr<std::shared_ptr<LoadedImage>> Load(std::shared_ptr<Context> context, const ir::Image& image);
  ~LoadedImage();

  const ir::Image& image() const { return image_; }
  CUfunction function() const { return function_; }
  unsigned threads() const { return threads_; }
  // Blocks of all multiprocessors together that run at once.
  int64_t resident() const { return resident_; }

 private:
  LoadedImage(std::shared_ptr<Context> context, const ir::Image& image) : context_(std::move(context)), image_(image) {}
  absl::Status Configure();

  std::shared_ptr<Context> context_;
  const ir::Image& image_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  unsigned threads_ = 0;
  int64_t resident_ = 0;
};

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_LOADED_IMAGE_H_
