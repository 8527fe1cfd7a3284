#include "codegen/plan/staging/pointer_copy.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/missing_fact.h"
#include "codegen/analysis/origin.h"
#include "codegen/target/decisions.h"
#include "ir/float.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

using ir::Op;
using ir::Value;

constexpr int kVectorBytes = 16, kLeastBytes = 4;

absl::Status Missing(absl::string_view what) { return absl::FailedPreconditionError(what); }

std::string Told(const ir::Module& module, const MissingFact& m) {
  if (m.op == nullptr) return m.what;
  return absl::StrCat(m.what, " (", module.Where(m.op->loc, m.op->pos), ")");
}

// The longest copy along the dimension, as far as the pointers go: no group of so many bytes wraps around, since it begins at a
// multiple of them.
int BytesAlong(Facts* facts, const ir::LoadPtrOp& load, int dim, int element) {
  const Facts::Line line = facts->LineOf(load.source(), dim);
  const auto size = static_cast<uint64_t>(load.source()->type().shape()[static_cast<size_t>(dim)]);
  const uint64_t bytes = std::min(
      {std::min(line.rising, size) * static_cast<uint64_t>(element), line.start, static_cast<uint64_t>(kVectorBytes)});
  return std::max(element, static_cast<int>(bytes));
}

int MaskedBytesAlong(Facts* facts, const ir::LoadPtrOp& load, int dim, int element) {
  int bytes = BytesAlong(facts, load, dim, element);
  if (load.mask() == nullptr) return bytes;
  const uint64_t equal = facts->LineOf(load.mask(), dim).equal;
  while (bytes > element && equal < static_cast<uint64_t>(bytes / element)) bytes /= 2;
  return bytes;
}

// Why no four bytes of the tile move together.
std::string WhyTooNarrow(const ir::Module& module, Facts* facts, const ir::LoadPtrOp& load, int element) {
  for (int d = 0; d < load.source()->type().rank(); ++d) {
    const Facts::Line line = facts->LineOf(load.source(), d);
    if (line.rising == 1) continue;
    if (BytesAlong(facts, load, d, element) >= kLeastBytes) {
      const MissingFact why = WhyNotEqual(facts, load.mask(), d, static_cast<uint64_t>(kLeastBytes / element));
      return absl::StrCat("its mask is not known to be equal for neighbours along dimension ", d, ", as ",
                          Told(module, why));
    }
    return absl::StrCat("its pointers along dimension ", d, " are not known to begin at multiples of ", kLeastBytes,
                        " bytes (assume div_by says so of a base and of strides)");
  }
  return Told(module, WhyNotNeighbours(facts, load.source()));
}

}  // namespace

absl::StatusOr<PointerCopy> PlanPointerCopy(const ir::Module& module, Facts* facts, const Op& op) {
  const ir::LoadPtrOp load(op);
  if (ir::OrderingOf(op) != ir::MemoryOrdering::kWeak) return Missing("other threads may see the load: it is not weak");
  const ir::Type tile = load.result()->type();
  const int element = ir::MemoryBits(tile.elem()) / 8;
  if (element == 0 || tile.elem() == ir::Elem::kI1 || tile.element().is_pointer())
    return Missing("its elements are no numbers of whole bytes");
  if (load.mask() != nullptr && load.padding_value() != nullptr && !IsZero(load.padding_value()))
    return Missing("what its mask leaves out is not zero (cp.async writes zeros there)");
  PointerCopy best{-1, 0};
  for (int d = tile.rank() - 1; d >= 0; --d) {
    const int bytes = MaskedBytesAlong(facts, load, d, element);
    if (tile.shape()[static_cast<size_t>(d)] * element >= kVectorBytes && bytes > best.bytes) best = {d, bytes};
  }
  if (best.dim < 0) return Missing("no dimension of its tile has 16 bytes");
  if (best.bytes < kLeastBytes) return Missing(WhyTooNarrow(module, facts, load, element));
  return best;
}

void Decide(ir::Module* module, Op* load, const PointerCopy& copy) {
  Decide<Decision::kCopies>(module, load, {copy.dim, copy.bytes});
}

std::optional<PointerCopy> PointerCopyOf(const Op& load) {
  const auto copy = DecisionOf<Decision::kCopies>(load);
  if (!copy || copy->size() != 2 || !ir::LoadPtrOp::Is(&load)) return std::nullopt;
  return PointerCopy{static_cast<int>((*copy)[0]), static_cast<int>((*copy)[1])};
}

Layout CopyLayout(absl::Span<const int64_t> shape, int contiguous, int other, int element_bits, int num_warps) {
  absl::InlinedVector<int64_t, 4> elements(shape.size(), 1), lanes(shape.size(), 1), warps(shape.size(), 1);
  absl::InlinedVector<int, 4> order = {contiguous};
  const auto c = static_cast<size_t>(contiguous);
  elements[c] = kVectorBytes * 8 / element_bits;
  lanes[c] = std::min<int64_t>(32, shape[c] / elements[c]);
  const size_t rows = other >= 0 ? static_cast<size_t>(other) : c;
  lanes[rows] *= 32 / lanes[c];
  warps[rows] = num_warps;
  if (rows != c) order.push_back(other);
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    if (d != contiguous && d != other) order.push_back(d);
  }
  return Layout::Blocked(shape, elements, lanes, warps, order);
}

}  // namespace tile::codegen
