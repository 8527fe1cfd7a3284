#include "runtime/cuda/loaded_image.h"

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace tile::runtime::cuda {
namespace {

constexpr uint32_t kPortableCluster = 8;

}  // namespace

absl::StatusOr<std::shared_ptr<LoadedImage>> LoadedImage::Load(std::shared_ptr<Context> context,
                                                               const ir::Image& image) {
  const Driver& driver = *context->driver;
  CurrentUnrecorded current(*context);
  std::shared_ptr<LoadedImage> loaded(new LoadedImage(context, image));
  std::array<char, 4096> log = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  // PTX is text that ends with a zero byte; a cubin knows its own length, but a damaged one should meet the zero too.
  const std::string code(reinterpret_cast<const char*>(image.payload.data()), image.payload.size());
  const CUresult result = driver.cuModuleLoadDataEx(&loaded->module_, code.c_str(), 2, options, values);
  if (result != CUDA_SUCCESS) {
    loaded->module_ = nullptr;
    const absl::string_view text = absl::StripAsciiWhitespace(log.data());
    return absl::FailedPreconditionError(
        absl::StrCat("can't be loaded: ", driver.Check(result, "loading machine code").message(),
                     text.empty() ? "" : absl::StrCat("\n", text)));
  }
  if (driver.cuModuleGetFunction(&loaded->function_, loaded->module_, image.symbol.c_str()) != CUDA_SUCCESS) {
    return absl::InvalidArgumentError(absl::StrCat("has no function `", image.symbol, "`"));
  }
  if (absl::Status s = loaded->Configure(); !s.ok()) return s;
  return loaded;
}

absl::Status LoadedImage::Configure() {
  const Driver& driver = *context_->driver;
  int most = 0;
  if (absl::Status s =
          driver.Check(driver.cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function_),
                       "reading a function's attributes");
      !s.ok()) {
    return s;
  }
  threads_ = image_.threads > 0 ? image_.threads : static_cast<unsigned>(most);
  if (threads_ > static_cast<unsigned>(most)) {
    return absl::InvalidArgumentError(absl::StrCat("wants ", threads_, " threads, its code can have ", most));
  }
  const auto set = [&](CUfunction_attribute what, int value) {
    return driver.cuFuncSetAttribute(function_, what, value);
  };
  if (image_.shared_bytes > 0 &&
      set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(image_.shared_bytes)) != CUDA_SUCCESS) {
    return absl::FailedPreconditionError(
        absl::StrCat("wants ", image_.shared_bytes, " bytes of shared memory, more than this GPU has for a block"));
  }
  const uint32_t cluster = image_.cluster[0] * image_.cluster[1] * image_.cluster[2];
  if (cluster > kPortableCluster && set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1) != CUDA_SUCCESS) {
    return absl::FailedPreconditionError(
        absl::StrCat("wants clusters of ", cluster, " blocks, which this GPU has not"));
  }
  int per_sm = 0;
  if (absl::Status s = driver.Check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                                        &per_sm, function_, static_cast<int>(threads_), image_.shared_bytes),
                                    "asking for the occupancy");
      !s.ok()) {
    return s;
  }
  if (per_sm < 1) return absl::FailedPreconditionError("does not fit a multiprocessor of this GPU");
  resident_ = int64_t{per_sm} * context_->target.num_sms;
  return absl::OkStatus();
}

LoadedImage::~LoadedImage() {
  if (module_ == nullptr) return;
  CurrentUnrecorded current(*context_);
  context_->driver->cuModuleUnload(module_);
}

}  // namespace tile::runtime::cuda
