#include "codegen/passes/slicing/slice_nest.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/analysis/slice_dims.h"
#include "codegen/analysis/tile_value.h"
#include "ir/loops.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

namespace op = ir::ops;
using ir::Block;
using ir::Op;
using ir::Opcode;
using ir::Value;

// Of a reduce or scan: it combines elements, and takes nothing from the loop around it.
bool IsClosed(const Op& fold, const Block& body) {
  bool closed = true;
  for (int r = 0; r < fold.num_regions(); ++r) {
    ir::Walk(fold.region(r), [&](Op* inside) {
      for (int i = 0; i < inside->num_operands(); ++i) closed = closed && !StandsIn(*inside->operand(i), body);
    });
  }
  return closed;
}

bool IsWeakLoad(const Op& op) { return op.info()->is_load() && IsAccessOfMemory(op) && IsWeak(op); }

}  // namespace

std::string WhyNotNest(const Op& loop) {
  if (!ir::ForOp::Is(&loop)) return absl::StrCat(loop.info()->mnemonic, " does not count");
  const ir::CarryingLoop carrying(loop);
  if (carrying.latch() == nullptr) return "it ends early";
  if (HoldsProducts(loop)) return "it holds matrix products";
  for (const Op* inside : *carrying.body()) {
    const bool tokens_only = inside->opcode() == Opcode::kJoinTokens || inside->opcode() == Opcode::kMakeToken;
    if (inside == carrying.latch() || tokens_only || IsWeakLoad(*inside)) continue;
    if (!inside->info()->has(ir::kPure)) return absl::StrCat(inside->info()->mnemonic, " would be done again");
    if (inside->num_regions() == 0) continue;
    if (!inside->info()->has(ir::kElementBody) || !IsClosed(*inside, *carrying.body()))
      return absl::StrCat(inside->info()->mnemonic, " has a body of its own");
  }
  return "";
}

int64_t WordsOfNest(const Op& loop) {
  const ir::CarryingLoop carrying(loop);
  int64_t words = 0;
  for (int k = 0; k < carrying.num_carried(); ++k) words += RegistersOf(carrying.arg(k)->type());
  if (words == 0) return 0;
  for (const Op* inside : *carrying.body()) {
    if (IsWeakLoad(*inside)) words += RegistersOf(inside->result(0)->type());
  }
  return words;
}

bool StandsIn(const Value& v, const Block& body) {
  return (v.def() != nullptr ? v.def()->block() : v.block()) == &body;
}

const Op* AtIn(const Block& block, const Op& op) {
  const Op* at = &op;
  while (at->block() != &block) at = at->parent();
  return at;
}

Values OuterTokens(Value* token, const Block& body) {
  const ir::CarryingLoop loop(*body.parent());
  Values outer, open = {token};
  absl::flat_hash_set<const Value*> seen = {token};
  const auto reach = [&](Value* v) {
    if (v->type().is_token() && seen.insert(v).second) open.push_back(v);
  };
  while (!open.empty()) {
    Value* v = open.back();
    open.pop_back();
    if (!StandsIn(*v, body)) {
      outer.push_back(v);
    } else if (v->def() == nullptr) {
      reach(loop.init(loop.carried_by(v)));
      reach(loop.next(loop.carried_by(v)));
    } else {
      for (int i = 0; i < v->def()->num_operands(); ++i) reach(v->def()->operand(i));
    }
  }
  return outer;
}

void EraseNest(ir::Module* module, Op* op) {
  for (int i = 0; i < op->num_results(); ++i) {
    if (op->result(i)->has_uses() && !op->result(i)->type().is_token()) return;
  }
  const ir::CarryingLoop loop(*op);
  for (int i = 0; i < op->num_results(); ++i) {
    if (!op->result(i)->has_uses()) continue;
    const Values outer = OuterTokens(loop.arg(i), *loop.body());
    Value* token = outer[0];
    if (outer.size() > 1) ir::WriteBefore(module, op, [&](ir::Builder& b) { token = op::JoinTokens(b, outer); });
    op->result(i)->ReplaceAllUsesWith(token);
  }
  op->Erase();
}

}  // namespace tile::codegen
