// Loads, stores and atomics through pointers, in program order.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

// A constant mask of which all elements are set.
bool AllTrue(const Value* mask) {
  const auto c = DefAs<ConstantOp>(mask);
  return c && c->value().splat && c->value().bytes[0] == 1;
}

bool IsPointer(const Value* v) { return v->type().is_tile() && v->type().element().is_pointer(); }

}  // namespace

bool Translator::LoadFrom(const Node& n, Value* pointers, Value* mask, Value* padding, Value** result) {
  if (!IsPointer(pointers)) return WrongType(n, "loads through pointers");
  ops::Access a;
  a.token = order_.ForRead();
  if (mask != nullptr && !AllTrue(mask)) {
    a.mask = mask;
    a.padding = padding;
  }
  if (n.number("isVolatile", 0) != 0) {
    a.ordering = MemoryOrdering::kRelaxed;
    a.scope = MemoryScope::kTlBlk;
  }
  const ops::Loaded loaded = ops::LoadPtr(b_, pointers, a);
  order_.NoteRead(loaded.token);
  *result = loaded.value;
  return true;
}

bool Translator::StoreTo(const Node& n, Value* pointers, Value* value, Value* mask) {
  if (!IsPointer(pointers)) return WrongType(n, "stores through pointers");
  ops::Access a;
  a.token = order_.ForWrite(b_);
  if (mask != nullptr && !AllTrue(mask)) a.mask = mask;
  order_.NoteWrite(ops::StorePtr(b_, pointers, value, a));
  return true;
}

// tt.load %pointers[, %mask[, %other]]; of a block pointer alone.
bool Translator::Load(const Node& n, const OpRow&) {
  if (in_.empty() || in_.size() > 3) return WrongType(n, "takes pointers, a mask and other values");
  Value* result = nullptr;
  if (in(0).type.kind == TtType::Kind::kBlockPointer) {
    if (in_.size() != 1) return WrongType(n, "takes no mask with a block pointer");
    const Val block = in(0);
    const Attribute* check = n.attr("boundaryCheck");
    std::vector<Value*> offsets;
    for (int d = 0; d < block.rank(); ++d) offsets.push_back(block.offset(d));
    const BlockAccess at = Address(block, offsets, check == nullptr ? std::vector<int64_t>() : check->ints);
    // Padding 1 is zero, 2 NaN, as a number or a word.
    const bool nan = n.number("padding", 1) == 2 || n.word("padding") == "pad_nan";
    Value* padding = nan && IsFloat(block.type.tile.elem()) ? ops::Splat(b_, block.type.tile, std::nan(""))
                                                            : ops::Integer(b_, block.type.tile, 0);
    return LoadFrom(n, at.pointers, at.mask, padding, &result) && Define(n, result);
  }
  for (const Val& v : in_) {
    if (!v.is_tile()) return WrongType(n, "loads through pointers");
  }
  return LoadFrom(n, tile(0), in_.size() > 1 ? tile(1) : nullptr, in_.size() > 2 ? tile(2) : nullptr, &result) &&
         Define(n, result);
}

// tt.store %pointers, %value[, %mask]
bool Translator::Store(const Node& n, const OpRow&) {
  if (in_.size() < 2 || in_.size() > 3 || !in(1).is_tile()) return WrongType(n, "takes pointers, values and a mask");
  if (in(0).type.kind == TtType::Kind::kBlockPointer) {
    if (in_.size() != 2) return WrongType(n, "takes no mask with a block pointer");
    const Val block = in(0);
    Value* value = tile(1);
    const Attribute* check = n.attr("boundaryCheck");
    std::vector<Value*> offsets;
    for (int d = 0; d < block.rank(); ++d) offsets.push_back(block.offset(d));
    const BlockAccess at = Address(block, offsets, check == nullptr ? std::vector<int64_t>() : check->ints);
    return StoreTo(n, at.pointers, value, at.mask);
  }
  if (!in(0).is_tile() || (in_.size() == 3 && !in(2).is_tile())) return WrongType(n, "stores through pointers");
  return StoreTo(n, tile(0), tile(1), in_.size() > 2 ? tile(2) : nullptr);
}

// --- atomics ----------------------------------------------------------------------------------------------------------

namespace {

template <class E>
struct Named {
  absl::string_view name;
  E value;
};
constexpr Named<MemoryOrdering> kOrderings[] = {{"relaxed", MemoryOrdering::kRelaxed},
                                                {"acquire", MemoryOrdering::kAcquire},
                                                {"release", MemoryOrdering::kRelease},
                                                {"acq_rel", MemoryOrdering::kAcqRel}};
constexpr Named<MemoryScope> kScopes[] = {
    {"gpu", MemoryScope::kDevice}, {"cta", MemoryScope::kTlBlk}, {"sys", MemoryScope::kSys}};
constexpr Named<RmwMode> kModes[] = {{"add", RmwMode::kAdd},  {"fadd", RmwMode::kAddf}, {"and", RmwMode::kAnd},
                                     {"or", RmwMode::kOr},    {"xor", RmwMode::kXor},   {"max", RmwMode::kMax},
                                     {"min", RmwMode::kMin},  {"umax", RmwMode::kUmax}, {"umin", RmwMode::kUmin},
                                     {"exch", RmwMode::kXchg}};

template <class E, size_t kCount>
const E* FindNamed(const Named<E> (&list)[kCount], const std::vector<absl::string_view>& words, size_t at) {
  for (const Named<E>& item : list) {
    if (at < words.size() && item.name == words[at]) return &item.value;
  }
  return nullptr;
}

}  // namespace

// Two words: ordering and scope.
bool Translator::Ordering(const Node& n, size_t word, ops::Access* access) {
  const MemoryOrdering* ordering = FindNamed(kOrderings, n.words, word);
  const MemoryScope* scope = FindNamed(kScopes, n.words, word + 1);
  if (ordering == nullptr || scope == nullptr) return Fail(n, "ttir.syntax", "names no ordering and scope");
  access->ordering = *ordering;
  access->scope = *scope;
  return true;
}

bool Translator::AtomicUpdate(const Node& n, const OpRow&) {
  const RmwMode* mode = FindNamed(kModes, n.words, 0);
  if (mode == nullptr) {
    return Unsupported(n, absl::StrCat("updates by ", n.words.empty() ? "?" : n.words[0]),
                       "use add, fadd, and, or, xor, max, min, umax, umin or exch");
  }
  if (in_.size() < 2 || in_.size() > 3 || !in(0).is_tile() || !IsPointer(tile(0)) || !in(1).is_tile() ||
      !in(in_.size() - 1).is_tile()) {
    return WrongType(n, "takes pointers, values and a mask");
  }
  ops::Access a;
  if (!Ordering(n, 1, &a)) return false;
  if (in_.size() == 3 && !AllTrue(tile(2))) a.mask = tile(2);
  a.token = order_.ForWrite(b_);
  const ops::Loaded old = ops::AtomicRmw(b_, *mode, tile(0), tile(1), a);
  order_.NoteWrite(old.token);
  return Define(n, old.value);
}

bool Translator::AtomicCompare(const Node& n, const OpRow&) {
  ops::Access a;
  if (!IsPointer(tile(0))) return WrongType(n, "takes pointers");
  if (!Ordering(n, 0, &a)) return false;
  a.token = order_.ForWrite(b_);
  const ops::Loaded old = ops::AtomicCas(b_, tile(0), tile(1), tile(2), a);
  order_.NoteWrite(old.token);
  return Define(n, old.value);
}

// The threads of a block are no part of tile code: what the barrier orders, the chain does.
bool Translator::Barrier(const Node&, const OpRow&) {
  order_.NoteWrite(order_.ForRegion(b_));
  return true;
}

}  // namespace tile::ir::ttir
