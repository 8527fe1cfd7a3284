#include "codegen/passes/canonical/cast_loads.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/passes/move_loads.h"
#include "ir/create_like.h"
#include "ir/float.h"
#include "ir/op_views.h"
#include "ir/ops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;
using ir::Op;
using ir::Value;

// The float type that all uses of the loaded tile cast it to; nullopt: they do something else.
std::optional<ir::Element> CastOf(const Op& load) {
  if (!ir::LoadViewOp::Is(&load) && !ir::LoadPtrOp::Is(&load)) return std::nullopt;
  const Value* tile = load.result(0);
  if (tile->uses() == nullptr || tile->type().is_scalar() || ir::IsFloat(tile->type().elem())) return std::nullopt;
  const Op& first = *tile->uses()->owner;
  if (!ir::BitcastOp::Is(&first)) return std::nullopt;
  const ir::Element to = first.result(0)->type().element();
  for (const ir::Use* use = tile->uses(); use != nullptr; use = use->next) {
    if (!ir::BitcastOp::Is(use->owner) || use->owner->result(0)->type().element() != to) return std::nullopt;
  }
  const bool is_float = !to.is_pointer() && ir::IsFloat(to.kind);
  return is_float ? std::optional(to) : std::nullopt;
}

// Only zeros are the same bits for every type.
bool IsPaddedByZeros(const Op& load) {
  if (const auto through = ir::As<ir::LoadPtrOp>(&load))
    return through->padding_value() == nullptr || ir::IsSplat(through->padding_value(), 0);
  const ir::Type view = ir::LoadViewOp(load).view()->type();
  return !view->padding || ir::PaddingBits(view.elem(), *view->padding) == 0;
}

// The operation that makes a view of a tensor in memory; null: this one is no such view.
const Op* TensorOf(const Value* view) {
  const Op* tensor =
      view->def() != nullptr && view->def()->num_operands() > 0 ? view->def()->operand(0)->def() : nullptr;
  return ir::MakeTensorViewOp::Is(tensor) ? tensor : nullptr;
}

Value* Like(ir::Builder& b, const Op& old, const std::vector<Value*>& operands, ir::Type type) {
  Op* made = ir::CreateLike(b.module(), old, operands, {type});
  b.module()->Append(b.block(), made);
  return made->result(0);
}

Value* Zeros(ir::Builder& b, ir::Type type) {
  ir::Arena& arena = b.module()->arena();
  const std::vector<uint8_t> bytes(static_cast<size_t>(ir::StorageBytes(type.elem())), 0);
  return op::Constant(b, type,
                      arena.New<ir::Dense>(ir::Dense{type.elem(), true, arena.Copy(absl::MakeConstSpan(bytes))}));
}

Value* CastPointers(ir::Builder& b, Value* pointers, ir::Element to) {
  return op::PtrToPtr(b, ir::WithElement(b.module(), pointers->type(), ir::Element::Pointer(to.kind)), pointers);
}

// The view of the same memory as elements of this type.
Value* CastView(ir::Module* module, const Value* view, ir::Element to) {
  Op *old = const_cast<Op*>(view->def()), *tensor = const_cast<Op*>(TensorOf(view));
  std::vector<Value*> of_tensor = ir::OperandsOf(*tensor), of_view = ir::OperandsOf(*old);
  ir::WriteBefore(module, tensor, [&](ir::Builder& b) {
    of_tensor[0] = CastPointers(b, of_tensor[0], to);
    of_view[0] = Like(b, *tensor, of_tensor, ir::WithElement(b.module(), tensor->result(0)->type(), to));
  });
  Value* made = nullptr;
  ir::WriteBefore(module, old, [&](ir::Builder& b) {
    made = Like(b, *old, of_view, ir::WithElement(b.module(), view->type(), to));
  });
  return made;
}

void Rewrite(ir::Module* module, Op* load, ir::Element to) {
  std::vector<Value*> operands = ir::OperandsOf(*load);
  const auto at = static_cast<size_t>(load->group_begin(0));
  if (ir::LoadViewOp::Is(load)) operands[at] = CastView(module, operands[at], to);
  ir::WriteBefore(module, load, [&](ir::Builder& b) {
    if (ir::LoadPtrOp::Is(load)) {
      operands[at] = CastPointers(b, operands[at], to);
      const Value* padding = ir::LoadPtrOp(*load).padding_value();
      for (Value*& operand : operands) {
        if (operand == padding) operand = Zeros(b, ir::WithElement(b.module(), padding->type(), to));
      }
    }
    std::vector<ir::Type> types = ir::ResultTypesOf(*load);
    types[0] = ir::WithElement(b.module(), types[0], to);
    Op* made = ir::CreateLike(module, *load, operands, types);
    module->Append(b.block(), made);
    while (const ir::Use* use = load->result(0)->uses()) ir::ReplaceOp(use->owner, made->result(0));
    for (int i = 1; i < load->num_results(); ++i) load->result(i)->ReplaceAllUsesWith(made->result(i));
  });
  load->Erase();
}

}  // namespace

absl::Status CastLoads(Program& p) {
  std::vector<std::pair<Op*, ir::Element>> loads;
  ir::Walk(p.function->body(), [&](Op* load) {
    const std::optional<ir::Element> to = CastOf(*load);
    if (to && IsPaddedByZeros(*load) && (ir::LoadPtrOp::Is(load) || TensorOf(ir::LoadViewOp(*load).view()) != nullptr))
      loads.emplace_back(load, *to);
  });
  for (const auto& [load, to] : loads) {
    const std::string taken = absl::StrCat("loads ", ir::ElemInfoOf(to.kind).spelling, ", to which it is cast");
    if (TakesStep(*p.module, *load, {"cast-loads", taken, ""}, "", &p.trace())) Rewrite(p.module.get(), load, to);
  }
  return absl::OkStatus();
}

}  // namespace tile::codegen
