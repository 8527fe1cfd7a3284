#include "ir/tileir/pools.h"

#include "absl/strings/str_cat.h"
#include "ir/tileir/dense_codec.h"

namespace tile::ir::tileir {

void WriteErrors::Add(absl::string_view message) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat(place_, ": ", message));
}

void WriteErrors::Need(int since, absl::string_view item) {
  if (since == 0) {
    Add(absl::StrCat(item, " is an extension that Tile IR does not have; keep the module as .tbc or .tile"));
  } else if (!Exists(since, version_)) {
    Add(absl::StrCat(item, " came with version ", VersionText(since), "; write that version instead of ",
                     VersionText(version_)));
  }
}

uint64_t Pool::Add(std::string item) {
  const auto [it, is_new] = index_.try_emplace(std::move(item), items_.size());
  if (is_new) items_.push_back(&it->first);
  return it->second;
}

std::string Pool::Encode() const {
  Sink s;
  s.Varint(items_.size());
  s.Align(width_);
  uint64_t offset = 0;
  for (const std::string* item : items_) {
    s.Fixed(offset, width_);
    offset += item->size();
  }
  for (const std::string* item : items_) s.Append(*item);
  return s.Take();
}

uint64_t Pools::Constant(const Dense& d) {
  const std::string packed = PackDense(d);
  Sink s;
  s.Varint(packed.size());
  s.Append(packed);
  return constants.Add(s.Take());
}

uint64_t TypePool::Add(Element e) {
  Sink s;
  const ElemInfo& info = ElemInfoOf(e.kind);
  errors_->Need(info.since, info.spelling);
  s.Varint(info.tag);
  if (e.is_pointer()) {
    if (Exists(kSincePointerFlags, errors_->version())) s.Varint(0);
    s.Varint(Add(Element::Number(e.pointee)));
  }
  return pool_.Add(s.Take());
}

uint64_t TypePool::Add(Type t) {
  if (const auto it = known_.find(t.data()); it != known_.end()) return it->second;
  Sink s;
  const auto tag = [&](TypeTag v) { s.Varint(static_cast<uint64_t>(v)); };
  switch (t.kind()) {
    case TypeKind::kToken: tag(TypeTag::kToken); break;
    case TypeKind::kTile:
      tag(TypeTag::kTile);
      s.Varint(Add(t.element()));
      s.Ints(t.shape(), 8);
      break;
    case TypeKind::kTensorView:
      if (t->space != MemorySpace::kGlobal) errors_->Need(0, t.ToString());
      tag(TypeTag::kTensorView);
      if (Exists(kSincePointerFlags, errors_->version())) s.Varint(0);
      s.Varint(Add(t.element()));
      s.Ints(t.shape(), 8);
      s.Ints(t->strides, 8);
      break;
    case TypeKind::kPartitionView:
    case TypeKind::kStridedView:
    case TypeKind::kGatherScatterView: EncodeView(t, s); break;
    case TypeKind::kFunction: errors_->Add(absl::StrCat(t.ToString(), " is no type of a value")); break;
  }
  return known_[t.data()] = pool_.Add(s.Take());
}

void TypePool::EncodeView(Type t, Sink& s) {
  const bool has_flags = Exists(kSinceTypeFlags, errors_->version());
  const TypeTag tag = t.kind() == TypeKind::kPartitionView ? TypeTag::kPartitionView
                      : t.kind() == TypeKind::kStridedView ? TypeTag::kStridedView
                                                           : TypeTag::kGatherScatterView;
  if (tag != TypeTag::kPartitionView) errors_->Need(kSinceTypeFlags, t.ToString());
  s.Varint(static_cast<uint64_t>(tag));
  if (has_flags) s.Varint(t->padding.has_value());
  s.Ints(t.shape(), 4);
  if (tag == TypeTag::kStridedView) s.Ints(t->steps, 4);
  s.Varint(Add(t.tensor()));
  if (tag == TypeTag::kGatherScatterView) {
    s.Varint(t->sparse_dim);
  } else {
    s.Ints(t->dim_map, 4);
  }
  if (!has_flags) s.Fixed(t->padding.has_value(), 1);
  if (t->padding) s.Varint(static_cast<uint64_t>(*t->padding));
}

uint64_t TypePool::AddSignature(absl::Span<Type const> params) {
  Sink s;
  s.Varint(static_cast<uint64_t>(TypeTag::kFunction));
  s.Varint(params.size());
  for (Type t : params) s.Varint(Add(t));
  s.Varint(0);
  return pool_.Add(s.Take());
}

}  // namespace tile::ir::tileir
