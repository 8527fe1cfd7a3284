// Strings and constants. How a constant's elements lie in the container depends on their type: i1 takes a bit, tf32
// three bytes, everything else its own size; one element stands for all of a tile.

#include "ir/tileir/tables.h"

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/tileir/dense_codec.h"

namespace tile::ir::tileir {

bool OffsetTable::Read(Cursor section, int width, const char* what) {
  what_ = what;
  const std::string label = absl::StrCat(what, " table");
  const uint64_t n = section.Count(label, width);
  section.Align(width, label);
  if (n > section.remaining() / width) return section.Fail(label, "its offsets do not fit the section");
  offsets_.reserve(n);
  for (uint64_t i = 0; i < n; ++i) {
    const uint64_t at = section.offset();
    const uint64_t offset = width == 4 ? section.U32(label) : section.U64(label);
    if (!offsets_.empty() && offset < offsets_.back()) return section.Fail(at, label, "offsets are not in order");
    offsets_.push_back(offset);
  }
  if (n > 0 && offsets_.back() > section.remaining()) {
    return section.Fail(label, absl::StrCat("offset ", offsets_.back(), " is outside the section"));
  }
  data_ = section;
  return section.ok();
}

Cursor OffsetTable::Item(uint64_t i) const {
  Cursor c = data_;
  const uint64_t end = i + 1 < offsets_.size() ? offsets_[i + 1] : data_.remaining();
  c.Bytes(offsets_[i], what_);
  return c.Sub(end - offsets_[i], what_);
}

bool StringTable::Read(Cursor section) {
  if (!table_.Read(section, 4, "string")) return false;
  copies_.resize(table_.size());
  return true;
}

absl::string_view StringTable::ReadString(Cursor& c) {
  const uint64_t at = c.offset();
  const uint64_t i = table_.ReadIndex(c);
  if (!c.ok()) return {};
  if (copies_[i]) return *copies_[i];
  Cursor item = table_.Item(i);
  if (item.remaining() > kMaxNameBytes) {
    c.Fail(at, "string", absl::StrCat("has ", item.remaining(), " bytes; the limit is ", kMaxNameBytes));
    return {};
  }
  const auto bytes = item.Bytes(item.remaining(), "string");
  const absl::string_view s(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto it = known_.find(s);
  if (it == known_.end()) it = known_.insert(module_->Copy(s)).first;
  copies_[i] = *it;
  return *it;
}

const Dense* ConstantTable::ReadConstant(Cursor& c, Type type) {
  const uint64_t at = c.offset();
  if (!type.is_tile() || !IsNum(type.elem())) {
    c.Fail(at, "constant",
           absl::StrCat("cannot have the type ", type.ToString(), "; only tiles of numbers can (not of i4)"));
    return nullptr;
  }
  const uint64_t i = table_.ReadIndex(c);
  if (!c.ok()) return nullptr;
  const Dense*& dense = decoded_[{i, type.elem(), type.num_elements()}];
  if (dense == nullptr) dense = Decode(table_.Item(i), type.elem(), type.num_elements());
  return dense;
}

const Dense* ConstantTable::Decode(Cursor item, Elem elem, int64_t count) {
  const uint64_t size = item.Count("constant", 1);
  const auto packed = item.Bytes(size, "constant");
  if (!item.ok()) return nullptr;
  std::vector<uint8_t> bytes;
  bool splat = false;
  if (!UnpackDense(elem, count, packed, &bytes, &splat)) {
    item.Fail("constant", absl::StrCat("has ", size, " bytes, which is neither one element nor ", count,
                                       " elements of ", ElemInfoOf(elem).spelling));
    return nullptr;
  }
  Dense* dense = module_->arena().New<Dense>();
  dense->elem = elem;
  dense->splat = splat;
  dense->bytes = module_->arena().Copy(absl::Span<const uint8_t>(bytes));
  return dense;
}

}  // namespace tile::ir::tileir
