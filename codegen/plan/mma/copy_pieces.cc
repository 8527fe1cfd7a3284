#include "codegen/plan/mma/copy_pieces.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "codegen/analysis/all_iterations.h"
#include "codegen/analysis/product_chain.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/staging/staging.h"
#include "codegen/target/tuning.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using FromStages = std::function<bool(const Op&)>;

constexpr int64_t kRows = 16, kColumns = 8;  // of an instruction
constexpr int64_t kLeastBytes = 1024;        // the alignment of what is swizzled by 128 bytes

// The one product that reads result i, if it can take it in pieces.
const Op* ProductOf(const Target& target, const Op& copy, const StageLayout& stage, int i) {
  const StagedTile& tile = stage.tiles[static_cast<size_t>(i)];
  const ir::Use* use = copy.result(i)->uses();
  if (use == nullptr || use->next != nullptr || stage.shares_slot(static_cast<size_t>(i))) return nullptr;
  const Op& mma = *use->owner;
  if (!IsProduct(mma) || mma.block() != copy.block() || CopyOf(mma, tile.lhs ? 1 : 0) != nullptr) return nullptr;
  if (!HasMatrixInstruction(target, mma)) return nullptr;
  if (!ir::LoadViewOp::Is(tile.load) || tile.rounded != nullptr || tile.turned != 0) return nullptr;
  return &mma;
}

// The products of the block are in this order.
bool ComeInOrder(const ir::Block& block, const std::vector<const Op*>& products) {
  size_t next = 0;
  for (const Op* op : block) next += next < products.size() && op == products[next] ? 1 : 0;
  return next == products.size();
}

// What the pieces of a copy_ahead can be.
struct Pieces {
  std::vector<const Op*> products;  // of its results
  int64_t least = kLeastBytes;      // bytes of one
  bool whole = false;               // operands that products read there
};

// Nothing: its tiles don't come in pieces.
std::optional<Pieces> PiecesOf(const Target& target, const Op& copy, const FromStages& from_stages) {
  const StageLayout stage = StageOf(copy);
  Pieces p;
  for (int i = 0; i < copy.num_results(); ++i) {
    const Op* mma = ProductOf(target, copy, stage, i);
    if (mma == nullptr) return std::nullopt;
    p.products.push_back(mma);
    const StagedTile& tile = stage.tiles[static_cast<size_t>(i)];
    const bool whole = from_stages(*mma);
    p.whole = p.whole || whole;
    p.least = std::max(p.least, whole ? tile.slot_bytes() : tile.chunk_bytes());
  }
  // Pieces are counted: all iterations must come to all products.
  if (!ComeInOrder(*copy.block(), p.products) || !AllIterationsEnd(*copy.parent())) return std::nullopt;
  return p;
}

// Each product can be done piece by piece.
bool Fits(const PieceRing& ring, const Pieces& p, int num_warps, const Op& copy, WholePieces least) {
  const StageLayout stage = StageOf(copy);
  for (size_t i = 0; i < p.products.size(); ++i) {
    const StagedTile& tile = stage.tiles[i];
    const int64_t parts = std::max<int64_t>(1, tile.slot_bytes() / ring.bytes);
    const MmaShape s = ShapeOfMma(*p.products[i]);
    // All warps have a part of each piece's rows and columns.
    const bool shared = tile.k_major || parts == 1 || s.m / kRows * (s.n / kColumns) / parts >= num_warps;
    if (parts > tile.chunks() || !shared) return false;
  }
  if (!p.whole) return ring.pieces >= tuning::kLeastPieces;
  const int wholes = least == WholePieces::kMoreThanOne ? 1 : tuning::kStagesForWhole;
  return ring.pieces >= wholes * copy.num_results() + (least == WholePieces::kTwo ? 0 : 1);
}

}  // namespace

PieceRing PlanPieces(const Target& target, int num_warps, const std::vector<const Op*>& copies, int64_t room,
                     const FromStages& from_stages, WholePieces least_whole) {
  std::vector<Pieces> all;
  int64_t least = kLeastBytes;
  bool whole = false;
  for (const Op* copy : copies) {
    const std::optional<Pieces> p = PiecesOf(target, *copy, from_stages);
    if (!p) return {};
    least = std::max(least, p->least);
    whole = whole || p->whole;
    all.push_back(*p);
  }
  PieceRing ring{least, static_cast<int>(room / least)};
  // Each has a barrier.
  while (!whole && ring.pieces >= 2 * tuning::kLeastPieces)
    ring = {2 * ring.bytes, static_cast<int>(room / (2 * ring.bytes))};
  for (size_t i = 0; i < copies.size(); ++i) {
    if (!Fits(ring, all[i], num_warps, *copies[i], least_whole)) return {};
  }
  return ring;
}

}  // namespace tile::codegen
