#include "ir/tbc/type_check.h"

#include <algorithm>

#include "ir/limits.h"

namespace tile::ir {
namespace {

// Product of the sizes of a tile; -1 if one is negative or the product too large.
int64_t TileElements(absl::Span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d < 0 || d > kMaxTileElements) return -1;
    n *= d;
    if (n > kMaxTileElements) return -1;
  }
  return n;
}

bool NegativeButDynamic(absl::Span<const int64_t> v) {
  return std::any_of(v.begin(), v.end(), [](int64_t n) { return n < 0 && n != kDynamic; });
}

const char* ViewProblem(const TypeData& t) {
  if (t.tensor == nullptr || t.tensor->kind != TypeKind::kTensorView) return "a view must be over a tensor_view";
  if (!(t.element == t.tensor->element) || t.space != t.tensor->space) return "a view has the element of its tensor";
  const size_t rank = t.tensor->shape.size();
  if (t.kind == TypeKind::kGatherScatterView) {
    if (t.sparse_dim < 0 || static_cast<size_t>(t.sparse_dim) >= rank) return "sparse_dim is not a dimension";
    return nullptr;
  }
  if (t.dim_map.size() != t.shape.size()) return "dim_map must have an entry per dimension of the tile";
  for (int64_t d : t.dim_map) {
    if (d < 0 || static_cast<size_t>(d) >= rank) return "dim_map names a dimension that the tensor does not have";
  }
  if (t.kind == TypeKind::kStridedView && t.steps.size() != t.shape.size()) {
    return "traversal strides must have an entry per dimension of the tile";
  }
  return nullptr;
}

}  // namespace

const char* TypeProblem(const TypeData& t) {
  if (t.encoding != nullptr) return "types with an encoding exist during code generation only";
  if (t.kind == TypeKind::kFunction) return "a function type is no type of a value";
  if (t.shape.size() > kMaxRank) return "the rank is over 16";
  if (t.kind == TypeKind::kToken) return nullptr;
  if (t.kind == TypeKind::kTensorView) {
    if (t.strides.size() != t.shape.size()) return "a tensor_view must have a stride per dimension";
    if (NegativeButDynamic(t.shape)) return "a size is negative";
    return nullptr;
  }
  if (TileElements(t.shape) < 0) return "a size of the tile is negative or it has more than 2^24 elements";
  return t.kind == TypeKind::kTile ? nullptr : ViewProblem(t);
}

const char* ConstantProblem(Elem elem, bool splat, absl::Span<const uint8_t> bytes) {
  if (elem == Elem::kPtr) return "a constant can't hold pointers";
  const size_t size = static_cast<size_t>(StorageBytes(elem));
  if (bytes.size() % size != 0) return "the bytes of a constant are no whole number of elements";
  if (splat && bytes.size() != size) return "a splat holds exactly one element";
  if (static_cast<int64_t>(bytes.size()) > kMaxConstantBytes) return "a constant has more than 2^30 bytes";
  if (elem == Elem::kI1 && std::any_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b > 1; })) {
    return "an i1 is neither 0 nor 1";
  }
  if (IsSubByte(elem) && std::any_of(bytes.begin(), bytes.end(), [](uint8_t b) { return b > 15; })) {
    return "a 4-bit element has more than 4 bits";
  }
  if (elem == Elem::kTF32) {
    for (size_t i = 0; i < bytes.size(); i += 4) {
      if (bytes[i] != 0 || (bytes[i + 1] & 0x1f) != 0) return "a tf32 has bits below its 19";
    }
  }
  return nullptr;
}

}  // namespace tile::ir
