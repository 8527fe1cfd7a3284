#include "codegen/plan/mma/stored_operands.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "codegen/analysis/iterations.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/staged_mma.h"
#include "codegen/plan/staging/shared_account.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "ir/passes/rewrite.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int64_t kSwizzled = 1024;  // alignment of any swizzled tile
constexpr int kMostRowBytes = 128;
// So many blocks find room on a multiprocessor beside what is stored once: as many as registers let in, if each thread has so many. Two in any
// case, so that what threads exchange has the other half where a block is alone.
constexpr int kRegistersOfThread = 128, kLeastBlocks = 2;
// A loop of fewer iterations saves too few stores: storing before it takes barriers, too.
constexpr int64_t kLeastIterations = 3;

int64_t EndOf(const StoredOperand& operand) {
  return (operand.offset + operand.bytes + kSwizzled - 1) / kSwizzled * kSwizzled;
}

int64_t EndOf(const std::vector<StoredOperand>& operands) { return operands.empty() ? 0 : EndOf(operands.back()); }

// The outermost loop around the product that does not change the tile and has enough iterations; null: there is none.
const Op* LoopThatKeeps(const Op& mma, const Value& tile) {
  const Op* loop = nullptr;
  for (const Op* at = mma.parent(); at != nullptr && !ir::IsInside(&tile, at); at = at->parent()) {
    if (!at->info()->has(ir::kLoop)) continue;
    const int64_t iterations = IterationsOf(*at);
    if (iterations == 0 || iterations >= kLeastIterations) loop = at;
  }
  return loop;
}

// Which products have operands stored before loops.
enum class Kept : uint8_t { kDecided, kAll };

bool Keeps(const Op& mma) { return DecisionOf<Decision::kOffsets>(mma).has_value(); }

// Without their places.
std::vector<StoredOperand> OperandsToStore(const Op& mma, Kept which) {
  std::vector<StoredOperand> operands;
  for (int i = DecisionOf<Decision::kStagesLhs>(mma) ? 0 : 1; i < 2; ++i) {
    StoredOperand operand = {i, mma.operand(i)};
    const ir::Type type = operand.tile->type();
    while (const auto permute = ir::DefAs<ir::PermuteOp>(operand.tile)) {
      if (permute->permutation()[0] != 0) operand.turned = !operand.turned;
      operand.tile = permute->source();
    }
    operand.bytes = type.num_elements() * ir::MemoryBits(type.elem()) / 8;
    // A chunk of rows along N is as narrow as the columns of a group.
    operand.row_bytes = i == 0 ? kMostRowBytes : StagedMmaPlanOf(mma)->instruction_n * ir::MemoryBits(type.elem()) / 8;
    operand.row_bytes = std::min(kMostRowBytes, operand.row_bytes);
    if (which == Kept::kAll || Keeps(mma)) operand.loop = LoopThatKeeps(mma, *operand.tile);
    operands.push_back(operand);
  }
  return operands;
}

void ForStored(const Op& in, absl::FunctionRef<void(const Op&)> what) {
  if (HasOperandsStored(in)) what(in);
  for (int r = 0; r < in.num_regions() && !in.info()->has(ir::kElementBody); ++r) {
    if (in.region(r) == nullptr) continue;
    ir::Walk(in.region(r), [&](const Op* op) {
      if (HasOperandsStored(*op)) what(*op);
    });
  }
}

// The operands of products in this operation that are stored before loops, in order, with places: one for each tile.
std::vector<StoredOperand> KeptIn(const Op& outermost, Kept which) {
  std::vector<StoredOperand> kept;
  ForStored(outermost, [&](const Op& mma) {
    for (StoredOperand& operand : OperandsToStore(mma, which)) {
      if (operand.loop == nullptr) continue;
      const auto it = std::find_if(kept.begin(), kept.end(),
                                   [&](const StoredOperand& other) { return other.tile == operand.tile; });
      if (it != kept.end()) {
        it->row_bytes = std::min(it->row_bytes, operand.row_bytes);
        continue;
      }
      operand.offset = EndOf(kept);
      kept.push_back(operand);
    }
  });
  return kept;
}

// What several products of the block take of what is stored for them, in order, with places behind `end`. Nothing, if such products stand in
// operations of the block: they use the same memory.
std::vector<StoredOperand> SharedIn(const ir::Block& block, int64_t end, Kept which) {
  std::vector<StoredOperand> all, shared;
  for (const Op* op : block) {
    if (!HasOperandsStored(*op)) {
      bool inside = false;
      ForStored(*op, [&](const Op&) { inside = true; });
      if (inside) return {};
      continue;
    }
    for (const StoredOperand& operand : OperandsToStore(*op, which)) {
      if (operand.loop == nullptr) all.push_back(operand);
    }
  }
  struct Takers {
    int count = 0, row_bytes = kMostRowBytes;  // of all, the narrowest
  };
  absl::flat_hash_map<const Value*, Takers> takers;
  for (const StoredOperand& operand : all) {
    Takers& of_tile = takers[operand.tile];
    ++of_tile.count;
    of_tile.row_bytes = std::min(of_tile.row_bytes, operand.row_bytes);
  }
  for (const StoredOperand& operand : all) {
    Takers& of_tile = takers[operand.tile];
    if (std::exchange(of_tile.count, 0) < 2) continue;
    shared.push_back(operand);
    shared.back().row_bytes = of_tile.row_bytes;
    shared.back().offset = end;
    end = EndOf(shared.back());
  }
  return shared;
}

// Takes the place of the same tile; whether there is one.
bool TakePlace(const std::vector<StoredOperand>& places, StoredOperand* operand) {
  const auto it = std::find_if(places.begin(), places.end(),
                               [&](const StoredOperand& other) { return other.tile == operand->tile; });
  if (it == places.end()) return false;
  operand->offset = it->offset;
  operand->row_bytes = it->row_bytes;
  return true;
}

std::vector<StoredOperand> StoredOf(const Op& mma, Kept which) {
  const std::vector<StoredOperand> kept = KeptIn(*OutermostOf(&mma), which),
                                   shared = SharedIn(*mma.block(), EndOf(kept), which);
  int64_t end = std::max(EndOf(kept), EndOf(shared));
  std::vector<StoredOperand> stored = OperandsToStore(mma, which);
  for (StoredOperand& operand : stored) {
    if (TakePlace(operand.loop != nullptr ? kept : shared, &operand)) continue;
    operand.offset = end;
    end = EndOf(operand);
  }
  return stored;
}

}  // namespace

std::vector<StoredOperand> StoredOperandsOf(const Op& mma) {
  std::vector<StoredOperand> stored = StoredOf(mma, Kept::kDecided);
  const auto offsets = DecisionOf<Decision::kOffsets>(mma);
  for (size_t i = 0; offsets && i < stored.size(); ++i) stored[i].offset = (*offsets)[i];
  return stored;
}

std::vector<StoredOperand> StoredBefore(const Op& loop) {
  std::vector<StoredOperand> stored;
  ForStored(loop, [&](const Op& mma) {
    if (!Keeps(mma)) return;
    for (const StoredOperand& operand : StoredOperandsOf(mma)) {
      const bool known = std::any_of(stored.begin(), stored.end(),
                                     [&](const StoredOperand& other) { return other.tile == operand.tile; });
      if (operand.loop == &loop && !known) stored.push_back(operand);
    }
  });
  return stored;
}

int64_t BytesOfShared(const ir::Block& block) {
  const int64_t kept = block.parent() == nullptr ? 0 : EndOf(KeptIn(*OutermostOf(block.parent()), Kept::kDecided));
  return std::max(kept, EndOf(SharedIn(block, kept, Kept::kDecided)));
}

void KeepStored(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function) {
  const int blocks =
      std::max({kLeastBlocks, schedule.blocks, Target::kRegisters / (schedule.threads() * kRegistersOfThread)});
  absl::flat_hash_map<const Op*, int64_t> bytes;  // of what stands in an operation of the body, if all is kept
  std::vector<Op*> products;
  ir::Walk(function->body(), [&](Op* op) {
    if (!HasOperandsStored(*op)) return;
    int64_t& end = bytes[OutermostOf(op)];
    bool keeps = false;
    for (const StoredOperand& operand : StoredOf(*op, Kept::kAll)) {
      end = std::max(end, EndOf(operand));
      keeps = keeps || operand.loop != nullptr;
    }
    if (keeps) products.push_back(op);
  });
  for (Op* mma : products) {
    if (bytes[OutermostOf(mma)] > target.shared_bytes_of(blocks)) continue;
    std::vector<int64_t> offsets;
    for (const StoredOperand& operand : StoredOf(*mma, Kept::kAll)) offsets.push_back(operand.offset);
    Decide<Decision::kOffsets>(module, mma, offsets);
  }
}

}  // namespace tile::codegen
