#include "tools/launch/engine.h"

#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/escape.h"
#include "ir/tbc/writer.h"
#include "runtime/error.h"
#include "runtime/jit/jit.h"
#include "runtime/host_launch.h"
#include "runtime/open_device.h"
#include "runtime/report.h"
#include "tools/cli/report.h"
#include "tools/launch/unchecked.h"

namespace tile::tools {
namespace {

class VmEngine : public Engine {
 public:
  VmEngine(std::string file, std::unique_ptr<vm::Program> program) : file_(std::move(file)), program_(std::move(program)) {}
  const ir::Function& function() const override { return program_->function(); }
  bool reports_progress() const override { return true; }
  vm::Outcome Run(const vm::Launch& launch, const std::vector<BufferUse>&, double* ms) override {
    if (launch.check == vm::CheckLevel::kNone) ExpectStrayAccesses(file_, program_->function().name);
    const auto start = std::chrono::steady_clock::now();
    vm::Outcome outcome = program_->Run(launch);
    *ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return outcome;
  }
  // The caller resets the memory, which is the same.
  vm::Outcome Repeat(const vm::Launch& launch, const std::vector<BufferUse>& uses, double* ms) override {
    return Run(launch, uses, ms);
  }

 private:
  const std::string file_;
  std::unique_ptr<vm::Program> program_;
};

class DeviceEngine : public Engine {
 public:
  DeviceEngine(std::shared_ptr<runtime::Device> device, std::shared_ptr<runtime::LoadedKernel> kernel,
               const ir::Function& function)
      : device_(std::move(device)), kernel_(std::move(kernel)), function_(function) {}
  const ir::Function& function() const override { return function_; }
  bool reports_progress() const override { return false; }

  vm::Outcome Run(const vm::Launch& launch, const std::vector<BufferUse>& uses, double* ms) override {
    device_->set_print(launch.print);
    runtime::HostLaunch bound(device_, kernel_);
    absl::Status status = Bind(launch, uses, false, &bound);
    if (status.ok()) status = Time(bound, ms);
    // What a kernel that trapped has written is shown too, as the VM's memory is.
    if (status.ok() || absl::IsAborted(status)) {
      const absl::Status copied = bound.CopyOut();
      if (status.ok()) status = copied;
    }
    return ToOutcome(status, launch);
  }

  vm::Outcome Repeat(const vm::Launch& launch, const std::vector<BufferUse>& uses, double* ms) override {
    absl::Status status;
    device_->set_print(launch.print);
    if (repeated_ == nullptr) {
      repeated_ = std::make_unique<runtime::HostLaunch>(device_, kernel_);
      status = Bind(launch, uses, true, repeated_.get());
    } else {
      status = repeated_->Restore();
    }
    if (status.ok()) status = Time(*repeated_, ms);
    return ToOutcome(status, launch);
  }

 private:
  absl::Status Bind(const vm::Launch& launch, const std::vector<BufferUse>& uses, bool restorable,
                    runtime::HostLaunch* bound) {
    std::vector<runtime::HostArray> arrays;
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      const vm::Buffer& b = launch.buffers[i];
      const bool written = i >= uses.size() || uses[i].written;
      arrays.push_back({b.name, b.data, b.bytes, b.element, b.shape, b.initialized, written, restorable && written});
    }
    return bound->Bind(function_, {launch.grid[0], launch.grid[1], launch.grid[2]}, launch.params, std::move(arrays));
  }

  static absl::Status Time(runtime::HostLaunch& bound, double* ms) {
    absl::StatusOr<double> time = bound.Run();
    if (time.ok()) *ms = *time;
    return time.status();
  }

  vm::Outcome ToOutcome(const absl::Status& status, const vm::Launch& launch) const {
    vm::Outcome outcome;
    if (status.ok()) {
      outcome.blocks_run = launch.grid[0] * launch.grid[1] * launch.grid[2];
      return outcome;
    }
    if (!absl::IsAborted(status)) {
      outcome.status = status;
      return outcome;
    }
    outcome.reports = runtime::ReportsOf(status);
    return outcome;
  }

  std::shared_ptr<runtime::Device> device_;
  std::shared_ptr<runtime::LoadedKernel> kernel_;
  const ir::Function& function_;
  std::unique_ptr<runtime::HostLaunch> repeated_;
};

ExitCode ExitOf(const absl::Status& status) {
  // What the compiler says of the program, and of itself.
  if (absl::StartsWith(runtime::ErrorCodeOf(status), "codegen.")) {
    if (absl::IsUnimplemented(status)) return kRejected;
    if (absl::IsInternal(status)) return kInternal;
  }
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kRejected : kEnvironment;
}

// --images: a .tbc file, or a folder with one of the same name as the kernel's file.
std::string ImagesFor(const std::string& images, const std::string& path) {
  struct stat s;
  if (stat(images.c_str(), &s) != 0 || !S_ISDIR(s.st_mode)) return images;
  std::string name = path.substr(path.find_last_of('/') + 1);
  return absl::StrCat(images, "/", name.substr(0, name.find_last_of('.')), ".tbc");
}

absl::Status FindImages(const LoadedModule& loaded, const std::string& images, const std::string& path,
                        runtime::Program* program) {
  if (images.empty()) {
    if (loaded.form != InputForm::kTbc) return absl::OkStatus();
    return runtime::ReadImages(loaded.bytes(), path, program);
  }
  const std::string from = ImagesFor(images, path);
  absl::StatusOr<AlignedBuffer> file = ReadWholeFile(from);
  if (!file.ok()) return file.status();
  auto kept = std::make_shared<AlignedBuffer>(*std::move(file));
  program->memory.push_back(kept);
  if (absl::Status s = runtime::ReadImages(kept->span(), from, program); !s.ok()) return s;
  // Images belong to this program, or are of no use.
  absl::StatusOr<ir::Sha256Digest> hash = ir::HashCode(*program->module);
  if (!hash.ok()) return hash.status();
  program->code_hash = *hash;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Engine>> MakeVmEngine(const LoadedModule& loaded, const ir::Function& function) {
  absl::StatusOr<std::unique_ptr<vm::Program>> program = vm::Program::Prepare(*loaded.module, function.name);
  if (!program.ok()) return program.status();
  return std::make_unique<VmEngine>(loaded.module->source_name, *std::move(program));
}

std::unique_ptr<Engine> LoadOnVm(const LoadedModule& loaded, const ir::Function& function, const std::string& path, int* exit) {
  absl::StatusOr<std::unique_ptr<Engine>> engine = MakeVmEngine(loaded, function);
  if (engine.ok()) return *std::move(engine);
  *exit = FailAt(path, kRejected, "run.prepare", engine.status());
  return nullptr;
}

// "note: running on the VM: there is no GPU".
void SayOf(const char* what, const absl::Status& why) {
  absl::string_view text = why.message();
  text = text.substr(0, text.find('\n'));
  if (const size_t end = text.find("]: "); absl::StartsWith(text, "error[") && end != absl::string_view::npos) {
    text.remove_prefix(end + 3);
  }
  std::fprintf(stderr, "note: %s: %s\n", what, ir::Escaped(text).c_str());
}
void SayOnVm(const absl::Status& why) { SayOf("running on the VM", why); }

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> DeviceChoice::TryLoad(const LoadedModule& loaded, const ir::Function& function) {
  if (device_ == nullptr) return MakeVmEngine(loaded, function);
  auto program = std::make_shared<runtime::Program>();
  program->module = std::shared_ptr<const ir::Module>(std::shared_ptr<void>(), loaded.module.get());
  absl::StatusOr<std::shared_ptr<runtime::LoadedKernel>> kernel = device_->Load(std::move(program), function);
  if (!kernel.ok()) return kernel.status();
  return std::make_unique<DeviceEngine>(device_, *std::move(kernel), function);
}

std::unique_ptr<Engine> DeviceChoice::Load(const LoadedModule& loaded, const ir::Function& function,
                                           const std::string& path, int* exit) {
  if (device_ == nullptr) return LoadOnVm(loaded, function, path, exit);
  auto program = std::make_shared<runtime::Program>();
  program->module = std::shared_ptr<const ir::Module>(std::shared_ptr<void>(), loaded.module.get());
  absl::Status status = FindImages(loaded, images_, path, program.get());
  if (status.ok()) {
    absl::StatusOr<std::shared_ptr<runtime::LoadedKernel>> kernel = device_->Load(std::move(program), function);
    if (kernel.ok()) return std::make_unique<DeviceEngine>(device_, *std::move(kernel), function);
    status = kernel.status();
  }
  if (may_fall_back_ && runtime::ErrorCodeOf(status) == "run.no_image") {
    if (!said_) SayOnVm(status);
    said_ = true;
    return LoadOnVm(loaded, function, path, exit);
  }
  *exit = FailAt(path, ExitOf(status), "run.device", status);
  return nullptr;
}

std::unique_ptr<DeviceChoice> ChooseVm() { return std::make_unique<DeviceChoice>(); }

std::unique_ptr<DeviceChoice> ChooseDevice(const Options& options, int* exit) {
  const std::string name = options.has("device") ? options.value("device") : "cpu";
  auto choice = std::make_unique<DeviceChoice>();
  if (!runtime::IsDeviceName(name)) {
    *exit = Fail(kUsage, "usage", absl::StrCat("--device ", name, ": expected cpu, cuda, cuda:N or auto"));
    return nullptr;
  }
  choice->images_ = options.value("images");
  if (name == "cpu") return choice;
  for (const char* option : {"check", "order"}) {
    if (!options.has(option)) continue;
    if (name == "auto") return choice;
    *exit = Fail(kUsage, "usage", absl::StrCat("--", option, " is done by the VM, not on --device ", name));
    return nullptr;
  }
  choice->may_fall_back_ = name == "auto";
  absl::StatusOr<std::shared_ptr<runtime::Device>> device = runtime::OpenDevice(name == "auto" ? "cuda" : name);
  if (device.ok()) {
    choice->device_ = *std::move(device);
    if (options.has("compile")) {
      absl::StatusOr<std::shared_ptr<runtime::Jit>> jit = runtime::Jit::Open({});
      if (!jit.ok()) {
        *exit = Fail(kEnvironment, "run.device", jit.status());
        return nullptr;
      }
      if (const absl::Status kept = (*jit)->last_cache_error(); !kept.ok()) SayOf("compiled code is not kept", kept);
      choice->device_->set_jit(*std::move(jit));
    }
  } else if (choice->may_fall_back_) {
    SayOnVm(device.status());
    choice->said_ = true;
  } else {
    *exit = Fail(kEnvironment, "run.device", device.status());
    return nullptr;
  }
  return choice;
}

}  // namespace tile::tools
