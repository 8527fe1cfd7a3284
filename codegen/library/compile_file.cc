#include "codegen/library/compile_file.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/build_image.h"
#include "ir/diagnostic.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/verify/verify.h"

namespace tile::codegen {
absl::StatusOr<std::string> CompileFile(absl::Span<const uint8_t> tbc, absl::string_view kernel,
                                        int compute_capability) {
  if (!ir::LooksLikeTbc(tbc)) return absl::InvalidArgumentError("error[tilec.form]: the bytes are no .tbc file");
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ir::ReadTbc(tbc, "<memory>");
  if (!module.ok()) return module.status();
  ir::Diagnostics diagnostics;
  ir::Verify(**module, &diagnostics);
  if (!diagnostics.ok()) return absl::InvalidArgumentError(diagnostics.ToString());
  const ir::Function* f = (*module)->FindFunction(kernel);
  if (f == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("error[tilec.kernel]: the module has no kernel `", kernel, "`"));
  CompileOptions options;
  options.target = TargetOfGpu(compute_capability);
  if (options.target == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("error[tilec.target]: the compiler knows no GPU of compute capability ", compute_capability / 10,
                     ".", compute_capability % 10));
  }
  absl::StatusOr<std::vector<BuiltImage>> built =
      BuildImages(**module, *f, options, FindAssembler().path.empty() ? ir::ImageKind::kPtx : ir::ImageKind::kCubin);
  if (!built.ok()) return built.status();
  std::vector<ir::Image> images;
  for (const BuiltImage& b : *built) images.push_back(b.image);
  return ir::WriteTbc(**module, {.images = images});
}

}  // namespace tile::codegen
