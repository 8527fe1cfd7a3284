// Atomic updates, loads and stores, in program order.

#include "absl/strings/str_cat.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {

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
  const Type t = tile(1)->type();
  if (t.element().is_pointer() || (IsInt(t.elem()) && ElemInfoOf(t.elem()).bits < 32)) {
    return Unsupported(n, absl::StrCat("updates ", t.ToString()), "use integers of 32 or 64 bits, or floats");
  }
  ops::Access a;
  if (!Ordering(n, 1, &a)) return false;
  if (in_.size() == 3) a.mask = UsefulMask(tile(2));
  a.token = order_.ForWrite(b_);
  const ops::Loaded old = ops::AtomicRmw(b_, *mode, tile(0), tile(1), a);
  order_.NoteWrite(old.token);
  return Define(n, old.value);
}

bool Translator::AtomicCompare(const Node& n, const OpRow&) {
  ops::Access a;
  if (!IsPointer(tile(0))) return WrongType(n, "takes pointers");
  const Type t = tile(2)->type();
  if (t.element().is_pointer() || ElemInfoOf(t.elem()).bits < 32) {
    return Unsupported(n, absl::StrCat("compares ", t.ToString()), "use elements of 32 or 64 bits");
  }
  if (!Ordering(n, 0, &a)) return false;
  a.token = order_.ForWrite(b_);
  const ops::Loaded old = ops::AtomicCas(b_, tile(0), tile(1), tile(2), a);
  order_.NoteWrite(old.token);
  return Define(n, old.value);
}

// --- 3.9 --------------------------------------------------------------------------------------------------------------

// tt.atomic_load acquire, gpu, %pointers[, %mask]
bool Translator::AtomicLoad(const Node& n, const OpRow&) {
  ops::Access a;
  if (in_.empty() || in_.size() > 2 || !in(0).is_tile() || !IsPointer(tile(0)) || !in(in_.size() - 1).is_tile()) {
    return WrongType(n, "takes pointers and a mask");
  }
  if (!Ordering(n, 0, &a)) return false;
  if (in_.size() == 2) a.mask = UsefulMask(tile(1));
  // In the chain, as what comes after an acquire comes after it.
  a.token = order_.ForWrite(b_);
  const ops::Loaded loaded = ops::LoadPtr(b_, tile(0), a);
  order_.NoteWrite(loaded.token);
  return Define(n, loaded.value);
}

// tt.atomic_store release, gpu, %pointers, %value[, %mask]
bool Translator::AtomicStore(const Node& n, const OpRow&) {
  ops::Access a;
  if (in_.size() < 2 || in_.size() > 3 || !in(0).is_tile() || !IsPointer(tile(0)) || !in(1).is_tile() ||
      !in(in_.size() - 1).is_tile()) {
    return WrongType(n, "takes pointers, values and a mask");
  }
  if (!Ordering(n, 0, &a)) return false;
  if (in_.size() == 3) a.mask = UsefulMask(tile(2));
  a.token = order_.ForWrite(b_);
  order_.NoteWrite(ops::StorePtr(b_, tile(0), tile(1), a));
  return true;
}

// tt.atomic_poll acquire, gpu, %pointers, %expected: loads until each element is what is expected; all true.
bool Translator::AtomicPoll(const Node& n, const OpRow&) {
  if (in_.size() != 2) {
    return Unsupported(n, "gives up after some time, which nothing here can measure", "leave out timeout_ns");
  }
  Value *pointers = tile(0), *expected = tile(1);
  ops::Access a;
  if (!IsPointer(pointers) || !in(1).is_tile() || !IsInt(expected->type().elem())) {
    return WrongType(n, "takes pointers to integers, and integers");
  }
  if (!Ordering(n, 0, &a)) return false;
  const Type i1 = b_.types().Scalar(Elem::kI1);
  const auto until_equal = [&](const ops::Values& carried) -> ops::Values {
    a.token = carried[0];
    const ops::Loaded loaded = ops::LoadPtr(b_, pointers, a);
    Value* all = ops::CmpI(b_, ComparisonPredicate::kEqual, loaded.value, expected, Signedness::kSigned);
    const auto both = [&](const ops::Values& e, const ops::Values& acc) -> ops::Values {
      return {ops::Andi(b_, acc[0], e[0])};
    };
    while (!all->type().is_scalar()) all = ops::Reduce(b_, {all}, 0, {{Elem::kI1, 1}}, both)[0];
    ops::If(b_, all, [&]() -> ops::Values {
      ops::Break(b_, {loaded.token});
      return {};
    });
    return {loaded.token};
  };
  order_.NoteWrite(ops::Loop(b_, {order_.ForRegion(b_)}, {b_.types().Token()}, until_equal)[0]);
  return Define(n, ops::Integer(b_, b_.types().Tile(i1.element(), pointers->type().shape()), 1));
}

}  // namespace tile::ir::ttir
