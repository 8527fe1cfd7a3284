#include "codegen/build_image.h"

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "codegen/assemble_kernel.h"
#include "codegen/gpu/ops.h"
#include "codegen/passes/gpu_text.h"
#include "codegen/passes/tile_code.h"
#include "codegen/plan/dependent_launch.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/resources/warps.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/tma/host_integer.h"
#include "codegen/plan/tma/parameters.h"
#include "codegen/target/target.h"
#include "codegen/target/tuning.h"
#include "codegen/variants.h"
#include "ir/tbc/sha256.h"
#include "ir/tbc/writer.h"

namespace tile::codegen {
namespace {

constexpr int64_t kMostIds = int64_t{1} << 30;     // a block's number and the next one's fit 32 bits
constexpr int64_t kMostBlocks = int64_t{1} << 26;  // that many strips of blocks are counted in 32 bits

using host::Const;
using host::Grid;
using host::Node;

// Blocks of the kernel's own grid.
ir::Expr Count(const Compiled& compiled, int d) {
  if (d == 0 && compiled.parts > 1) return {Grid(d), Const(compiled.parts), Node(ir::ExprOp::kMul)};
  const int64_t joined = compiled.joined[static_cast<size_t>(d)];
  if (joined == 1) return {Grid(d)};
  return {Grid(d), Const(joined), Node(ir::ExprOp::kDiv)};
}

constexpr int kManySpills = 1024;  // bytes of a thread

// Memory traffic that the source does not show.
void WarnOfSpills(const BuiltImage& built, const ir::Function& function, const CompileOptions& options) {
  if (built.assembled.spill_bytes <= kManySpills || options.trace == nullptr || !options.trace->on_warning) return;
  const std::string& largest_tile = built.largest_tile;
  const size_t what = largest_tile.rfind(": ");
  const bool known = what != std::string::npos;
  const ir::Module& module = *function.module();
  options.trace->on_warning(absl::StrCat(
      known ? largest_tile.substr(0, what) : module.Where(function.loc, function.pos), ": warning[codegen.spill]: @",
      function.name, " for ", options.target->arch, ": each thread spills ", built.assembled.spill_bytes,
      " bytes of registers to memory",
      known ? absl::StrCat("; the largest tile that is worked on at once is that of ", largest_tile.substr(what + 2))
            : "",
      ". Smaller tiles need fewer registers; --remarks says what stays whole, and why"));
}

// An image on its way: compiled; its assembler, a process of its own, works while the next image is compiled.
struct Begun {
  Compiled compiled;
  std::string largest_tile;            // Trace::largest_tile
  std::shared_ptr<Assembly> assembly;  // started when LLVM began; null: the image is PTX
  std::future<absl::StatusOr<Assembled>> assembled;
};

AssembleOptions AssemblerOptions(const CompileOptions& options) {
  AssembleOptions assemble;
  assemble.opt_level = options.opt_level;
  assemble.line_info = options.line_info;
  return assemble;
}

// The assembler, a process of its own, starts when the program is ready for LLVM.
CompileOptions StartingAssembler(const CompileOptions& options, ir::ImageKind kind, Begun* begun) {
  CompileOptions now = options;
  if (kind == ir::ImageKind::kCubin) {
    now.on_program = [begun, arch = options.target->arch, assemble = AssemblerOptions(options)] {
      begun->assembly = std::make_shared<Assembly>(arch, assemble);
    };
  }
  return now;
}

// Hands what was compiled to its assembler.
void GoOn(const CompileOptions& options, Compiled compiled, Begun* begun) {
  begun->compiled = std::move(compiled);
  if (options.trace != nullptr) begun->largest_tile = options.trace->largest_tile;
  if (begun->assembly == nullptr) return;
  begun->assembled = std::async(std::launch::async, [assembly = begun->assembly, compiled = begun->compiled,
                                                     target = *options.target, assemble = AssemblerOptions(options)] {
    return AssembleKernel(*assembly, compiled, target, assemble);
  });
}

absl::StatusOr<Begun> Begin(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                            ir::ImageKind kind) {
  Begun begun;
  absl::StatusOr<Compiled> compiled = Compile(module, function, StartingAssembler(options, kind, &begun));
  if (!compiled.ok()) return compiled.status();
  GoOn(options, *std::move(compiled), &begun);
  return begun;
}

// Blocks for each multiprocessor, of which more are done in clusters: those of few wait for each other rather than for the L2 (f16, 256 blocks of
// 128 x 64, 1024 along K: 10.85 us in clusters, 9.45 without; 144 of 128 x 128: 19.4, 18.4; 1024 of 128 x 128: 200, 207).
constexpr int64_t kBlocksForClusters = 2;

// The same code for launches whose grid clusters divide.
BuiltImage InClusters(const BuiltImage& built, Joining joining) {
  BuiltImage out;
  out.image = built.image;
  out.compiled = built.compiled;
  out.assembled = built.assembled;
  out.payload = std::make_unique<std::string>(*built.payload);
  out.image.payload = {reinterpret_cast<const uint8_t*>(out.payload->data()), out.payload->size()};
  out.image.cluster = {kClusterBlocks, 1, 1};
  const int d = built.compiled.cluster_dim;
  out.image.requirements.push_back(
      {{Grid(d), Const(kClusterBlocks), Node(ir::ExprOp::kMod), Const(0), Node(ir::ExprOp::kEqual)},
       absl::StrCat("the grid's size in dimension ", d, " is a multiple of ", kClusterBlocks)});
  if (joining == Joining::kWhereFaster) {
    const ir::ExprNode times = Node(ir::ExprOp::kMul);
    out.image.requirements.push_back(
        {{Const(kBlocksForClusters), Node(ir::ExprOp::kNumSms), times, Grid(0), Grid(1), times, Grid(2), times,
          Node(ir::ExprOp::kLess)},
         absl::StrCat("the grid has more than ", kBlocksForClusters, " blocks for each multiprocessor")});
  }
  return out;
}

// The hash of the tile code. A program at the GPU level has none; then it is the hash of the text.
absl::StatusOr<ir::Sha256Digest> HashOf(const ir::Module& module, const CompileOptions& options) {
  if (options.start_after.empty()) return ir::HashCode(module);
  if (!IsExpanded(*module.functions[0])) return ir::HashCode(*TileCodeOf(module));
  const std::string text = PrintGpu(module);
  return ir::Sha256({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// Waits for the assembler.
absl::StatusOr<BuiltImage> Finish(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                                  ir::ImageKind kind, Begun begun) {
  BuiltImage built;
  built.compiled = std::move(begun.compiled);
  if (kind == ir::ImageKind::kCubin) {
    TimedPass time(options.trace, "ptxas");
    absl::StatusOr<Assembled> assembled = begun.assembled.get();
    time.Done();
    if (options.trace != nullptr && assembled.ok()) options.trace->Text("ptxas", [&] { return assembled->log; });
    if (!assembled.ok()) return assembled.status();
    built.assembled = *std::move(assembled);
    built.payload = std::make_unique<std::string>(std::move(built.assembled.cubin));
    built.largest_tile = begun.largest_tile;
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
  if (HasDependentLaunch(*options.target, function)) image.flags |= ir::kProgrammaticLaunch;
  image.sites = built.compiled.sites;
  image.requirements = built.compiled.requirements;
  image.tma = built.compiled.maps;
  if (built.compiled.parameter_bytes > kOldParameterBytes) image.driver_floor = kCudaOfManyParameters;
  if (built.compiled.persistent) {
    image.flags |= ir::kPersistentGrid;
    const ir::ExprNode times = Node(ir::ExprOp::kMul);
    image.requirements.push_back({{Grid(0), Grid(1), times, Grid(2), times, Const(kMostIds), Node(ir::ExprOp::kLess)},
                                  absl::StrCat("the grid has less than ", kMostIds, " blocks")});
  }
  if (built.compiled.one_row) {
    ir::Expr row = Count(built.compiled, 0);
    for (const ir::ExprNode& n : Count(built.compiled, 1)) row.push_back(n);
    row.push_back(Node(ir::ExprOp::kMul));
    image.grid = {std::move(row), {Const(1)}, {Grid(2)}};
    for (int d = 0; d < 2; ++d) {
      image.requirements.push_back({{Grid(d), Const(kMostBlocks), Node(ir::ExprOp::kLess)},
                                    absl::StrCat("the grid has less than ", kMostBlocks, " blocks in dimension ", d)});
    }
  }
  const bool joined = built.compiled.joined[0] * built.compiled.joined[1] > 1;
  if ((built.compiled.parts > 1 || joined) && image.grid.empty())
    image.grid = {Count(built.compiled, 0), Count(built.compiled, 1), {Grid(2)}};
  if (!built.compiled.spread.empty()) image.grid = {built.compiled.spread, {Grid(1)}, {Grid(2)}};
  if (!image.tma.empty()) {
    using Kind = ir::ImageParam::Kind;
    for (int i = 0; i < function.num_params(); ++i)
      image.params.push_back({Kind::kKernelParam, static_cast<uint32_t>(i), {}});
    for (size_t i = 0; i < image.tma.size(); ++i) {
      image.params.push_back({Kind::kTmaDescriptor, static_cast<uint32_t>(i), {}});
    }
  }
  if (built.compiled.workspace_bytes > 0) {
    // So many bytes for each block of the hardware's grid.
    const auto size = [](int d) { return ir::ExprNode{ir::ExprOp::kShape, -2, d, 0}; };
    const ir::ExprNode times = Node(ir::ExprOp::kMul);
    ir::ImageWorkspace w;
    w.bytes = {size(0), size(1), times, size(2), times, Const(static_cast<int64_t>(built.compiled.workspace_bytes)),
               times};
    image.workspaces.push_back(std::move(w));
  }
  absl::StatusOr<ir::Sha256Digest> hash = HashOf(module, options);
  if (!hash.ok()) return hash.status();
  image.code_hash = *hash;
  image.payload = {reinterpret_cast<const uint8_t*>(built.payload->data()), built.payload->size()};
  return built;
}

absl::StatusOr<BuiltImage> BuildOne(const ir::Module& module, const ir::Function& function,
                                    const CompileOptions& options, ir::ImageKind kind) {
  absl::StatusOr<Begun> begun = Begin(module, function, options, kind);
  if (!begun.ok()) return begun.status();
  return Finish(module, function, options, kind, *std::move(begun));
}

// What is done where ptxas found no registers for all that lives around asynchronous products, which it does not spill.
void RemarkOfRegisters(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                       absl::string_view what) {
  if (options.trace == nullptr || !options.trace->on_remark) return;
  const MmaKind* kind = AsyncKindOn(*options.target);
  options.trace->on_remark(absl::StrCat(module.Where(function.loc, function.pos), ": remark[product]: @", function.name,
                                        ": ", what, ": ", kind == nullptr ? "a product" : kind->name(),
                                        " and what lives around it exceed the registers"));
}

// The image that runs with any arguments, of the kernel without asynchronous products, where ptxas found no registers (`why`) for all that lives
// around those: around others it spills.
absl::StatusOr<BuiltImage> BuildWithoutAsyncMma(const ir::Module& module, const ir::Function& function,
                                                const CompileOptions& options, const absl::Status& why) {
  const absl::Status fault = absl::InternalError(why.message());
  Target target = *options.target;
  for (const MmaKind* kind = AsyncKindOn(target); kind != nullptr; kind = AsyncKindOn(target))
    target.features &= ~(kind->features() | kTma);
  if (target.features == options.target->features) return fault;
  const auto kinds = MmaKinds();
  const auto next = std::find_if(kinds.begin(), kinds.end(), [&](const MmaKind* kind) { return kind->IsOn(target); });
  RemarkOfRegisters(module, function, options, absl::StrCat((*next)->name(), " does the products"));
  CompileOptions now = options;
  now.target = &target;
  now.permissions = {};
  absl::StatusOr<BuiltImage> built = BuildOne(module, function, now, ir::ImageKind::kCubin);
  return absl::IsResourceExhausted(built.status()) ? absl::StatusOr<BuiltImage>(fault) : std::move(built);
}

// Tiles for which threads have no registers go to memory as well (passes/slicing/spill_tiles.h).
int64_t SpilledByBlock(const BuiltImage& built, uint64_t memory_before) {
  const uint64_t memory = built.compiled.shared_bytes + built.compiled.workspace_bytes;
  return int64_t{built.assembled.spill_bytes} * built.compiled.threads +
         static_cast<int64_t>(memory > memory_before ? memory - memory_before : 0);
}

// Threads of the most warps have 128 registers. Addresses and fragments take as many of them as of the 255 that half as many threads have, so these
// have more than twice as many for tiles. But each thread does twice the work: a quarter less is worth it. So it is for addresses that are computed in
// each iteration.
bool SpillsLess(const BuiltImage& now, const BuiltImage& built) {
  const uint64_t before = built.compiled.shared_bytes + built.compiled.workspace_bytes;
  return 4 * SpilledByBlock(now, before) < 3 * SpilledByBlock(built, before);
}

// A block that is alone on its multiprocessor leaves it idle where all its threads wait, for loads or for each other. Two blocks of half the warps
// wait at different times (H200, silu of 8192 x 4096 bf16 and its quantisation by blocks of 128 x 128: 111 us with 16 warps, 74 with 8).
bool IsAloneOnMultiprocessor(const BuiltImage& built, const ir::Function& function, const Target& target) {
  return !built.compiled.multiplies && built.assembled.spill_bytes == 0 &&
         BlocksHeld(target, built.compiled, built.assembled.registers) == 1 && !RowWorkOf(function, false).walks;
}

// Half the threads may have no registers for the block's tiles, which then go through shared memory. That costs more than a second block gives: 8 warps
// kept a tile of 256 x 128 in 64 kB of shared memory and took four times as long as 16 warps, whose registers held it.
bool SharesMultiprocessor(const BuiltImage& half, const BuiltImage& built, const Target& target) {
  return half.assembled.spill_bytes == 0 && half.compiled.workspace_bytes <= built.compiled.workspace_bytes &&
         half.compiled.shared_bytes <= built.compiled.shared_bytes &&
         BlocksHeld(target, half.compiled, half.assembled.registers) > 1;
}

// What these options give, if that is `better` than the image so far; a remark then says `what` is different.
std::optional<BuiltImage> Better(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                                 ir::ImageKind kind, absl::FunctionRef<bool(const BuiltImage& other)> better,
                                 absl::FunctionRef<std::string(const BuiltImage& other)> what) {
  // What is not kept says nothing.
  std::vector<std::string> remarks;
  const bool tells = options.trace != nullptr && options.trace->on_remark;
  std::function<void(const std::string&)> tell;
  if (tells) tell = std::exchange(options.trace->on_remark, [&](const std::string& line) { remarks.push_back(line); });
  absl::StatusOr<BuiltImage> other = BuildOne(module, function, options, kind);
  if (tells) options.trace->on_remark = tell;
  if (!other.ok() || !better(*other)) return std::nullopt;
  if (tells) {
    tell(absl::StrCat(module.Where(function.loc, function.pos), ": remark[", what(*other)));
    for (const std::string& line : remarks) tell(line);
  }
  return *std::move(other);
}

bool Spills(const BuiltImage& built) { return built.assembled.spill_bytes > TolerableSpills(built.compiled); }

std::string SpilledBefore(const BuiltImage& built, const BuiltImage& now) {
  return absl::StrCat("each thread spilled ", built.assembled.spill_bytes, " bytes, now ", now.assembled.spill_bytes);
}

// The same with half of the most warps, where its threads then spill less between them, or a multiprocessor holds two blocks instead of one.
std::optional<BuiltImage> WithHalfTheWarps(const ir::Module& module, const ir::Function& function,
                                           const CompileOptions& options, ir::ImageKind kind, const BuiltImage& built) {
  const bool joined = built.compiled.joined[0] * built.compiled.joined[1] * built.compiled.parts > 1;
  const bool most = built.compiled.threads == 32 * tuning::kMaxWarps && !joined;
  if (kind != ir::ImageKind::kCubin || options.num_warps != 0 || !most || built.compiled.is_large) return std::nullopt;
  const bool spills = Spills(built);
  if (!spills && !IsAloneOnMultiprocessor(built, function, *options.target)) return std::nullopt;
  CompileOptions now = options;
  now.num_warps = tuning::kMaxWarps / 2;
  const auto better = [&](const BuiltImage& half) {
    return spills ? SpillsLess(half, built) : SharesMultiprocessor(half, built, *options.target);
  };
  const auto what = [&](const BuiltImage& half) {
    return absl::StrCat("choose-schedule]: @", function.name, ": ", now.num_warps, " warps after all: with ",
                        tuning::kMaxWarps, " ",
                        spills ? SpilledBefore(built, half) : "a block is alone on its multiprocessor");
  };
  return Better(module, function, now, kind, better, what);
}

// The same with addresses that loops compute again, where threads then spill less.
std::optional<BuiltImage> WithAddressesAgain(const ir::Module& module, const ir::Function& function,
                                             const CompileOptions& options, ir::ImageKind kind,
                                             const BuiltImage& built) {
  if (kind != ir::ImageKind::kCubin || !Spills(built) || built.compiled.is_large) return std::nullopt;
  CompileOptions now = options;
  now.recomputes_addresses = true;
  const auto better = [&](const BuiltImage& again) { return SpillsLess(again, built); };
  const auto what = [&](const BuiltImage& again) {
    return absl::StrCat("recompute-addresses]: @", function.name,
                        ": loops compute addresses again: ", SpilledBefore(built, again));
  };
  return Better(module, function, now, kind, better, what);
}

// The best of all attempts. A warning of spills is about this one.
BuiltImage Final(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                 ir::ImageKind kind, BuiltImage built) {
  CompileOptions now = options;
  if (std::optional<BuiltImage> half = WithHalfTheWarps(module, function, options, kind, built)) {
    built = *std::move(half);
    now.num_warps = tuning::kMaxWarps / 2;
  }
  if (std::optional<BuiltImage> again = WithAddressesAgain(module, function, now, kind, built))
    built = *std::move(again);
  WarnOfSpills(built, function, options);
  return built;
}

// A row of the table that should compile and does not: launches are slower than they could be.
void WarnOfVariant(const ir::Module& module, const ir::Function& function, const CompileOptions& options,
                   const Variant& variant, const absl::Status& why) {
  if (options.trace == nullptr || !options.trace->on_warning) return;
  options.trace->on_warning(absl::StrCat(module.Where(function.loc, function.pos), ": warning[codegen.variant]: @",
                                         function.name, " for ", options.target->arch, ": no image \"", variant.name,
                                         "\" (", variant.purpose, "): ", why.message(),
                                         "; another image takes its launches"));
}

// One row of the table; nothing if there is no such image. The images before take the same launches, so an error costs speed only, unless it is internal.
absl::StatusOr<std::optional<Begun>> BeginVariant(const ir::Module& module, const ir::Function& function,
                                                  const CompileOptions& options, const Variant& variant,
                                                  ir::ImageKind kind, const ImagesSoFar& so_far) {
  const bool optional = so_far.Of(VariantId::kResizedK) != nullptr && variant.id != VariantId::kGeneral;
  Begun begun;
  absl::StatusOr<Attempt> attempt = TryCompile(module, function, StartingAssembler(options, kind, &begun));
  if (!attempt.ok()) {
    if (!optional || absl::IsInternal(attempt.status())) return attempt.status();
    WarnOfVariant(module, function, options, variant, attempt.status());
    return std::nullopt;
  }
  if (attempt->outcome == Attempt::Outcome::kDoesNotFit && !optional) return attempt->why_not;
  if (attempt->outcome != Attempt::Outcome::kCompiled) return std::nullopt;
  if (!variant.useful(attempt->compiled, so_far)) return std::nullopt;
  GoOn(options, std::move(attempt->compiled), &begun);
  return std::optional<Begun>(std::move(begun));
}

// By variant.
using BegunImages = std::array<std::optional<Begun>, kNumVariants>;

absl::StatusOr<BegunImages> BeginVariants(const ir::Module& module, const ir::Function& function,
                                          const CompileOptions& options, ir::ImageKind kind) {
  BegunImages all;
  ImagesSoFar so_far = {function, options.joining};
  CompileOptions now = options;
  for (const Variant& variant : AllVariants()) {
    if (!variant.tried(so_far)) continue;
    now.permissions = variant.permissions;
    absl::StatusOr<std::optional<Begun>> begun = BeginVariant(module, function, now, variant, kind, so_far);
    if (!begun.ok()) return begun.status();
    if (!begun->has_value()) continue;
    const auto i = static_cast<size_t>(variant.id);
    all[i] = **std::move(begun);
    so_far.by_variant[i] = &all[i]->compiled;
    if (options.joining != Joining::kAlways) now.blocks_alone = so_far.Of(VariantId::kResizedK)->blocks;
  }
  return all;
}

// In the order of the file.
std::vector<const Variant*> ByPlace() {
  std::vector<const Variant*> rows;
  for (const Variant& v : AllVariants()) rows.push_back(&v);
  std::sort(rows.begin(), rows.end(), [](const Variant* a, const Variant* b) { return a->place < b->place; });
  return rows;
}

}  // namespace

absl::StatusOr<BuiltImage> BuildImage(const ir::Module& module, const ir::Function& function,
                                      const CompileOptions& options, ir::ImageKind kind) {
  absl::StatusOr<BuiltImage> built = BuildOne(module, function, options, kind);
  if (absl::IsResourceExhausted(built.status()))
    built = BuildWithoutAsyncMma(module, function, options, built.status());
  if (!built.ok()) return built;
  return Final(module, function, options, kind, *std::move(built));
}

absl::StatusOr<std::vector<BuiltImage>> BuildImages(const ir::Module& module, const ir::Function& function,
                                                    const CompileOptions& options, ir::ImageKind kind) {
  absl::StatusOr<BegunImages> begun = BeginVariants(module, function, options, kind);
  if (!begun.ok()) return begun.status();
  const Variant* general = nullptr;
  for (const Variant* v : ByPlace()) general = (*begun)[static_cast<size_t>(v->id)] ? v : general;
  std::vector<BuiltImage> images;
  for (const Variant* v : ByPlace()) {
    std::optional<Begun>& image = (*begun)[static_cast<size_t>(v->id)];
    if (!image) continue;
    absl::StatusOr<BuiltImage> built = Finish(module, function, options, kind, *std::move(image));
    if (absl::IsResourceExhausted(built.status())) {
      if (v != general) {
        RemarkOfRegisters(module, function, options, "an image is left out, as another one takes the same arguments");
        continue;
      }
      built = BuildWithoutAsyncMma(module, function, options, built.status());
    }
    if (!built.ok()) return built.status();
    CompileOptions of_variant = options;
    of_variant.permissions = v->permissions;
    built = Final(module, function, of_variant, kind, *std::move(built));
    if (v->most_spills >= 0 && built->assembled.spill_bytes > v->most_spills) continue;
    const bool own_grid = built->compiled.joined[0] * built->compiled.joined[1] * built->compiled.parts == 1;
    v->require(built->compiled, options.joining, &built->image);
    if (own_grid && built->compiled.cluster_dim >= 0) images.push_back(InClusters(*built, options.joining));
    images.push_back(*std::move(built));
  }
  return images;
}

}  // namespace tile::codegen
