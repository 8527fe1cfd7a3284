#include "codegen/plan/resources/shared_use.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/op_views.h"
#include "codegen/gpu/ops.h"
#include "codegen/layout/block_scales.h"
#include "codegen/layout/conversion.h"
#include "codegen/plan/combine_updates.h"
#include "codegen/plan/fold_layout.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/mma/scaled_mma.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/mma/stored_operands.h"
#include "codegen/plan/mma/tcgen05_scaled.h"
#include "codegen/plan/parts_of_tile.h"
#include "codegen/plan/staging/prefetch_slot.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tensor_memory.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/plan/tma/device_tensor_map.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/plan/tma/tma_store.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr uint64_t kAnyExchange = uint64_t{1} << 62;
constexpr int kPrintedBytes = 4;      // a number that one thread has for all
constexpr int kBarrierBytes = 8;      // of an mbarrier
constexpr int kAddressBytes = 4;      // of tensor memory
constexpr uint64_t kSwizzled = 1024;  // alignment of what is swizzled by 128 bytes

// The operand is in a stage.
bool IsStaged(const Op& mma, int i) { return CopyOf(mma, i) != nullptr || StageTileOf(mma.operand(i)) != nullptr; }

// Its operands are stored for it; at the GPU level stage_operands do that.
bool IsStoredScaled(const Op& op) {
  return IsScaledInColumns(op) && !ir::DefAs<gpu::ColumnSumsOp>(ir::MmaOp(op).acc());
}

// Of scales in shared memory, of the left (0) or right operand.
int64_t ScaleBytes(ir::Type scales, int side) {
  const auto shape = scales.shape();
  return kScalePieceBytes * (side == 0 ? ScalePieces(shape[0], shape[1]) : ScalePieces(shape[1], shape[0]));
}

class Accountant {
 public:
  // `decides`: parts of products are chosen by the memory that is left; else they are decided.
  Accountant(const Target& target, const Schedule& schedule, const ir::Function& function, bool decides)
      : schedule_(schedule), decides_(decides), most_(MostExchange(function)), account_(target, schedule.persistent) {}

  SharedAccount Run(const ir::Function& f) {
    account_.Begin(f);
    // What the GPU level allocates comes first.
    ir::Walk(f.body(), [&](const Op* op) {
      const bool copies = IsGpuOp(op, GpuOpcode::kCopyAhead);
      if (IsGpuOp(op, GpuOpcode::kFetchAhead) || (copies && CopiesByTma(*op))) Ring(*op);
      if ((copies && ColumnsThrough(*op) > 0) || IsStoredScaled(*op)) account_.Reserve(kBarrierBytes, kBarrierBytes);
    });
    Columns(f);
    Block(*f.body());
    account_.Close();
    return std::move(account_);
  }

  // Products and the number of their parts along K, where that was chosen.
  const absl::flat_hash_map<const Op*, int64_t>& parts() const { return parts_; }

 private:
  void Block(const ir::Block& block) {
    for (const Op* op : block) {
      const Op* outer = account_.ServeFor(op);
      if (IsGpuOp(*op->info())) {
        UseOfGpuLevel(*op);
      } else {
        Use(*op);
      }
      if (!IsFetch(op) && !op->info()->has(ir::kElementBody)) {
        for (int r = 0; r < op->num_regions(); ++r) {
          if (op->region(r) != nullptr) Block(*op->region(r));
        }
      }
      account_.ServeFor(outer);
      account_.Passed(op);
    }
  }

  void Use(const Op& op) {
    if (ir::ForOp::Is(&op)) {
      CopyRing(op);
    } else if (ir::AllocSharedOp::Is(&op)) {
      account_.Reserve(SharedArrayBytes(op.result(0)->type()), 16);
    } else if (ir::StoreViewOp::Is(&op) && DecisionOf<Decision::kTensorMap>(op)) {
      const int64_t warp = TmaStoreOf(op, LayoutOrScalar(ir::StoreViewOp(op).tile())).warp_bytes();
      account_.Reserve(static_cast<uint64_t>(warp * schedule_.num_warps), kSwizzled);
    } else if (ir::MmaOp::Is(&op)) {
      Product(op);
    } else if (op.info()->has(ir::kElementBody)) {
      Fold(op);
    } else if (op.info()->is_access()) {
      Access(op);
    } else if (ir::PrintOp::Is(&op)) {
      Share(Layout::Replicated({}, schedule_.num_warps), kPrintedBytes);
    } else if (const Value* tile = MovedThroughMemory(op)) {
      InParts(static_cast<uint64_t>(tile->type().num_elements() * BytesOf(tile)));
    }
  }

  void UseOfGpuLevel(const Op& op) {
    if (ReadsCopy(op) || (IsGpuOp(&op, GpuOpcode::kConvertLayout) && StageTileOf(op.operand(0)) != nullptr)) return;
    if (IsGpuOp(&op, GpuOpcode::kConvertLayout)) {
      Exchange(LayoutOrScalar(op.operand(0)), LayoutOrScalar(op.result(0)), op.result(0));
    } else if (const auto stages = ir::As<gpu::AllocStagesOp>(&op)) {
      account_.ReserveStages(op, static_cast<uint64_t>(stages->bytes() * stages->stages()));
    } else if (const auto overlay = ir::As<gpu::OverlayStagesOp>(&op)) {
      account_.ReserveCopies(static_cast<uint64_t>(BeginInOverlay(op) + overlay->bytes() * overlay->stages()));
    } else if (gpu::ClaimStagesOp::Is(&op)) {
      account_.ClaimCopies(op);
    } else if (const auto barriers = ir::As<gpu::AllocBarriersOp>(&op)) {
      account_.Reserve(static_cast<uint64_t>(kBarrierBytes * barriers->count()), kBarrierBytes);
    } else if (gpu::AllocTensorMapOp::Is(&op)) {
      account_.Reserve(kDeviceTensorMapBytes, kMapBytes);
    } else if (gpu::AllocColumnsOp::Is(&op)) {
      account_.Reserve(kAddressBytes, kAddressBytes);
    } else if (const auto operand = ir::As<gpu::StageOperandOp>(&op)) {
      const auto bytes = static_cast<uint64_t>(BytesOfOperand(op));
      if (const auto offsets = DecisionOf<Decision::kOffsets>(op)) {
        account_.ReserveOperand(static_cast<uint64_t>((*offsets)[0]), bytes);
      } else {
        account_.ReserveKept(operand->source(), op.block(), bytes, kSwizzled);
      }
    } else if (const auto words = ir::As<gpu::FragmentWordsOp>(&op)) {
      const Value* v = words->source();
      if (StageTileOf(v) == nullptr) Exchange(LayoutOrScalar(v), LhsFragments(op), v);
    }
  }

  // Of operations that put a tile into memory row-major, that tile.
  const Value* MovedThroughMemory(const Op& op) const {
    if (PartsOfTile(op)) return nullptr;
    if (ir::CatOp::Is(&op)) return op.result(0);
    if (const auto insert = ir::As<ir::InsertOp>(&op)) return insert->source();
    if (ir::ExtractOp::Is(&op) && IsInEachWarp(LayoutOrScalar(op.operand(0)))) return nullptr;
    return ir::ExtractOp::Is(&op) || ir::PackOp::Is(&op) || ir::UnpackOp::Is(&op) ? op.operand(0) : nullptr;
  }

  // Foresees what passes/expand/fetch_ring.cc and expand_copies.cc allocate.
  void Ring(const Op& fetch) {
    const StageLayout stage = StageOf(fetch);
    const bool copies = IsGpuOp(&fetch, GpuOpcode::kCopyAhead);
    const Op* outer = account_.ServeFor(copies ? fetch.parent() : nullptr);
    const auto bytes = static_cast<uint64_t>(stage.ring_bytes(schedule_.stages));
    copies ? account_.ReserveCopies(bytes) : account_.ReserveStages(fetch, bytes);
    Barriers(schedule_.stages);
    for (size_t i = 0; i < DeviceTensorMapsOf(fetch).size(); ++i) account_.Reserve(kDeviceTensorMapBytes, kMapBytes);
    if (copies && ComesApart(fetch, schedule_.stages)) Barriers(schedule_.stages);
    if (stage.conversion_buffers > 0) Barriers(stage.conversion_buffers);
    account_.ServeFor(outer);
  }

  // Foresees what passes/expand allocates for tensor memory: barriers of the sums that stay there, and the place where its address comes.
  void Columns(const ir::Function& f) {
    bool any = false;
    ir::Walk(f.body(), [&](const Op* op) {
      any = any || (IsGpuOp(op, GpuOpcode::kCopyAhead) && ColumnsThrough(*op) > 0) || IsStoredScaled(*op);
      if (!IsGpuOp(op, GpuOpcode::kFetchAhead) || !SumsInColumns(*op)) return;
      Barriers(1);
      any = true;
    });
    if (any) account_.Reserve(kAddressBytes, kAddressBytes);
  }

  // Of stages: full, and free.
  void Barriers(int stages) {
    for (int i = 0; i < 2; ++i) account_.Reserve(static_cast<uint64_t>(kBarrierBytes * stages), kBarrierBytes);
  }

  // Foresees what expand_copies.cc allocates for loops whose threads copy, and where operands are put that products read from memory.
  void CopyRing(const Op& loop) {
    const Op* copy = CopyIn(loop);
    if (copy == nullptr) return;
    if (!CopiesByTma(*copy)) account_.ReserveCopies(static_cast<uint64_t>(StageOf(*copy).ring_bytes(schedule_.stages)));
    for (const Op* op : *copy->block()) {
      if (!StoresRhs(*op) || !KindOf(*op).reads_stages()) continue;
      const Value* rhs = op->operand(1);
      account_.ReserveKept(rhs, copy->block(), static_cast<uint64_t>(StoredRhs(rhs->type()).bytes()), kSwizzled);
    }
    for (int i = 0; i < copy->num_results(); ++i) {
      for (const ir::Use* use = copy->result(i)->uses(); use != nullptr; use = use->next) {
        const Op& mma = *use->owner;
        if (DecisionOf<Decision::kStagesLhs>(mma) && KindOf(mma).reads_stages() && IsInvariant(mma, 0))
          account_.ReserveKept(mma.operand(0), loop.block(), static_cast<uint64_t>(StagedLhs(mma).bytes()), kSwizzled);
      }
    }
  }

  void Fold(const Op& op) {
    const Layout& own = LayoutOrScalar(op.operand(0));
    const Layout layout = FoldLayout(op, own, schedule_.num_warps);
    const int dim = static_cast<int>(ir::FoldOp(op).dim());
    const Layout total = layout.Slice(dim).RemoveZeroRegisters();
    for (int i = 0; i < op.num_results(); ++i) Exchange(own, layout, op.operand(i));
    if (!DecisionOf<Decision::kBatched>(op)) ExchangeOfWarps(op);
    const Layout& end = ir::ScanOp::Is(&op) ? layout : total;
    for (int i = 0; i < op.num_results(); ++i) Exchange(end, LayoutOrScalar(op.result(i)), op.result(i));
  }

  // All at once, or result by result.
  void ExchangeOfWarps(const Op& op) {
    std::vector<uint64_t> all;
    for (const Op* fold : ReducesTogether(op)) {
      for (const uint64_t bytes : OfWarps(*fold)) all.push_back(bytes);
    }
    const uint64_t bytes = std::accumulate(all.begin(), all.end(), uint64_t{0});
    if (bytes > most_) {
      for (const uint64_t each : all) InParts(each);
    } else if (bytes > 0 && !account_.ReserveOnce(bytes)) {
      account_.Scratch(bytes);
    }
  }

  // What warps exchange for each result.
  std::vector<uint64_t> OfWarps(const Op& fold) {
    const Layout layout = FoldLayout(fold, LayoutOrScalar(fold.operand(0)), schedule_.num_warps);
    const int dim = static_cast<int>(ir::FoldOp(fold).dim());
    const Layout total = layout.Slice(dim).RemoveZeroRegisters();
    const auto& warps = BitsAlong(layout, dim).in[static_cast<int>(In::kWarp)];
    std::vector<uint64_t> bytes;
    for (int i = 0; !warps.empty() && i < fold.num_results(); ++i) {
      bytes.push_back(FoldPartsBytes(int64_t{1} << warps.size(), total, BytesOf(fold.result(i))));
    }
    return bytes;
  }

  // Strong loads and atomics are done by the first of the threads that hold an element.
  void Access(const Op& op) {
    if (const auto plan = CombinationOf(op)) {
      if (plan->in_table()) account_.Scratch(static_cast<uint64_t>(plan->table_bytes()));
      return;
    }
    const Value* value = op.num_results() > 0 && op.result(0)->type().is_tile() ? op.result(0) : nullptr;
    if (value == nullptr) return;
    if (DecisionOf<Decision::kPrefetchSlot>(op)) {
      const int64_t bytes = PrefetchSlotBytes(value->type().elem(), LayoutOrScalar(value), schedule_.num_warps);
      account_.Reserve(static_cast<uint64_t>(CopiesAheadOf(op) * bytes), kPrefetchVector);
    }
    if (op.info()->has(ir::kWrites)) {
      if (value->has_uses()) Share(LayoutOrScalar(value), BytesOf(value));
    } else if (ir::OrderingOf(op) != ir::MemoryOrdering::kWeak) {
      Share(LayoutOrScalar(value), BytesOf(value));
    }
  }

  void Product(const Op& op) {
    if (FetchOf(op) != nullptr || ir::DefAs<gpu::ColumnSumsOp>(ir::MmaOp(op).acc())) return;
    if (IsScaledInColumns(op)) return ScaledProduct(op);
    if (HasOperandsStored(op)) {
      for (const StoredOperand& stored : StoredOperandsOf(op))
        account_.ReserveOperand(static_cast<uint64_t>(stored.offset), static_cast<uint64_t>(stored.bytes));
    } else if (DecisionOf<Decision::kStagesLhs>(op) && !IsInvariant(op, 0)) {
      // One that the iteration makes, and that the product reads from memory.
      account_.ReserveKept(op.operand(0), op.block(), static_cast<uint64_t>(StagedLhs(op).bytes()), kSwizzled);
    }
    switch (KindOf(op).operands()) {
      case OperandsBy::kStages: return ExchangeOperands(op);
      case OperandsBy::kFragments: return ProductOfFragments(op);
      case OperandsBy::kElements: return ProductOfElements(op);
    }
  }

  // Foresees what passes/expand/scaled_products.cc stores.
  void ScaledProduct(const Op& op) {
    for (int i = 0; i < op.num_operands(); ++i) {
      const Value* v = op.operand(i);
      const int scale = ScaleOf(op, i);
      if (i == ir::MmaOp(op).acc_at()) continue;
      if (scale < 0) {
        Exchange(LayoutOrScalar(v), StorableLayout(LayoutOrScalar(v), v->type(), i, schedule_.num_warps), v);
      }
      const int64_t bytes = scale < 0 ? StagedLhs(v->type()).bytes() : ScaleBytes(v->type(), scale);
      account_.Reserve(static_cast<uint64_t>(bytes), kSwizzled);
    }
  }

  // Those that come from registers, one after the other.
  void ExchangeOperands(const Op& op) {
    for (int i = 0; i < 2; ++i) {
      if (IsStaged(op, i) || ir::DefAs<gpu::WordsTileOp>(op.operand(i))) continue;
      const std::optional<Layout> fragment = KindOf(op).FragmentLayout(op, i);
      if (fragment) Exchange(LayoutOrScalar(op.operand(i)), *fragment, op.operand(i));
    }
  }

  void ProductOfFragments(const Op& op) {
    int64_t parts = DecisionOf<Decision::kParts>(op).value_or(1);
    // Pieces of an operand set the steps along K of the other one.
    if (decides_) {
      parts = 1;
      const int64_t steps = KindOf(op).StepsAlongK(op);
      while (!HasPieces(op) && MmaExchangeBytes(op, parts) > most_ && parts < steps) parts *= 2;
      if (MmaExchangeBytes(op, parts) > most_) parts = 1;
      parts_[&op] = parts;
    }
    const uint64_t bytes = MmaExchangeBytes(op, parts);
    if (bytes > most_) {
      ExchangeOperands(op);
    } else if (bytes > 0) {
      account_.Scratch(bytes);
    }
  }

  static bool HasPieces(const Op& op) {
    for (int i = 0; i < 2; ++i) {
      if (const Op* copy = CopyOf(op, i); copy != nullptr && StageOf(*copy).piece_bytes > 0) return true;
    }
    return false;
  }

  void ProductOfElements(const Op& op) {
    const int64_t k = ShapeOfMma(op).k;
    const auto bytes = [&](int64_t parts) {
      uint64_t all = 0;
      for (int i = 0; i < 2; ++i) {
        if (!IsStaged(op, i)) all += FmaTableBytes(op.operand(i), parts);
      }
      if (const auto scales = ir::As<ir::MmaScaledOp>(&op))
        all += FmaTableBytes(scales->lhs_scale(), 1) + FmaTableBytes(scales->rhs_scale(), 1);
      return all;
    };
    int64_t parts = DecisionOf<Decision::kParts>(op).value_or(1);
    if (decides_) {
      const bool undecided = most_ == kAnyExchange;
      const uint64_t room = undecided ? account_.Left() : most_;
      const int64_t least = undecided ? kFmaUnroll : 1;
      for (parts = 1; bytes(parts) > room && k / parts > least;) parts *= 2;
      parts_[&op] = parts;
    }
    if (bytes(parts) > 0) account_.Scratch(bytes(parts));
  }

  void InParts(uint64_t bytes) { account_.Scratch(PartBytes(bytes, most_)); }
  void Exchange(const Layout& from, const Layout& to, const Value* v) {
    if (const uint64_t bytes = ConversionBytes(from, to, BytesOf(v), most_); bytes > 0) account_.Scratch(bytes);
  }
  void Share(const Layout& layout, int bytes) {
    const bool copies = (layout.FreeMask(In::kLane) | layout.FreeMask(In::kWarp)) != 0;
    if (copies && !CopiesAreLanes(layout)) InParts(static_cast<uint64_t>(layout.elements() * bytes));
  }
  static int BytesOf(const Value* v) { return RegisterBytes(v->type().element()); }
  const Layout& LayoutOrScalar(const Value* v) const {
    const Layout* layout = LayoutOf(v->type());
    return layout == nullptr ? scalar_ : *layout;
  }

  const Schedule& schedule_;
  const bool decides_;
  absl::flat_hash_map<const Op*, int64_t> parts_;
  const uint64_t most_;
  const Layout scalar_ = Layout::Replicated({}, schedule_.num_warps);
  SharedAccount account_;
};

}  // namespace

int RegisterBytes(ir::Element e) {
  if (e.is_pointer()) return 8;
  return e.kind == ir::Elem::kTF32 ? 4 : std::max(1, ir::ElemInfoOf(e.kind).bits / 8);
}

uint64_t MostExchange(const ir::Function& function) {
  const Op* kernel = FindKernelOp(function);
  const auto decided = kernel == nullptr ? std::nullopt : DecisionOf<Decision::kExchangeBytes>(*kernel);
  return decided ? static_cast<uint64_t>(*decided) : kAnyExchange;
}

uint64_t PartBytes(uint64_t total, uint64_t most) { return std::min(total, std::bit_floor(most)); }

uint64_t ConversionBytes(const Layout& from, const Layout& to, int bytes, uint64_t most) {
  if (from == to || Convert(from, to, 8 * bytes).kind != ConversionKind::kShared) return 0;
  return PartBytes(static_cast<uint64_t>(from.elements()) * static_cast<uint64_t>(bytes),
                   std::min(most, kMostConversion));
}

bool CopiesAreLanes(const Layout& layout) {
  const Mask lanes = layout.FreeMask(In::kLane);
  for (int i = 0; i < layout.bits(In::kLane); ++i) {
    if ((lanes >> i & 1) != 0 && layout.bases(In::kLane)[static_cast<size_t>(i)] != 0) return false;
  }
  return layout.FreeMask(In::kWarp) == 0;
}

int64_t BeginInOverlay(const Op& overlay_stages) {
  const auto offsets = DecisionOf<Decision::kOffsets>(overlay_stages);
  return offsets ? (*offsets)[0] : 0;
}

uint64_t SharedArrayBytes(ir::Type type) {
  uint64_t elements = 1;
  for (int64_t size : type.shape()) elements *= static_cast<uint64_t>(size);
  return (elements * static_cast<uint64_t>(ir::MemoryBits(type.elem())) + 31) / 32 * 4;
}

uint64_t FragmentBytes(const Layout& source, int bytes, int64_t parts) {
  return (static_cast<uint64_t>(source.elements() / parts) * static_cast<uint64_t>(bytes) + 127) / 128 * 128;
}

uint64_t MmaExchangeBytes(const Op& mma, int64_t parts) {
  const MmaKind& kind = KindOf(mma);
  uint64_t all = 0;
  for (int i = 0; i < 2; ++i) {
    if (IsStaged(mma, i)) continue;
    const ir::Type type = mma.operand(i)->type();
    const Layout& source = *LayoutOf(type);
    const int bytes = RegisterBytes(type.element());
    const Layout fragment = kind.FragmentLayout(mma, i).value();
    if (source != fragment && Convert(source, fragment, 8 * bytes).kind == ConversionKind::kShared)
      all += FragmentBytes(source, bytes, parts);
  }
  return all;
}

int FmaBytes(ir::Elem e) { return e == ir::Elem::kF64 ? 8 : 4; }

uint64_t FmaTableBytes(const Value* operand, int64_t parts) {
  const ir::Type type = operand->type();
  const int64_t bytes = type.num_elements() / parts * FmaBytes(type.elem());
  return (static_cast<uint64_t>(bytes) + 15) / 16 * 16;
}

SharedAccount AccountOf(const Target& target, const Schedule& schedule, const ir::Function& function) {
  return Accountant(target, schedule, function, /*decides=*/false).Run(function);
}

SharedAccount DecideParts(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function) {
  Accountant accountant(target, schedule, *function, /*decides=*/true);
  SharedAccount account = accountant.Run(*function);
  ir::Walk(function->body(), [&](Op* op) {
    const auto chosen = accountant.parts().find(op);
    if (chosen == accountant.parts().end()) return;
    // Instead of what an account with less or more memory decided.
    if (chosen->second > 1 || DecisionOf<Decision::kParts>(*op)) Decide<Decision::kParts>(module, op, chosen->second);
  });
  return account;
}

bool IsInEachWarp(const Layout& layout) {
  const Masks &warps = layout.bases(In::kWarp), &lanes = layout.bases(In::kLane);
  return layout.registers() == 1 && std::all_of(warps.begin(), warps.end(), [](Mask base) { return base == 0; }) &&
         std::all_of(lanes.begin(), lanes.end(), [](Mask base) { return (base & (base - 1)) == 0; });
}

}  // namespace tile::codegen
