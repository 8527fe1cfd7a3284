#include "ir/tbc/pools_writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/tbc/type_check.h"

namespace tile::ir {
namespace {

using flatbuffers::Offset;

template <class T>
flatbuffers::Optional<T> ToOptional(const std::optional<T>& v) {
  return v ? flatbuffers::Optional<T>(*v) : flatbuffers::Optional<T>();
}

bool IsIdentity(absl::Span<const int64_t> map) {
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Equal hint sets have equal keys: every part with its length in front.
std::string Key(const Hints& hints) {
  std::string key;
  const auto text = [&](absl::string_view s) { absl::StrAppend(&key, s.size(), ":", s); };
  for (const ArchHints& a : hints.archs) {
    text(a.arch);
    absl::StrAppend(&key, "{", a.hints.size(), ";");
    for (const Hint& h : a.hints) {
      text(h.name);
      absl::StrAppend(&key, static_cast<int>(h.kind), ",", h.number, ",", h.int_bits, ",");
      text(h.text);
    }
  }
  return key;
}

}  // namespace

void PoolsWriter::Fail(absl::string_view what) {
  if (status_.ok()) status_ = absl::InvalidArgumentError(what);
}

uint16_t PoolsWriter::Name(absl::string_view name) {
  const auto it = name_numbers_.find(name);
  if (it != name_numbers_.end()) return static_cast<uint16_t>(it->second);
  names_.emplace_back(name);
  name_numbers_.emplace(std::string(name), static_cast<uint32_t>(names_.size() - 1));
  return static_cast<uint16_t>(names_.size() - 1);
}

uint32_t PoolsWriter::String(absl::string_view s) {
  if (static_cast<int64_t>(s.size()) > kMaxNameBytes)
    Fail(absl::StrCat("a string has more than ", kMaxNameBytes, " bytes"));
  const auto it = string_numbers_.find(s);
  if (it != string_numbers_.end()) return it->second;
  strings_.emplace_back(s);
  string_numbers_.emplace(std::string(s), static_cast<uint32_t>(strings_.size() - 1));
  return static_cast<uint32_t>(strings_.size() - 1);
}

void PoolsWriter::NeedElement(Element e) {
  needs_.NeedTileIr(ElemInfoOf(e.kind).since, [&] { return absl::StrCat("the type ", ToString(e)); });
  needs_.NeedTileIr(ElemInfoOf(e.pointee).since, [&] { return absl::StrCat("the type ", ToString(e)); });
}

uint32_t PoolsWriter::TypeOf(Type type) {
  if (!type) {
    Fail("a value has no type");
    return 0;
  }
  const auto it = type_numbers_.find(type.data());
  if (it != type_numbers_.end()) return it->second;
  if (const char* problem = TypeProblem(*type.data())) {
    Fail(absl::StrCat(type.ToString().substr(0, 200), ": ", problem));
    return 0;
  }
  const bool view = type.is_view();
  const uint32_t tensor = view ? TypeOf(type.tensor()) : 0;
  const auto shape = type->shape.empty() ? 0 : fbb_.CreateVector(type->shape);
  const auto strides = type->strides.empty() ? 0 : fbb_.CreateVector(type->strides);
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> dim_map = 0;
  if (!IsIdentity(type->dim_map)) {
    dim_map = fbb_.CreateVector(std::vector<uint8_t>(type->dim_map.begin(), type->dim_map.end()));
  }
  const auto steps = type->steps.empty() ? 0 : fbb_.CreateVector(type->steps);
  const bool has_element = type.is_tile() || type.is_tensor_view();
  if (has_element) NeedElement(type.element());
  if (type->space == MemorySpace::kShared) needs_.NeedTileIr(0, [&] { return type.ToString(); });

  fbs::TypeBuilder b(fbb_);
  b.add_kind(static_cast<fbs::TypeKind>(type.kind()));
  if (has_element) {
    b.add_element(ToFbs(type.elem()));
    b.add_pointee(ToFbs(type.element().pointee));
  }
  if (type.is_tensor_view()) b.add_space(static_cast<fbs::MemorySpace>(type->space));
  b.add_shape(shape);
  b.add_strides(strides);
  b.add_tensor(tensor);
  b.add_dim_map(dim_map);
  b.add_steps(steps);
  b.add_sparse_dim(static_cast<uint8_t>(type->sparse_dim));
  if (type->padding) b.add_padding(static_cast<uint8_t>(*type->padding));
  types_.push_back(b.Finish());
  if (types_.size() > kMaxTypes) Fail(absl::StrCat("the module has more than ", kMaxTypes, " types"));
  type_numbers_.emplace(type.data(), static_cast<uint32_t>(types_.size() - 1));
  return static_cast<uint32_t>(types_.size() - 1);
}

uint32_t PoolsWriter::Constant(const Dense& value) {
  if (const char* problem = ConstantProblem(value.elem, value.splat, value.bytes)) Fail(problem);
  NeedElement(Element::Number(value.elem));
  const ConstantKey key = {static_cast<int>(value.elem) * 2 + value.splat,
                           {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()}};
  const auto [it, added] = constant_numbers_.try_emplace(key, static_cast<uint32_t>(constants_.size()));
  if (added) {
    flatbuffers::Offset<flatbuffers::Vector<uint8_t>> data = 0;
    if (!value.bytes.empty()) {
      fbb_.ForceVectorAlignment(value.bytes.size(), 1, 16);
      data = fbb_.CreateVector(value.bytes.data(), value.bytes.size());
    }
    constants_.push_back(fbs::CreateConstant(fbb_, ToFbs(value.elem), value.splat, data));
  }
  return it->second;
}

uint32_t PoolsWriter::Numbers(absl::Span<const int64_t> list) {
  if (static_cast<int64_t>(list.size()) > kMaxListItems)
    Fail(absl::StrCat("a list has over ", kMaxListItems, " numbers"));
  numbers_.insert(numbers_.end(), list.begin(), list.end());
  return static_cast<uint32_t>(numbers_.size() - list.size());
}

uint32_t PoolsWriter::Scalars(absl::Span<const Scalar> list) {
  if (static_cast<int64_t>(list.size()) > kMaxListItems)
    Fail(absl::StrCat("a list has over ", kMaxListItems, " scalars"));
  for (const Scalar& s : list) {
    uint8_t bytes[8];
    for (int b = 0; b < 8; ++b) bytes[b] = static_cast<uint8_t>(s.bits >> (8 * b));
    const size_t size = static_cast<size_t>(StorageBytes(s.elem));
    if (const char* problem = ConstantProblem(s.elem, true, {bytes, size})) Fail(problem);
    if (size < 8 && s.bits >> (8 * size) != 0) Fail("a scalar has bits beyond its element");
    NeedElement(Element::Number(s.elem));
    scalars_.emplace_back(s.bits, ToFbs(s.elem), 0, 0, 0);
  }
  return static_cast<uint32_t>(scalars_.size() - list.size());
}

uint32_t PoolsWriter::PredicateOf(const Predicate& p) {
  if (static_cast<int64_t>(p.groups.size()) > kMaxListItems) Fail("a predicate has too many groups");
  const auto groups = p.groups.empty() ? 0 : fbb_.CreateVector(p.groups.data(), p.groups.size());
  predicates_.push_back(fbs::CreatePredicate(fbb_, static_cast<fbs::PredicateKind>(p.kind), p.divisor,
                                             ToOptional(p.every), ToOptional(p.along), ToOptional(p.lower),
                                             ToOptional(p.upper), groups));
  return static_cast<uint32_t>(predicates_.size() - 1);
}

uint32_t PoolsWriter::HintSetOf(const Hints& hints) {
  const auto [it, added] = hint_numbers_.try_emplace(Key(hints), static_cast<uint32_t>(hints_.size()));
  if (!added) return it->second;
  std::vector<Offset<fbs::ArchHints>> archs;
  for (const ArchHints& a : hints.archs) {
    if (static_cast<int64_t>(a.hints.size()) > kMaxListItems) Fail("too many hints");
    const uint32_t arch = String(a.arch);
    std::vector<Offset<fbs::Hint>> rows;
    for (const Hint& h : a.hints) {
      if (h.int_bits < 0 || h.int_bits > 255) Fail(absl::StrCat("hint ", h.name, " has ", h.int_bits, " bits"));
      const uint32_t name = String(h.name);
      const uint32_t text = h.kind == Hint::Kind::kString ? String(h.text) : 0;
      rows.push_back(fbs::CreateHint(fbb_, name, static_cast<fbs::HintKind>(h.kind), h.number,
                                     static_cast<uint8_t>(h.int_bits), text));
    }
    const auto list = rows.empty() ? 0 : fbb_.CreateVector(rows);
    archs.push_back(fbs::CreateArchHints(fbb_, arch, list));
  }
  if (static_cast<int64_t>(archs.size()) > kMaxListItems) Fail("too many architectures in hints");
  const auto list = archs.empty() ? 0 : fbb_.CreateVector(archs);
  hints_.push_back(fbs::CreateHintSet(fbb_, list));
  return it->second;
}

PoolsWriter::Vectors PoolsWriter::Finish() {
  Vectors v;
  if (!names_.empty()) v.names = fbb_.CreateVectorOfStrings(names_);
  if (!strings_.empty()) v.strings = fbb_.CreateVectorOfStrings(strings_);
  if (!types_.empty()) v.types = fbb_.CreateVector(types_);
  if (!constants_.empty()) v.constants = fbb_.CreateVector(constants_);
  if (!numbers_.empty()) v.numbers = fbb_.CreateVector(numbers_);
  if (!scalars_.empty()) v.scalars = fbb_.CreateVectorOfStructs(scalars_);
  if (!predicates_.empty()) v.predicates = fbb_.CreateVector(predicates_);
  if (!hints_.empty()) v.hints = fbb_.CreateVector(hints_);
  return v;
}

}  // namespace tile::ir
