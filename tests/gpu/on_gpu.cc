#include "tests/gpu/on_gpu.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/build_image.h"
#include "ir/tbc/writer.h"
#include "runtime/error.h"
#include "runtime/host_memory.h"

namespace tile::ops {

absl::StatusOr<Compiled> Gpu::Load(const ir::Module& module, absl::string_view kernel) const {
  const ir::Function* f = module.FindFunction(kernel);
  if (f == nullptr) return absl::NotFoundError(absl::StrCat("no kernel ", std::string(kernel)));
  codegen::CompileOptions options;
  options.target = target;
  options.opt_level = opt_level;
  options.num_warps = num_warps;
  options.recomputes_addresses = recomputes_addresses;
  if (joins) options.joining = codegen::Joining::kAlways;
  auto built = codegen::BuildImages(module, *f, options, kind);
  if (!built.ok()) return built.status();
  std::vector<ir::Image> images;
  for (const codegen::BuiltImage& b : *built) images.push_back(b.image);
  if (device == nullptr) return Compiled();
  absl::StatusOr<std::string> bytes = ir::WriteTbc(module, {.images = images});
  if (!bytes.ok()) return bytes.status();
  auto made =
      runtime::Program::FromBytes({reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()}, module.source_name);
  if (!made.ok()) return made.status();
  Compiled compiled;
  compiled.program = *made;
  auto loaded = device->Load(compiled.program, *compiled.program->module->FindFunction(kernel));
  if (!loaded.ok()) return loaded.status();
  compiled.kernel = *std::move(loaded);
  return compiled;
}

Answer Gpu::Launch(const Compiled& compiled, Arguments* arguments) const {
  Answer answer;
  device->set_print([&](absl::string_view text) { absl::StrAppend(&answer.printed, text); });
  runtime::HostMemory memory(device);
  runtime::LaunchSpec spec;
  spec.grid = {arguments->grid[0], arguments->grid[1], arguments->grid[2]};
  std::vector<uint64_t> addresses;
  for (Memory& m : arguments->memories) {
    // Uninitialised memory keeps the pattern that it was given, so that what nobody wrote is seen.
    const absl::StatusOr<uint64_t> address = memory.Add(m.array.bytes.data(), m.array.bytes.size());
    if (!address.ok()) {
      answer.refused = address.status();
      return answer;
    }
    addresses.push_back(*address);
    spec.memory.push_back({m.name, *address, m.array.bytes.size(), m.array.element, m.array.shape, true});
  }
  for (const Param& p : arguments->params) {
    spec.words.push_back(p.memory < 0 ? p.bits : addresses[static_cast<size_t>(p.memory)]);
  }
  const absl::StatusOr<std::shared_ptr<runtime::PreparedLaunch>> launch = compiled.kernel->Prepare(std::move(spec));
  absl::Status s = launch.status();
  if (s.ok()) s = (*launch)->Run(device->default_stream());
  if (s.ok()) s = device->default_stream()->Synchronize();
  if (absl::IsAborted(s)) {
    answer.reports.push_back(absl::StrCat(std::string(runtime::ErrorCodeOf(s)), ": ", std::string(s.message())));
    s = absl::OkStatus();
  }
  if (s.ok()) s = memory.Download();
  answer.refused = s;
  return answer;
}

Answer Gpu::Run(const ir::Module& module, absl::string_view kernel, Arguments* arguments) const {
  auto compiled = Load(module, kernel);
  if (compiled.ok()) return Launch(*compiled, arguments);
  Answer answer;
  answer.refused = compiled.status();
  return answer;
}

}  // namespace tile::ops
