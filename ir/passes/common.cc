#include "ir/passes/common.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::ir {
namespace {

bool MayShare(const Op& op, Share share) {
  const uint16_t stays = kReads | kWrites | kEffect | kTerminator | kRegions;
  if (!op.info()->has(kPure) || (op.info()->traits & stays) != 0) return false;
  for (int i = 0; i < op.num_results(); ++i) {
    if (share == Share::kScalars && !IsScalarLike(*op.result(i))) return false;
  }
  return true;
}

// Operands whose order does not matter come in one order.
std::vector<const Value*> InOneOrder(const Op& op) {
  std::vector<const Value*> operands;
  for (int i = 0; i < op.num_operands(); ++i) operands.push_back(op.operand(i));
  if (op.info()->has(kCommutative) && std::less<>()(operands[1], operands[0])) std::swap(operands[0], operands[1]);
  return operands;
}

}  // namespace

bool AreAlike(const Op& a, const Op& b) {
  if (a.info() != b.info() || a.num_results() != b.num_results() || a.num_operands() != b.num_operands()) return false;
  const FormatInfo& format = *a.info()->format;
  for (size_t f = 0; f < format.operands.size(); ++f) {
    if (a.group_end(static_cast<int>(f)) != b.group_end(static_cast<int>(f))) return false;
  }
  for (size_t i = 0; i < format.attrs.size(); ++i) {
    const Attr &x = a.attr(static_cast<int>(i)), &y = b.attr(static_cast<int>(i));
    if (x.present() != y.present() || (x.present() && !Equal(x, y))) return false;
  }
  for (int i = 0; i < a.num_results(); ++i) {
    if (a.result(i)->type() != b.result(i)->type()) return false;
  }
  return true;
}

size_t HashOfKind(const Op& op) {
  const size_t attrs = op.info()->format->attrs.size();
  size_t hash = absl::HashOf(op.info(), op.num_results() > 0 ? op.result(0)->type() : Type());
  for (size_t i = 0; i < attrs; ++i) hash = absl::HashOf(hash, HashOf(op.attr(static_cast<int>(i))));
  return hash;
}

namespace {

size_t HashOf(const Op& op) { return absl::HashOf(HashOfKind(op), InOneOrder(op)); }

bool AreSame(const Op& a, const Op& b) { return AreAlike(a, b) && InOneOrder(a) == InOneOrder(b); }

class Sharer {
 public:
  explicit Sharer(Share share) : share_(share) {}

  bool Visit(Block* block) {
    if (block == nullptr) return false;
    bool changed = false;
    const size_t outside = known_here_.size();
    for (Op* op = block->front(); op != nullptr;) {
      Op* next = op->next();
      for (int r = 0; r < op->num_regions(); ++r) changed = Visit(op->region(r)) || changed;
      if (MayShare(*op, share_)) changed = Find(op) || changed;
      op = next;
    }
    // What is computed in a block is known to no other one.
    for (; known_here_.size() > outside; known_here_.pop_back()) known_[known_here_.back()].pop_back();
    return changed;
  }

 private:
  bool Find(Op* op) {
    const size_t hash = HashOf(*op);
    std::vector<Op*>& same_hash = known_[hash];
    for (Op* first : same_hash) {
      if (!AreSame(*first, *op)) continue;
      for (int i = 0; i < op->num_results(); ++i) Replace(op->result(i), first->result(i));
      op->Erase();
      return true;
    }
    same_hash.push_back(op);
    known_here_.push_back(hash);
    return false;
  }

  Share share_;
  absl::flat_hash_map<size_t, std::vector<Op*>> known_;
  std::vector<size_t> known_here_;  // hashes, in the order of their operations
};

}  // namespace

bool IsScalarLike(const Value& v) { return !v.type().is_tile() || v.type().num_elements() == 1; }

bool ShareCommon(Function* function, Share share) { return Sharer(share).Visit(function->body()); }

}  // namespace tile::ir
