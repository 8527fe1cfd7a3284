#include "codegen/passes/tile_code.h"

#include <vector>

#include "codegen/gpu/ops.h"
#include "codegen/passes/signed_index.h"
#include "codegen/plan/tile_layout.h"
#include "codegen/target/decisions.h"
#include "ir/clone.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

void DropLayout(ir::Module* module, Value* v) {
  if (LayoutOf(v->type()) != nullptr) SetLayout(module, v, nullptr);
}

void DropLayouts(ir::Module* module, Block* body) {
  for (Value* arg : body->args()) DropLayout(module, arg);
  ir::Walk(body, [&](Op* op) {
    for (int i = 0; i < op->num_results(); ++i) DropLayout(module, op->result(i));
    for (int r = 0; r < op->num_regions(); ++r) {
      if (op->region(r) == nullptr) continue;
      for (Value* arg : op->region(r)->args()) DropLayout(module, arg);
    }
  });
}

// Its region takes its place.
void Inline(ir::Module* module, Op* fetch) {
  Block* region = fetch->region(0);
  for (int i = 0; i < region->num_args(); ++i) region->arg(i)->ReplaceAllUsesWith(fetch->operand(i));
  while (region->front() != region->back()) {
    Op* op = region->front();
    op->Unlink();
    module->InsertBefore(fetch->block(), fetch, op);
  }
  for (int i = 0; i < fetch->num_results(); ++i) fetch->result(i)->ReplaceAllUsesWith(region->back()->operand(i));
  fetch->Erase();
}

}  // namespace

std::unique_ptr<ir::Module> TileCodeOf(const ir::Module& module) {
  std::unique_ptr<ir::Module> plain = ir::CloneModule(module);
  for (const auto& f : plain->functions) {
    DropLayouts(plain.get(), f->body());
    std::vector<Op*> conversions, fetches, arrays, with_sign;
    Op* kernel = nullptr;
    ir::Walk(f->body(), [&](Op* op) {
      if (DecisionOf<Decision::kSignedIndex>(*op)) with_sign.push_back(op);
      op->DropAnnotations();
      if (IsGpuOp(op, GpuOpcode::kConvertLayout)) conversions.push_back(op);
      if (IsFetch(op)) fetches.push_back(op);
      if (IsGpuOp(op, GpuOpcode::kKernel)) kernel = op;
      if (ir::AllocSharedOp::Is(op) && op->parent() != nullptr) arrays.push_back(op);
    });
    if (kernel != nullptr) kernel->Erase();
    for (Op* op : arrays) {
      op->Unlink();
      plain->InsertBefore(f->body(), f->body()->front(), op);
    }
    for (Op* op : conversions) {
      op->result(0)->ReplaceAllUsesWith(op->operand(0));
      op->Erase();
    }
    for (Op* op : fetches) Inline(plain.get(), op);
    for (Op* op : with_sign) AccessByPointers(plain.get(), op);
  }
  return plain;
}

}  // namespace tile::codegen
