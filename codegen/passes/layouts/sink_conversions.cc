#include "codegen/passes/layouts/sink_conversions.h"

#include <vector>

#include "codegen/analysis/product_chain.h"
#include "codegen/gpu/ops.h"
#include "ir/loops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// A load of the same block, or that in another form.
bool IsLoadedHere(const Value* v, const ir::Block* block) {
  const Op* def = v->def();
  while (def != nullptr && def->block() == block && (ir::ReshapeOp::Is(def) || ir::PermuteOp::Is(def)))
    def = def->operand(0)->def();
  return def != nullptr && def->block() == block && def->info()->is_load();
}

// The operation, or one that it holds.
bool Needs(const Op& op, const Value* v) {
  for (const ir::Use* use = v->uses(); use != nullptr; use = use->next) {
    for (const Op* user = use->owner; user != nullptr; user = user->parent()) {
      if (user == &op) return true;
    }
  }
  return false;
}

void Sink(ir::Module* module, Op* exchange) {
  bool passes_load = false;
  Op* at = exchange->next();
  for (; at != nullptr && !ir::IsLoop(at); at = at->next()) {
    if (Needs(*at, exchange->result(0))) return;
    passes_load = passes_load || at->info()->is_load();
  }
  if (at != nullptr && passes_load && Multiplies(*at)) ir::MoveBefore(module, exchange, at);
}

}  // namespace

absl::Status SinkConversions(Program& p) {
  std::vector<Op*> exchanges;
  ir::Walk(p.function->body(), [&](Op* op) {
    if (IsGpuOp(op, GpuOpcode::kConvertLayout) && IsLoadedHere(op->operand(0), op->block())) exchanges.push_back(op);
  });
  for (Op* exchange : exchanges) Sink(p.module.get(), exchange);
  return absl::OkStatus();
}

}  // namespace tile::codegen
