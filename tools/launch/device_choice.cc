#include "tools/launch/device_choice.h"

#include <sys/stat.h>

#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/escape.h"
#include "ir/tbc/writer.h"
#include "runtime/cpu_device.h"
#include "runtime/error.h"
#include "runtime/jit/jit.h"
#include "runtime/open_device.h"
#include "tools/cli/report.h"

namespace tile::tools {
namespace {

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
    if (!loaded.is_tbc()) return absl::OkStatus();
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

// A program over a module that the caller owns.
std::shared_ptr<runtime::Program> ProgramOf(const LoadedModule& loaded) {
  auto program = std::make_shared<runtime::Program>();
  program->module = std::shared_ptr<const ir::Module>(std::shared_ptr<void>(), loaded.module.get());
  return program;
}

absl::StatusOr<DeviceKernel> LoadOn(const std::shared_ptr<runtime::Device>& device,
                                    std::shared_ptr<const runtime::Program> program, const ir::Function& function) {
  absl::StatusOr<std::shared_ptr<runtime::LoadedKernel>> kernel = device->Load(program, function);
  if (!kernel.ok()) return kernel.status();
  return DeviceKernel{device, std::move(program), &function, *std::move(kernel)};
}

}  // namespace

absl::StatusOr<DeviceKernel> DeviceChoice::TryLoad(const LoadedModule& loaded, const ir::Function& function) {
  return LoadOn(device_, ProgramOf(loaded), function);
}

std::optional<DeviceKernel> DeviceChoice::Load(const LoadedModule& loaded, const ir::Function& function,
                                               const std::string& path, int* exit) {
  std::shared_ptr<runtime::Program> program = ProgramOf(loaded);
  std::shared_ptr<runtime::Device> device = device_;
  absl::Status status = is_gpu() ? FindImages(loaded, images_, path, program.get()) : absl::OkStatus();
  for (;;) {
    if (status.ok()) {
      absl::StatusOr<DeviceKernel> kernel = LoadOn(device, program, function);
      if (kernel.ok()) return *std::move(kernel);
      status = kernel.status();
    }
    if (device == fallback_ || fallback_ == nullptr || runtime::ErrorCodeOf(status) != "run.no_image") break;
    if (!said_) SayOnVm(status);
    said_ = true;
    device = fallback_;
    status = absl::OkStatus();
  }
  const bool on_vm = device->info().kind == runtime::DeviceKind::kCpu;
  *exit = FailAt(path, on_vm ? kRejected : ExitOf(status), on_vm ? "run.prepare" : "run.device", status);
  return std::nullopt;
}

std::unique_ptr<DeviceChoice> ChooseVm(const Options& options, int* exit) {
  const absl::StatusOr<int64_t> threads = options.Integer("threads", 0, 1, 4096);
  if (!threads.ok()) {
    *exit = Fail(kUsage, "usage", threads.status());
    return nullptr;
  }
  auto choice = std::make_unique<DeviceChoice>();
  choice->device_ = runtime::MakeCpuDevice(static_cast<int>(*threads));
  return choice;
}

std::unique_ptr<DeviceChoice> ChooseDevice(const Options& options, int* exit) {
  const std::string name = options.has("device") ? options.value("device") : "cpu";
  if (!runtime::IsDeviceName(name)) {
    *exit = Fail(kUsage, "usage", absl::StrCat("--device ", name, ": expected cpu, cuda, cuda:N or auto"));
    return nullptr;
  }
  std::unique_ptr<DeviceChoice> choice = ChooseVm(options, exit);
  if (choice == nullptr) return nullptr;
  choice->images_ = options.value("images");
  if (name == "cpu") return choice;
  for (const char* option : {"check", "order"}) {
    if (!options.has(option)) continue;
    if (name == "auto") return choice;
    *exit = Fail(kUsage, "usage", absl::StrCat("--", option, " is done by the VM, not on --device ", name));
    return nullptr;
  }
  absl::StatusOr<std::shared_ptr<runtime::Device>> device = runtime::OpenDevice(name == "auto" ? "cuda" : name);
  if (device.ok()) {
    if (name == "auto") choice->fallback_ = choice->device_;
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
  } else if (name == "auto") {
    SayOnVm(device.status());
    choice->said_ = true;
  } else {
    *exit = Fail(kEnvironment, "run.device", device.status());
    return nullptr;
  }
  return choice;
}

}  // namespace tile::tools
