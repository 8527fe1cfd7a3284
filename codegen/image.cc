#include "codegen/image.h"

#include <utility>

#include "ir/tbc/writer.h"

namespace tile::codegen {

absl::StatusOr<BuiltImage> BuildImage(const ir::Module& module, const ir::Function& function,
                                      const CompileOptions& options, ir::ImageKind kind) {
  absl::StatusOr<Compiled> compiled = Compile(module, function, options);
  if (!compiled.ok()) return compiled.status();
  BuiltImage built;
  built.compiled = *std::move(compiled);
  if (kind == ir::ImageKind::kCubin) {
    AssembleOptions assemble;
    assemble.opt_level = options.opt_level;
    assemble.line_info = options.line_info;
    TimedPass time(options.trace, "ptxas");
    absl::StatusOr<Assembled> assembled = Assemble(built.compiled.ptx, options.target->arch, assemble);
    time.Done();
    if (options.trace != nullptr && assembled.ok()) options.trace->Text("ptxas", [&] { return assembled->log; });
    if (!assembled.ok()) return assembled.status();
    built.assembled = *std::move(assembled);
    built.payload = std::make_unique<std::string>(std::move(built.assembled.cubin));
  } else {
    built.payload = std::make_unique<std::string>(built.compiled.ptx);
  }

  ir::Image& image = built.image;
  image.kind = kind;
  image.arch = options.target->arch;
  while (module.functions[image.kernel].get() != &function) ++image.kernel;
  image.symbol = built.compiled.symbol;
  image.threads = static_cast<uint32_t>(built.compiled.threads);
  image.shared_bytes = static_cast<uint32_t>(built.compiled.shared_bytes);
  image.registers = static_cast<uint32_t>(built.assembled.registers);
  image.flags = ir::kTileAbi;
  image.sites = built.compiled.sites;
  image.requirements = built.compiled.requirements;
  image.tma = built.compiled.maps;
  if (!image.tma.empty()) {
    using Kind = ir::ImageParam::Kind;
    for (int i = 0; i < function.num_params(); ++i) image.params.push_back({Kind::kKernelParam, static_cast<uint32_t>(i), {}});
    for (size_t i = 0; i < image.tma.size(); ++i) {
      image.params.push_back({Kind::kTmaDescriptor, static_cast<uint32_t>(i), {}});
    }
  }
  if (built.compiled.workspace_bytes > 0) {
    // So many bytes for each block of the hardware grid, which is that of the launch.
    ir::ImageWorkspace w;
    w.bytes = {{ir::ExprOp::kShape, -1, 0, 0}, {ir::ExprOp::kShape, -1, 1, 0}, {ir::ExprOp::kMul, 0, 0, 0},
               {ir::ExprOp::kShape, -1, 2, 0}, {ir::ExprOp::kMul, 0, 0, 0},
               {ir::ExprOp::kConst, 0, 0, static_cast<int64_t>(built.compiled.workspace_bytes)}, {ir::ExprOp::kMul, 0, 0, 0}};
    image.workspaces.push_back(std::move(w));
  }
  absl::StatusOr<ir::Sha256Digest> hash = ir::HashCode(module);
  if (!hash.ok()) return hash.status();
  image.code_hash = *hash;
  image.payload = {reinterpret_cast<const uint8_t*>(built.payload->data()), built.payload->size()};
  return built;
}

absl::StatusOr<std::vector<BuiltImage>> BuildImages(const ir::Module& module, const ir::Function& function,
                                                    const CompileOptions& options, ir::ImageKind kind) {
  std::vector<BuiltImage> images;
  CompileOptions now = options;
  now.descriptors = true;
  while (true) {
    absl::StatusOr<BuiltImage> built = BuildImage(module, function, now, kind);
    if (!built.ok()) return built.status();
    images.push_back(*std::move(built));
    if (images.back().image.tma.empty()) return images;
    now.descriptors = false;
  }
}

}  // namespace tile::codegen
