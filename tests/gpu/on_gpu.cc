#include "tests/gpu/on_gpu.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/build_image.h"
#include "ir/tbc/writer.h"
#include "runtime/error.h"

namespace tile::ops {

absl::StatusOr<Compiled> Gpu::Load(const ir::Module& module, absl::string_view kernel) const {
  const ir::Function* f = module.FindFunction(kernel);
  if (f == nullptr) return absl::NotFoundError(absl::StrCat("no kernel ", std::string(kernel)));
  codegen::CompileOptions options;
  options.target = target;
  options.opt_level = opt_level;
  options.num_warps = num_warps;
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

Answer Gpu::Launch(const Compiled& compiled, absl::string_view kernel, Arguments* arguments) const {
  Answer answer;
  device->set_print([&](absl::string_view text) { absl::StrAppend(&answer.printed, text); });
  runtime::HostLaunch launch(device, compiled.kernel);
  std::vector<runtime::HostArray> arrays;
  for (Memory& m : arguments->memories) {
    // Uninitialised memory keeps the pattern that it was given, so that what nobody wrote is seen.
    arrays.push_back({m.name, m.array.bytes.data(), m.array.bytes.size(), m.array.element, m.array.shape, true, true});
  }
  std::vector<uint64_t> words;
  for (const Param& p : arguments->params) {
    words.push_back(p.memory < 0 ? p.bits : reinterpret_cast<uintptr_t>(arrays[static_cast<size_t>(p.memory)].data));
  }
  absl::Status s = launch.Bind(*compiled.program->module->FindFunction(kernel),
                               {arguments->grid[0], arguments->grid[1], arguments->grid[2]}, words, arrays);
  if (s.ok()) s = launch.Run().status();
  if (absl::IsAborted(s)) {
    answer.reports.push_back(absl::StrCat(std::string(runtime::ErrorCodeOf(s)), ": ", std::string(s.message())));
    s = absl::OkStatus();
  }
  if (s.ok()) s = launch.CopyOut();
  answer.refused = s;
  return answer;
}

Answer Gpu::Run(const ir::Module& module, absl::string_view kernel, Arguments* arguments) const {
  auto compiled = Load(module, kernel);
  if (compiled.ok()) return Launch(*compiled, kernel, arguments);
  Answer answer;
  answer.refused = compiled.status();
  return answer;
}

}  // namespace tile::ops
