#include "codegen/passes/value_numbers.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "codegen/gpu/ops.h"
#include "ir/op_views.h"
#include "ir/passes/common.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

// Nothing else decides what comes of it.
bool IsArithmetic(const Op& op) {
  const uint16_t other = ir::kReads | ir::kWrites | ir::kEffect | ir::kTerminator | ir::kRegions;
  return op.info()->has(ir::kPure) && (op.info()->traits & other) == 0;
}

bool IsPassed(const Op* load) {
  return load != nullptr && load->info()->is_load() && !IsFetch(load) &&
         ir::OrderingOf(*load) == ir::MemoryOrdering::kWeak;
}

}  // namespace

int64_t ValueNumbers::Of(const Value* v) {
  std::vector<const Value*> open = {v};
  while (!open.empty()) {
    const Value* next = open.back();
    if (numbers_.contains(next)) {
      open.pop_back();
      continue;
    }
    const Op* def = next->def();
    if (def == nullptr || !IsArithmetic(*def)) {
      numbers_[next] = Fresh();
      continue;
    }
    const size_t size = open.size();
    for (int i = 0; i < def->num_operands(); ++i) {
      if (!numbers_.contains(def->operand(i))) open.push_back(def->operand(i));
    }
    if (open.size() == size) Number(*def);
  }
  return numbers_.at(v);
}

int64_t ValueNumbers::OfLoaded(const Op& load) {
  const Value* token = ir::AccessOp(load).token();
  std::vector<int64_t> operands;
  for (int i = 0; i < load.num_operands(); ++i) {
    if (load.operand(i) != token) operands.push_back(Of(load.operand(i)));
  }
  const Value* waits = WaitsFor(load);
  operands.push_back(waits == nullptr ? -1 : Of(waits));
  return Find(load, std::move(operands));
}

const Value* ValueNumbers::WaitsFor(const Op& load) {
  std::vector<const Value*> passed;
  const Value* token = ir::AccessOp(load).token();
  while (token != nullptr && IsPassed(token->def())) {
    if (const auto it = waits_.find(token); it != waits_.end()) {
      token = it->second;
      break;
    }
    passed.push_back(token);
    token = ir::AccessOp(*token->def()).token();
  }
  for (const Value* p : passed) waits_[p] = token;
  return token;
}

void ValueNumbers::Number(const Op& op) {
  std::vector<int64_t> operands;
  for (int i = 0; i < op.num_operands(); ++i) operands.push_back(numbers_.at(op.operand(i)));
  const int64_t first = Find(op, std::move(operands));
  for (int i = 0; i < op.num_results(); ++i) numbers_[op.result(i)] = first + i;
}

int64_t ValueNumbers::Find(const Op& op, std::vector<int64_t> operands) {
  const size_t hash = absl::HashOf(ir::HashOfKind(op), operands);
  std::vector<Known>& same_hash = known_[hash];
  for (const Known& known : same_hash) {
    if (known.operands == operands && ir::AreAlike(*known.op, op)) return known.first;
  }
  const int64_t first = next_;
  next_ += std::max(1, op.num_results());
  same_hash.push_back({&op, std::move(operands), first});
  return first;
}

}  // namespace tile::codegen
