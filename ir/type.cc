#include "ir/type.h"

#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tile::ir {
namespace {

auto Key(const TypeData& d) {
  return std::tie(d.kind, d.element.kind, d.element.pointee, d.shape, d.strides, d.space, d.tensor, d.dim_map, d.steps,
                  d.sparse_dim, d.padding, d.inputs, d.results, d.encoding);
}

std::string Extent(int64_t n) { return n == kDynamic ? "?" : absl::StrCat(n); }

std::string Dims(absl::Span<const int64_t> dims, absl::string_view separator) {
  return absl::StrJoin(dims, separator, [](std::string* out, int64_t n) { absl::StrAppend(out, Extent(n)); });
}

bool IsIdentity(absl::Span<const int64_t> map) {
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

std::vector<int64_t> Vec(absl::Span<const int64_t> s) { return std::vector<int64_t>(s.begin(), s.end()); }

std::vector<int64_t> MapOrIdentity(absl::Span<const int64_t> map, size_t rank) {
  if (!map.empty()) return Vec(map);
  std::vector<int64_t> id(rank);
  for (size_t i = 0; i < rank; ++i) id[i] = static_cast<int64_t>(i);
  return id;
}

}  // namespace

std::string ToString(Element e) {
  if (e.is_pointer()) return absl::StrCat("ptr<", ElemInfoOf(e.pointee).spelling, ">");
  return ElemInfoOf(e.kind).spelling;
}

std::string Type::ToString() const {
  if (data_ == nullptr) return "<no type>";
  const TypeData& d = *data_;
  const std::string padding = d.padding ? absl::StrCat(", padding_value = ", Keyword(*d.padding)) : "";
  const std::string tile = absl::StrCat("tile=(", Dims(d.shape, "x"), ")");
  const auto map = [&] {
    // An identity of another rank is wrong, and must be seen.
    const bool implied = IsIdentity(d.dim_map) && d.dim_map.size() == d.shape.size();
    return implied ? std::string() : absl::StrCat(", dim_map=[", absl::StrJoin(d.dim_map, ", "), "]");
  };
  switch (d.kind) {
    case TypeKind::kTile:
      return absl::StrCat("tile<", Dims(d.shape, "x"), d.shape.empty() ? "" : "x", ir::ToString(d.element), ">");
    case TypeKind::kTensorView:
      return absl::StrCat("tensor_view<", Dims(d.shape, "x"), d.shape.empty() ? "" : "x", ir::ToString(d.element),
                          d.shape.empty() ? "" : absl::StrCat(", strides=[", Dims(d.strides, ","), "]"),
                          d.space == MemorySpace::kShared ? ", shared" : "", ">");
    case TypeKind::kPartitionView:
      return absl::StrCat("partition_view<", tile, padding, ", ", tensor().ToString(), map(), ">");
    case TypeKind::kStridedView:
      return absl::StrCat("strided_view<", tile, ", traversal_strides=[", absl::StrJoin(d.steps, ","), "]", padding,
                          ", ", tensor().ToString(), map(), ">");
    case TypeKind::kGatherScatterView:
      return absl::StrCat("gather_scatter_view<", tile, padding, ", ", tensor().ToString(),
                          ", sparse_dim=", d.sparse_dim, ">");
    case TypeKind::kToken: return "token";
    case TypeKind::kFunction: {
      const auto list = [](const std::vector<const TypeData*>& types) {
        return absl::StrJoin(types, ", ", [](std::string* out, const TypeData* t) { out->append(Type(t).ToString()); });
      };
      return absl::StrCat("(", list(d.inputs), ") -> (", list(d.results), ")");
    }
  }
  return "<unknown type>";
}

Type TypeContext::Intern(TypeData d) {
  size_t h =
      absl::HashOf(static_cast<int>(d.kind), static_cast<int>(d.element.kind), static_cast<int>(d.element.pointee),
                   d.shape, d.strides, d.tensor, d.dim_map, d.steps, d.inputs, d.results);
  for (const TypeData* t : by_hash_[h]) {
    if (Key(*t) == Key(d)) return Type(t);
  }
  d.num_elements = 1;
  for (int64_t n : d.shape) {
    if (n < 0) n = 1;  // dynamic; only tiles and views use the count
    if (__builtin_mul_overflow(d.num_elements, n, &d.num_elements))
      d.num_elements = std::numeric_limits<int64_t>::max();
  }
  storage_.push_back(std::move(d));
  by_hash_[h].push_back(&storage_.back());
  return Type(&storage_.back());
}

Type TypeContext::Tile(Element element, absl::Span<const int64_t> shape) {
  TypeData d;
  d.kind = TypeKind::kTile;
  d.element = element;
  d.shape = Vec(shape);
  return Intern(std::move(d));
}

Type TypeContext::TensorView(Element element, absl::Span<const int64_t> shape, absl::Span<const int64_t> strides,
                             MemorySpace space) {
  TypeData d;
  d.kind = TypeKind::kTensorView;
  d.element = element;
  d.shape = Vec(shape);
  d.strides = Vec(strides);
  d.space = space;
  return Intern(std::move(d));
}

namespace {
TypeData ViewData(TypeKind kind, absl::Span<const int64_t> tile, Type tensor, std::optional<Padding> padding) {
  TypeData d;
  d.kind = kind;
  d.element = tensor.element();
  d.space = tensor->space;
  d.tensor = tensor.data();
  d.shape = Vec(tile);
  d.padding = padding;
  return d;
}
}  // namespace

Type TypeContext::PartitionView(absl::Span<const int64_t> tile, Type tensor, absl::Span<const int64_t> dim_map,
                                std::optional<Padding> padding) {
  TypeData d = ViewData(TypeKind::kPartitionView, tile, tensor, padding);
  d.dim_map = MapOrIdentity(dim_map, tile.size());
  return Intern(std::move(d));
}

Type TypeContext::StridedView(absl::Span<const int64_t> tile, absl::Span<const int64_t> steps, Type tensor,
                              absl::Span<const int64_t> dim_map, std::optional<Padding> padding) {
  TypeData d = ViewData(TypeKind::kStridedView, tile, tensor, padding);
  d.steps = Vec(steps);
  d.dim_map = MapOrIdentity(dim_map, tile.size());
  return Intern(std::move(d));
}

Type TypeContext::GatherScatterView(absl::Span<const int64_t> tile, Type tensor, int sparse_dim,
                                    std::optional<Padding> padding) {
  TypeData d = ViewData(TypeKind::kGatherScatterView, tile, tensor, padding);
  d.sparse_dim = sparse_dim;
  return Intern(std::move(d));
}

Type TypeContext::Token() { return Intern(TypeData()); }

Type TypeContext::Function(absl::Span<const Type> inputs, absl::Span<const Type> results) {
  TypeData d;
  d.kind = TypeKind::kFunction;
  for (Type t : inputs) d.inputs.push_back(t.data());
  for (Type t : results) d.results.push_back(t.data());
  return Intern(std::move(d));
}

Type TypeContext::Import(Type t) {
  if (!t) return t;
  TypeData d = *t.data();
  if (d.tensor != nullptr) d.tensor = Import(Type(d.tensor)).data();
  for (const TypeData*& i : d.inputs) i = Import(Type(i)).data();
  for (const TypeData*& r : d.results) r = Import(Type(r)).data();
  return Intern(std::move(d));
}

}  // namespace tile::ir
