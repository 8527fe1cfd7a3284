// Types of values. A Type is a pointer to interned, immutable data owned by a TypeContext (one per Module): equal types
// of one module are equal pointers. Building a type checks nothing; `ir/verify/verify_type.cc` holds the rules.
//
//   TypeContext types;
//   Type t = types.Tile(Element::Number(Elem::kF32), {128, 64});
//   t.shape()[0];                   // 128
//   t.ToString();                   // "tile<128x64xf32>"
//
// Thread-safety: reading is safe from any thread; making types is not.
#ifndef TILE_IR_TYPE_H_
#define TILE_IR_TYPE_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "ir/element.h"

namespace tile::ir {

enum class TypeKind : uint8_t {
  kTile,
  kTensorView,
  kPartitionView,
  kStridedView,
  kGatherScatterView,
  kToken,
  kFunction
};
enum class MemorySpace : uint8_t { kGlobal, kShared };

// A size or stride known only at run time ("?").
inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

class Type;

struct TypeData {
  TypeKind kind = TypeKind::kToken;
  Element element;               // tile, tensor_view; a view over one: its element
  std::vector<int64_t> shape;    // tile; tensor_view (kDynamic allowed); views: shape of one tile
  std::vector<int64_t> strides;  // tensor_view: elements, kDynamic allowed
  MemorySpace space = MemorySpace::kGlobal;
  const TypeData* tensor = nullptr;  // views: the tensor_view
  std::vector<int64_t> dim_map;      // partition, strided: tile dimension k runs along tensor dimension dim_map[k]
  std::vector<int64_t> steps;        // strided: elements between neighbouring tiles
  int sparse_dim = 0;                // gather_scatter
  std::optional<Padding> padding;    // views
  std::vector<const TypeData*> inputs, results;  // function
  int64_t num_elements = 1;                      // tile, views: product of shape, saturated
  const void* encoding = nullptr;                // for code generation; opaque here
};

class Type {
 public:
  Type() = default;
  explicit Type(const TypeData* data) : data_(data) {}

  explicit operator bool() const { return data_ != nullptr; }
  friend bool operator==(Type a, Type b) = default;
  const TypeData* data() const { return data_; }
  const TypeData* operator->() const { return data_; }

  TypeKind kind() const { return data_->kind; }
  bool is_tile() const { return kind() == TypeKind::kTile; }
  bool is_token() const { return kind() == TypeKind::kToken; }
  bool is_tensor_view() const { return kind() == TypeKind::kTensorView; }
  bool is_grid_view() const { return kind() == TypeKind::kPartitionView || kind() == TypeKind::kStridedView; }
  bool is_view() const { return is_grid_view() || kind() == TypeKind::kGatherScatterView; }
  bool is_scalar() const { return is_tile() && data_->shape.empty(); }
  Element element() const { return data_->element; }
  Elem elem() const { return data_->element.kind; }
  absl::Span<const int64_t> shape() const { return data_->shape; }
  int rank() const { return static_cast<int>(data_->shape.size()); }
  int64_t num_elements() const { return data_->num_elements; }
  // The tensor_view under a view.
  Type tensor() const { return Type(data_->tensor); }

  // As the text form writes it.
  std::string ToString() const;

  template <class H>
  friend H AbslHashValue(H h, Type t) {
    return H::combine(std::move(h), t.data_);
  }

 private:
  const TypeData* data_ = nullptr;
};

class TypeContext {
 public:
  TypeContext() = default;
  TypeContext(const TypeContext&) = delete;
  TypeContext& operator=(const TypeContext&) = delete;

  Type Tile(Element element, absl::Span<const int64_t> shape);
  Type Scalar(Element element) { return Tile(element, {}); }
  Type Scalar(Elem e) { return Tile(Element::Number(e), {}); }
  Type TensorView(Element element, absl::Span<const int64_t> shape, absl::Span<const int64_t> strides,
                  MemorySpace space = MemorySpace::kGlobal);
  // An empty dim_map means the identity.
  Type PartitionView(absl::Span<const int64_t> tile, Type tensor, absl::Span<const int64_t> dim_map = {},
                     std::optional<Padding> padding = std::nullopt);
  Type StridedView(absl::Span<const int64_t> tile, absl::Span<const int64_t> steps, Type tensor,
                   absl::Span<const int64_t> dim_map = {}, std::optional<Padding> padding = std::nullopt);
  Type GatherScatterView(absl::Span<const int64_t> tile, Type tensor, int sparse_dim,
                         std::optional<Padding> padding = std::nullopt);
  Type Token();
  Type Function(absl::Span<const Type> inputs, absl::Span<const Type> results);
  // The tile type that a load through this view gives.
  Type TileOf(Type view) { return Tile(view.element(), view.shape()); }
  // The same type of this context; `t` may belong to another one.
  Type Import(Type t);
  Type Intern(TypeData data);

 private:
  std::deque<TypeData> storage_;  // stable addresses
  absl::flat_hash_map<size_t, std::vector<const TypeData*>> by_hash_;
};

// Rank-0 to rank-n element, e.g. "f32" or "ptr<f32>".
std::string ToString(Element e);

}  // namespace tile::ir

#endif  // TILE_IR_TYPE_H_
