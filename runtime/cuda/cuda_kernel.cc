#include "runtime/cuda/cuda_kernel.h"

#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "runtime/cuda/cuda_launch.h"
#include "runtime/error.h"
#include "runtime/jit/jit.h"

namespace tile::runtime::cuda {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 24) - 1;  // of one dimension, as for the VM

// Of a grid without blocks. What is before it in a graph may need what it keeps.
class EmptyLaunch : public PreparedLaunch, public Reporting, public std::enable_shared_from_this<EmptyLaunch> {
 public:
  EmptyLaunch(std::shared_ptr<const Program> program, const ir::Function& function, std::shared_ptr<const void> keeps)
      : program_(std::move(program)), function_(function), keeps_(std::move(keeps)) {}
  absl::Status Run(Stream* stream) override {
    return keeps_ == nullptr ? absl::OkStatus() : static_cast<CudaStream*>(stream)->Note(shared_from_this());
  }
  absl::Status AddTo(void*) override { return absl::OkStatus(); }
  absl::Status TakeReport() override { return absl::OkStatus(); }
  const ir::Function& function() const override { return function_; }

 private:
  const std::shared_ptr<const Program> program_;
  const ir::Function& function_;
  const std::shared_ptr<const void> keeps_;
};

class CudaKernel : public LoadedKernel {
 public:
  CudaKernel(std::shared_ptr<Context> context, std::shared_ptr<const Program> program, const ir::Function& function,
             std::vector<const ir::Image*> images, std::shared_ptr<Jit> jit)
      : context_(std::move(context)),
        program_(std::move(program)),
        function_(function),
        images_(std::move(images)),
        jit_(std::move(jit)),
        loaded_(images_.size()) {}

  absl::StatusOr<std::shared_ptr<PreparedLaunch>> Prepare(LaunchSpec spec) override;

 private:
  // Loads it the first time.
  absl::StatusOr<std::shared_ptr<LoadedImage>> Loaded(size_t i) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (loaded_[i] != nullptr) return loaded_[i];
    absl::StatusOr<std::shared_ptr<LoadedImage>> loaded = LoadedImage::Load(context_, *images_[i]);
    if (loaded.ok()) loaded_[i] = *loaded;
    return loaded;
  }

  // The kernel as it is compiled here, for arguments that no image takes.
  absl::StatusOr<std::shared_ptr<LoadedKernel>> Compiled();

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<const Program> program_;
  const ir::Function& function_;
  const std::vector<const ir::Image*> images_;  // that this device can run, in the order of the file
  const std::shared_ptr<Jit> jit_;              // may be null
  std::mutex mutex_;
  std::vector<std::shared_ptr<LoadedImage>> loaded_;
  std::mutex compiling_;
  std::shared_ptr<LoadedKernel> compiled_;
};

std::string ImageName(const ir::Image& i) {
  return absl::StrCat(i.arch, i.kind == ir::ImageKind::kPtx ? " PTX" : "", " `", i.symbol, "`");
}

absl::Status NoImage(const ir::Function& f, const Target& target, absl::string_view when,
                     const std::vector<std::string>& reasons) {
  const std::string sm = absl::StrCat(target.major, target.minor);
  return MakeError(absl::StatusCode::kUnimplemented, "run.no_image",
                   reasons.empty()
                       ? absl::StrCat("the file has no machine code of kernel `", ir::ReadableName(f.name), "`")
                       : absl::StrCat("no machine code of kernel `", ir::ReadableName(f.name), "` fits ", when,
                                      ":\n    ", absl::StrJoin(reasons, "\n    ")),
                   absl::StrCat("compile it with `tilec --sm=", sm, " --embed`, or run it on the VM (device cpu)"));
}

absl::StatusOr<std::shared_ptr<LoadedKernel>> Compile(const std::shared_ptr<Context>& context, const Program& program,
                                                      const ir::Function& function, Jit& jit) {
  absl::StatusOr<std::shared_ptr<const Program>> compiled =
      jit.Compile(program, function, 10 * context->target.major + context->target.minor);
  if (!compiled.ok()) return compiled.status();
  return MakeKernel(context, *std::move(compiled), function, nullptr);
}

absl::StatusOr<std::shared_ptr<LoadedKernel>> CudaKernel::Compiled() {
  std::lock_guard<std::mutex> lock(compiling_);
  if (compiled_ != nullptr) return compiled_;
  absl::StatusOr<std::shared_ptr<LoadedKernel>> kernel = Compile(context_, *program_, function_, *jit_);
  if (kernel.ok()) compiled_ = *kernel;
  return kernel;
}

absl::StatusOr<std::shared_ptr<PreparedLaunch>> CudaKernel::Prepare(LaunchSpec spec) {
  if (spec.words.size() != static_cast<size_t>(function_.num_params())) {
    return absl::InvalidArgumentError(absl::StrCat("kernel `", ir::ReadableName(function_.name), "` takes ",
                                                   function_.num_params(), " parameters, not ", spec.words.size()));
  }
  bool empty = false;
  for (const int64_t n : spec.grid) {
    if (n < 0 || n > kMaxGrid) {
      return absl::InvalidArgumentError(
          absl::StrCat("a grid of ", absl::StrJoin(spec.grid, " x "), ": each dimension must be from 0 to ", kMaxGrid));
    }
    empty |= n == 0;
  }
  if (empty) return std::make_shared<EmptyLaunch>(program_, function_, std::move(spec.keeps));
  ImageArguments arguments;
  arguments.function = &function_;
  arguments.words = spec.words;
  arguments.grid = spec.grid;
  arguments.num_sms = context_->target.num_sms;
  std::vector<std::string> reasons;
  for (size_t i = 0; i < images_.size(); ++i) {
    const auto unfit = [&](absl::string_view why) {
      reasons.push_back(absl::StrCat(ImageName(*images_[i]), " ", why));
    };
    if (const std::string why = WhyNotFor(*images_[i], arguments); !why.empty()) {
      unfit(why);
      continue;
    }
    absl::StatusOr<std::shared_ptr<LoadedImage>> image = Loaded(i);
    if (!image.ok()) {
      unfit(image.status().message());
      continue;
    }
    absl::StatusOr<std::shared_ptr<CudaLaunch>> launch =
        CudaLaunch::Make({context_, program_, &function_, *image}, spec);
    if (launch.ok()) return *std::move(launch);
    if (launch.status().code() != absl::StatusCode::kFailedPrecondition) return launch.status();
    unfit(launch.status().message());
  }
  if (jit_ != nullptr) {
    absl::StatusOr<std::shared_ptr<LoadedKernel>> compiled = Compiled();
    return compiled.ok() ? (*compiled)->Prepare(std::move(spec)) : compiled.status();
  }
  return NoImage(function_, context_->target, "these arguments", reasons);
}

}  // namespace

absl::StatusOr<std::shared_ptr<LoadedKernel>> MakeKernel(std::shared_ptr<Context> context,
                                                         std::shared_ptr<const Program> program,
                                                         const ir::Function& function, std::shared_ptr<Jit> jit) {
  std::vector<const ir::Image*> images;
  std::vector<std::string> reasons;
  for (const ir::Image& image : program->images) {
    if (image.kernel >= program->module->functions.size() ||
        program->module->functions[image.kernel].get() != &function) {
      continue;
    }
    const std::string why = WhyNotOn(image, program->code_hash, context->target);
    if (why.empty()) {
      images.push_back(&image);
    } else {
      reasons.push_back(absl::StrCat(ImageName(image), " ", why));
    }
  }
  if (images.empty() && jit != nullptr) return Compile(context, *program, function, *jit);
  if (images.empty()) return NoImage(function, context->target, "this GPU", reasons);
  return std::make_shared<CudaKernel>(std::move(context), std::move(program), function, std::move(images),
                                      std::move(jit));
}

}  // namespace tile::runtime::cuda
