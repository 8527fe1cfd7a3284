#include "codegen/passes/verify_program.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/op_rules.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/tile_value.h"
#include "codegen/gpu/ops.h"
#include "codegen/gpu/schedule/verify.h"
#include "codegen/passes/tile_code.h"
#include "codegen/plan/mma/cross_iteration_mma.h"
#include "codegen/plan/mma/integer_max.h"
#include "codegen/plan/mma/lazy_rescale.h"
#include "codegen/plan/mma/overlapped_products.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/pointer_copy.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "ir/verify/verify.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

class Judge {
 public:
  Judge(const Target& target, const Schedule* schedule) : target_(target), schedule_(schedule) {}

  std::string Run(const ir::Function& f) {
    has_layouts_ = schedule_ != nullptr && HasLayouts(f);
    ir::Walk(f.body(), [&](Op* op) {
      if (fault_.empty()) Visit(f, op);
    });
    if (fault_.empty() && schedule_ != nullptr && !IsExpanded(f)) CheckRings(f);
    return fault_;
  }

 private:
  static bool HasLayouts(const ir::Function& f) {
    bool any = false;
    ir::Walk(f.body(), [&](Op* op) {
      for (int i = 0; i < op->num_results(); ++i)
        any = any || (NeedsLayout(op->result(i)->type()) && LayoutOf(op->result(i)->type()) != nullptr);
    });
    return any;
  }

  void Fail(const ir::Function& f, const Op* op, absl::string_view what) {
    fault_ = op == nullptr ? absl::StrCat("@", f.name, ": ", what)
                           : absl::StrCat(f.module()->Where(op->loc, op->pos), ": ", op->info()->mnemonic, ": ", what);
  }

  void Visit(const ir::Function& f, const Op* op) {
    if (IsFetch(op)) {
      if (const char* what = FetchFault(*op); *what != 0) return Fail(f, op, what);
      if (const std::string what = StageFault(*op); !what.empty()) return Fail(f, op, what);
    }
    if (IsGpuOp(op, GpuOpcode::kConvertLayout) && !has_layouts_ && !ReadsCopy(*op))
      return Fail(f, op, "there are no layouts yet");
    if (DecisionOf<Decision::kLazyRescale>(*op) && !KeepsTimesOne(*op))
      return Fail(f, op, "does not keep what it multiplies by one");
    if (DecisionOf<Decision::kIntegerMax>(*op) && !TakesIntegers(*op))
      return Fail(f, op, "is no maximum for which integers would do");
    const bool decided = has_layouts_ || DecisionOf<Decision::kInstruction>(*op);
    if (ir::MmaOp::Is(op) && decided && schedule_ != nullptr) {
      if (const std::string what = MmaFault(*op, schedule_->num_warps); !what.empty()) return Fail(f, op, what);
    }
    if (!has_layouts_) return;
    if (IsGpuOp(op, GpuOpcode::kCopyAhead) && StageOf(*op).conversion_buffers > 0 && !CopiesByTma(*op))
      return Fail(f, op, "has wide places, and TMA brings nothing");
    if (DecisionOf<Decision::kCrossIteration>(*op)) {
      const std::string why = IsProduct(*op) ? WhyNotLate(*op) : "it is no product";
      if (!why.empty()) return Fail(f, op, absl::StrCat("can't be late: ", why));
    }
    if (DecisionOf<Decision::kOverlaps>(*op)) {
      const std::string why = WhyNotRunning(*op);
      if (!why.empty()) return Fail(f, op, absl::StrCat("can't run while others begin: ", why));
    }
    if (DecisionOf<Decision::kTakesTurns>(*op) && schedule_->num_warps != 8)
      return Fail(f, op, "takes turns, and there are not two warpgroups");
    const Layout* common = nullptr;
    const auto visit = [&](const Value* v) {
      if (!NeedsLayout(v->type()) || !fault_.empty()) return;
      const Layout* layout = LayoutOf(v->type());
      if (layout == nullptr) return Fail(f, op, absl::StrCat(v->type().ToString(), " has no layout"));
      if (layout->shape() != v->type().shape()) {
        return Fail(
            f, op,
            absl::StrCat("the layout of ", v->type().ToString(), " is that of another shape: ", layout->ToString()));
      }
      if (layout->lanes() != 32 || layout->warps() != schedule_->num_warps) {
        return Fail(f, op,
                    absl::StrCat("the layout of ", v->type().ToString(), " is not for ", schedule_->num_warps,
                                 " warps: ", layout->ToString()));
      }
      if (!layout->IsSurjective())
        return Fail(f, op, absl::StrCat("some elements of ", v->type().ToString(), " lie nowhere"));
      const bool same = !IsGpuOp(*op->info()) && RuleOf(*op).layout == LayoutRule::kSame;
      if (!same && !op->info()->has(ir::kElementwise)) return;
      if (common != nullptr && common != layout) {
        return Fail(f, op, absl::StrCat("operands and results of ", op->info()->mnemonic, " have several layouts"));
      }
      common = layout;
    };
    for (int i = 0; i < op->num_operands(); ++i) visit(op->operand(i));
    for (int i = 0; i < op->num_results(); ++i) visit(op->result(i));
  }

  // "" if there is none.
  static const char* FetchFault(const Op& fetch) {
    const Op* loop = fetch.parent();
    const ir::Block* body = fetch.region(0);
    if (loop == nullptr || loop->opcode() != ir::Opcode::kFor) return "stands in no for";
    if (fetch.num_operands() != 1 || fetch.operand(0) != loop->region(0)->arg(0))
      return "does not take the loop's induction variable";
    if (body == nullptr || body->num_args() != 1 || body->back() == nullptr ||
        body->back()->opcode() != ir::Opcode::kYield || body->back()->num_operands() != fetch.num_results()) {
      return "its region does not yield its results";
    }
    for (int i = 0; i < fetch.num_results(); ++i) {
      if (!fetch.result(i)->has_uses()) return "a result is not used";
      for (const ir::Use* use = fetch.result(i)->uses(); use != nullptr; use = use->next) {
        const Op* user = use->owner;
        if (ReadsCopy(*user) && user->block() == fetch.block()) continue;
        if (!IsProduct(*user) || user->parent() != loop ||
            (user->operand(0) != use->value && user->operand(1) != use->value)) {
          return "a result is no operand of a product in the same loop, and nothing reads it there";
        }
      }
    }
    return "";
  }

  // What was decided about its stages; from the schedule on, something was. "" if there is no fault.
  std::string StageFault(const Op& fetch) const {
    const auto swizzles = DecisionOf<Decision::kSwizzle>(fetch), rotations = DecisionOf<Decision::kRowRotation>(fetch),
               offsets = DecisionOf<Decision::kOffsets>(fetch);
    if (!swizzles && !rotations && !offsets && schedule_ == nullptr) return "";
    const auto results = static_cast<size_t>(fetch.num_results());
    for (const auto& numbers : {swizzles, rotations, offsets}) {
      if (!numbers || numbers->size() != results) return "its stages don't say where each result lies";
    }
    const StageLayout stage = StageOf(fetch);
    for (size_t i = 0; i < results; ++i) {
      if (stage.shares_slot(i)) {
        const auto first = std::find(stage.offsets.begin(), stage.offsets.end(), stage.offsets[i]);
        if (!stage.tiles[i].lies_like(stage.tiles[static_cast<size_t>(first - stage.offsets.begin())]))
          return absl::StrCat("result ", i, " shares a slot with one that lies otherwise");
        continue;
      }
      int64_t end = stage.bytes;
      for (int64_t other : stage.offsets) {
        if (other > stage.offsets[i]) end = std::min(end, other);
      }
      const int64_t alignment = stage.InStage(i).alignment();
      if (stage.bytes % alignment != 0)
        return absl::StrCat("stages of ", stage.bytes, " bytes, one after another, are not multiples of ", alignment);
      if (stage.offsets[i] % alignment != 0 || stage.offsets[i] + stage.InStage(i).slot_bytes() > end) {
        return absl::StrCat("result ", i, " of ", stage.InStage(i).slot_bytes(), " bytes lies at ", stage.offsets[i],
                            " of a stage, before ", end);
      }
    }
    for (const Op* op : *fetch.region(0)) {
      if (IsGpuOp(op, GpuOpcode::kConvertLayout)) return "what it computes does not lie as its loads take it";
      if (ir::LoadPtrOp::Is(op) && !PointerCopyOf(*op)) return "nobody decided how a load through pointers is copied";
      const bool loads = op->opcode() == ir::Opcode::kLoadView;
      const bool described = DecisionOf<Decision::kTensorMap>(*op) || DecisionOf<Decision::kDeviceTensorMap>(*op);
      if (loads && IsGpuOp(&fetch, GpuOpcode::kFetchAhead) && !described) return "a load has no TMA descriptor";
    }
    return "";
  }

  // Rings of fetch_ahead lie beside each other, those of copy_ahead in one place.
  void CheckRings(const ir::Function& f) {
    int64_t fetched = 0, copied = 0, wide = 0, arrays = 0;
    ir::Walk(f.body(), [&](Op* op) {
      if (IsGpuOp(op, GpuOpcode::kFetchAhead)) fetched += StageOf(*op).bytes;
      if (IsGpuOp(op, GpuOpcode::kCopyAhead)) {
        const StageLayout stage = StageOf(*op);
        copied = std::max(copied, stage.unit_bytes());
        wide = std::max(wide, stage.ring_bytes(0));
      }
      if (op->opcode() == ir::Opcode::kAllocShared) {
        arrays += BytesOf(op->result(0)->type());
      }
    });
    if ((fetched + copied > 0) != (schedule_->stages >= 2)) {
      return Fail(f, nullptr,
                  absl::StrCat("there are ", schedule_->stages, " stages for rings of ", fetched + copied, " bytes"));
    }
    if ((fetched > 0) != schedule_->producer)
      return Fail(f, nullptr, "a producer warp and what is fetched ahead go together");
    const int64_t all = std::max(fetched, copied) * schedule_->stages + wide + arrays;
    if (all > static_cast<int64_t>(target_.shared_bytes)) {
      Fail(f, nullptr,
           absl::StrCat("rings and shared arrays take ", all, " bytes, ", target_.arch, " has ", target_.shared_bytes));
    }
  }

  const Target& target_;
  const Schedule* schedule_;
  bool has_layouts_ = false;
  std::string fault_;
};

}  // namespace

std::string ProgramFaults(const Target& target, const ir::Module& module, const Schedule* schedule) {
  for (const auto& f : module.functions) {
    if (std::string fault = Judge(target, schedule).Run(*f); !fault.empty()) return fault;
  }
  bool expanded = false;  // then it is no tile code
  for (const auto& f : module.functions) {
    if (!IsExpanded(*f)) continue;
    expanded = true;
    if (std::string fault = schedule::GpuLevelFaults(*f); !fault.empty()) return fault;
  }
  if (expanded) return "";
  ir::Diagnostics diagnostics;
  ir::Verify(*TileCodeOf(module), &diagnostics);
  return diagnostics.ok() ? "" : diagnostics.ToString();
}

}  // namespace tile::codegen
