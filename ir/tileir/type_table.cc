// Decodes types. The verifier judges whether a type makes sense (powers of two, permutations); refused here is only what the
// in-memory form cannot hold: kinds that do not nest, ranks that disagree, values that no enumeration has.

#include "ir/tileir/type_table.h"

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/tileir/format.h"

namespace tile::ir::tileir {
namespace {

const char* KindName(int kind) {
  static constexpr const char* kNames[] = {"an element type", "the type of a value", "a function type"};
  return kNames[kind];
}

}  // namespace

bool TypeTable::Read(Cursor section) {
  if (!table_.Read(section, 4, "type")) return false;
  if (table_.size() > static_cast<uint64_t>(kMaxTypes)) {
    return section.Fail("type table", absl::StrCat("has ", table_.size(), " types; the limit is ", kMaxTypes));
  }
  items_.resize(table_.size());
  // Every type is checked, used or not.
  for (uint64_t i = 0; i < items_.size() && section.ok(); ++i) Resolve(i, section);
  return section.ok();
}

TypeTable::Item TypeTable::ReadKind(Cursor& c, Kind kind) {
  const uint64_t at = c.offset();
  const uint64_t i = table_.ReadIndex(c);
  if (!c.ok()) return {};
  const Item item = Resolve(i, c);
  if (!c.ok()) return {};
  if (item.kind != kind) {
    c.Fail(at, absl::StrCat("type ", i),
           absl::StrCat("is ", KindName(static_cast<int>(item.kind)), "; expected ", KindName(static_cast<int>(kind))));
    return {};
  }
  return item;
}

// A signature of views of tensor_views of elements is the deepest type there is; hostile files nest without end.
TypeTable::Item TypeTable::Resolve(uint64_t index, Cursor& from) {
  if (items_[index].state == State::kDone) return items_[index];
  if (items_[index].state == State::kBusy) {
    from.Fail(absl::StrCat("type ", index), "contains itself");
    return {};
  }
  if (depth_ == kMaxDepth) {
    from.Fail(absl::StrCat("type ", index), "is nested too deeply");
    return {};
  }
  items_[index].state = State::kBusy;
  Cursor c = table_.Item(index);
  ++depth_;
  Item item = Decode(c);
  --depth_;
  while (c.ok() && !c.at_end()) {
    if (c.U8("type") != kFiller) c.Fail(absl::StrCat("type ", index), "has bytes after its last field");
  }
  if (!c.ok()) return {};
  item.state = State::kDone;
  return items_[index] = item;
}

TypeTable::Item TypeTable::Decode(Cursor& c) {
  const uint64_t at = c.offset();
  const uint64_t tag = c.Varint("type");
  if (!c.ok()) return {};
  const auto too_new = [&](int since) {
    if (Exists(since, version_)) return false;
    c.Fail(at, absl::StrCat("type with tag ", tag), TooNew(since, version_));
    return true;
  };
  if (tag == static_cast<uint64_t>(TypeTag::kPointer)) {
    ReadFlags(c, kSincePointerFlags, /*padding=*/false);
    const uint64_t pointee_at = c.offset();
    const Element pointee = ReadElement(c);
    if (c.ok() && pointee.is_pointer()) {
      c.Fail(pointee_at, "ptr", "points to a pointer; only number types can be pointed to");
    }
    return {State::kDone, Kind::kElement, Element::Pointer(pointee.kind), Type()};
  }
  if (const auto elem = FindElemByTag(tag > 1000 ? -1 : static_cast<int>(tag))) {
    too_new(ElemInfoOf(*elem).since);
    return {State::kDone, Kind::kElement, Element::Number(*elem), Type()};
  }
  switch (static_cast<TypeTag>(tag > 0xFF ? 0 : tag)) {
    case TypeTag::kPointer: break;
    case TypeTag::kTile: return Value(DecodeTile(c));
    case TypeTag::kTensorView: return Value(DecodeTensorView(c));
    case TypeTag::kPartitionView: return Value(DecodePartitionView(c));
    case TypeTag::kFunction: return {State::kDone, Kind::kFunction, {}, DecodeFunction(c)};
    case TypeTag::kToken: return Value(types_->Token());
    case TypeTag::kGatherScatterView: return too_new(1303) ? Item() : Value(DecodeGatherScatterView(c));
    case TypeTag::kStridedView: return too_new(1303) ? Item() : Value(DecodeStridedView(c));
  }
  c.Fail(at, absl::StrCat("type with tag ", tag), "no type has this tag");
  return {};
}

// Flags of optional parameters: bit 0 is the padding of a view, or the attribute of a pointer.
uint64_t TypeTable::ReadFlags(Cursor& c, int since, bool padding) {
  if (!Exists(since, version_)) return 0;
  const uint64_t at = c.offset();
  const uint64_t flags = c.Varint("flags of a type");
  if (padding ? flags > 1 : flags > 0) {
    c.Fail(at, absl::StrCat("flags 0x", absl::Hex(flags), " of a type"),
           !padding && flags == 1
               ? "pointer attributes (peer and multicast memory) are not supported; use plain global pointers"
               : "unknown");
  }
  return flags;
}

std::optional<Padding> TypeTable::ReadPadding(Cursor& c, uint64_t present) {
  if (present == 0) return std::nullopt;
  const uint64_t at = c.offset();
  const uint64_t v = c.Varint("padding");
  if (v > static_cast<uint64_t>(Padding::kNegInf)) {
    c.Fail(at, "padding", absl::StrCat("has the unknown value ", v));
    return std::nullopt;
  }
  return static_cast<Padding>(v);
}

std::vector<int64_t> TypeTable::ReadTileShape(Cursor& c) { return c.Ints("shape of a view's tile", 4, kMaxRank); }

std::vector<int64_t> TypeTable::ReadDimMap(Cursor& c, size_t rank) {
  const uint64_t at = c.offset();
  std::vector<int64_t> map = c.Ints("dim_map", 4, kMaxRank);
  if (map.size() != rank) c.Fail(at, "dim_map", absl::StrCat("has ", map.size(), " entries for a tile of rank ", rank));
  return map;
}

Type TypeTable::ReadTensor(Cursor& c) {
  const uint64_t at = c.offset();
  const Type t = ReadValueType(c);
  if (!c.ok()) return t;
  if (!t.is_tensor_view()) c.Fail(at, "view", absl::StrCat("is over ", t.ToString(), "; expected a tensor_view"));
  return t;
}

Type TypeTable::DecodeTile(Cursor& c) {
  const Element element = ReadElement(c);
  const uint64_t at = c.offset();
  const std::vector<int64_t> shape = c.Ints("shape of a tile", 8, kMaxRank);
  for (int64_t n : shape) {
    if (n <= 0) c.Fail(at, "tile", absl::StrCat("has the size ", n, "; sizes of tiles are positive and known"));
  }
  return c.ok() ? types_->Tile(element, shape) : Type();
}

Type TypeTable::DecodeTensorView(Cursor& c) {
  ReadFlags(c, kSincePointerFlags, /*padding=*/false);
  const Element element = ReadElement(c);
  const std::vector<int64_t> shape = c.Ints("shape of a tensor_view", 8, kMaxRank);
  const uint64_t at = c.offset();
  const std::vector<int64_t> strides = c.Ints("strides of a tensor_view", 8, kMaxRank);
  if (strides.size() != shape.size()) {
    c.Fail(at, "tensor_view", absl::StrCat("has ", shape.size(), " sizes but ", strides.size(), " strides"));
  }
  return c.ok() ? types_->TensorView(element, shape, strides) : Type();
}

Type TypeTable::DecodePartitionView(Cursor& c) {
  const uint64_t flags = ReadFlags(c, kSinceTypeFlags, /*padding=*/true);
  const std::vector<int64_t> tile = ReadTileShape(c);
  const Type tensor = ReadTensor(c);
  const std::vector<int64_t> map = ReadDimMap(c, tile.size());
  const bool present = Exists(kSinceTypeFlags, version_) ? flags : c.Bool("presence of a padding");
  const auto padding = ReadPadding(c, present);
  return c.ok() ? types_->PartitionView(tile, tensor, map, padding) : Type();
}

Type TypeTable::DecodeStridedView(Cursor& c) {
  const uint64_t flags = ReadFlags(c, kSinceTypeFlags, /*padding=*/true);
  const std::vector<int64_t> tile = ReadTileShape(c);
  const uint64_t at = c.offset();
  const std::vector<int64_t> steps = c.Ints("traversal strides", 4, kMaxRank);
  if (steps.size() != tile.size()) {
    c.Fail(at, "strided_view", absl::StrCat("has ", steps.size(), " steps for a tile of rank ", tile.size()));
  }
  const Type tensor = ReadTensor(c);
  const std::vector<int64_t> map = ReadDimMap(c, tile.size());
  const auto padding = ReadPadding(c, flags);
  return c.ok() ? types_->StridedView(tile, steps, tensor, map, padding) : Type();
}

Type TypeTable::DecodeGatherScatterView(Cursor& c) {
  const uint64_t flags = ReadFlags(c, kSinceTypeFlags, /*padding=*/true);
  const std::vector<int64_t> tile = ReadTileShape(c);
  const Type tensor = ReadTensor(c);
  const uint64_t sparse_dim = c.Index("sparse_dim", tile.size());
  const auto padding = ReadPadding(c, flags);
  return c.ok() ? types_->GatherScatterView(tile, tensor, static_cast<int>(sparse_dim), padding) : Type();
}

Type TypeTable::DecodeFunction(Cursor& c) {
  std::vector<Type> lists[2];
  for (std::vector<Type>& list : lists) {
    const uint64_t n = c.Count("types of a signature", 1);
    for (uint64_t i = 0; i < n && c.ok(); ++i) list.push_back(ReadValueType(c));
  }
  return c.ok() ? types_->Function(lists[0], lists[1]) : Type();
}

}  // namespace tile::ir::tileir
