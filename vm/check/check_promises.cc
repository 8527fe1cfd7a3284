#include "vm/check/check_promises.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/op_views.h"
#include "vm/check/check_integers.h"
#include "vm/eval/view_access.h"
#include "vm/machine/memory_access.h"

namespace tile::vm {
namespace {

using ir::Elem;
using ir::Op;
using ir::Opcode;
using ir::Overflow;

bool HasPoison(const BlockState& b, const OpPlaces& o, const FrameShadow& shadow, int64_t e) {
  if (!shadow.any()) return false;
  for (int i = 0; i < o.op->num_operands(); ++i) {
    const Place& p = o.operands[i];
    const uint8_t* s = p.at.constant() ? nullptr : shadow.Of(b.at(p.at));
    if (s != nullptr && s[OperandIndex(o, i, e) * p.bytes] != 0) return true;
  }
  return false;
}

bool CheckOverflow(BlockState& b, const OpPlaces& o, const FrameShadow& shadow, Overflow promise) {
  const Op& op = *o.op;
  const ir::Type t = op.result(0)->type();
  const int bits = ir::ElemInfoOf(t.elem()).bits;
  const ExactInteger exact(op.opcode());
  const Reader lhs(b, o.operands[0], op.operand(0)->type());
  const Place& second = o.operands[op.num_operands() > 1 ? 1 : 0];
  const Reader rhs(b, second, op.operand(op.num_operands() > 1 ? 1 : 0)->type());
  for (const bool is_signed : {true, false}) {
    const Overflow flag = is_signed ? Overflow::kNoSignedWrap : Overflow::kNoUnsignedWrap;
    if (promise != Overflow::kNoWrap && promise != flag) continue;
    // The sign of a negation is what it is about (semantics 3.1).
    if (op.opcode() == Opcode::kNegi && !is_signed) continue;
    if (!MayWrap(b, o, is_signed, !is_signed)) continue;
    const bool binary = op.num_operands() > 1;
    for (int64_t e = 0; e < o.results[0].count; ++e) {
      const int64_t i = OperandIndex(o, 0, e), j = binary ? OperandIndex(o, 1, e) : 0;
      const Wide x = is_signed ? Wide{lhs.Signed(i)} : Wide{lhs.Unsigned(i)};
      // The distance of a shift is unsigned.
      const bool signed_y = is_signed && op.opcode() != Opcode::kShli;
      const Wide y = !binary ? 0 : signed_y ? Wide{rhs.Signed(j)} : Wide{rhs.Unsigned(j)};
      if (Fits(exact(x, y), bits, is_signed) || HasPoison(b, o, shadow, e)) continue;
      Trap(b, &op, "vm.overflow",
           absl::StrCat(ElementText(t, e * o.results[0].run), exact.Text(x, y), " does not fit ",
                        is_signed ? "" : "unsigned ", ir::ElemInfoOf(t.elem()).spelling, ", against the promise ",
                        ir::Keyword(promise)),
           "drop the overflow promise, or use a wider type");
      return false;
    }
  }
  return true;
}

bool CheckDivision(BlockState& b, const OpPlaces& o, const FrameShadow& shadow) {
  const Op& op = *o.op;
  const ir::Type t = op.result(0)->type();
  const bool is_signed = ir::SignednessOp(op).signedness() == ir::Signedness::kSigned;
  const Reader lhs(b, o.operands[0], t), rhs(b, o.operands[1], t);
  const int64_t least = static_cast<int64_t>(~uint64_t{0} << (lhs.bits - 1));
  // remi of the minimum by -1 is 0 (semantics 3.2): only the quotient overflows.
  const bool may_overflow = is_signed && op.opcode() == Opcode::kDivi;
  for (int64_t e = 0; e < o.results[0].count; ++e) {
    const int64_t i = OperandIndex(o, 0, e), j = OperandIndex(o, 1, e);
    const bool zero = rhs.Unsigned(j) == 0;
    const bool overflow = may_overflow && rhs.Signed(j) == -1 && lhs.Signed(i) == least;
    if ((!zero && !overflow) || HasPoison(b, o, shadow, e)) continue;
    const std::string a = is_signed ? absl::StrCat(lhs.Signed(i)) : absl::StrCat(lhs.Unsigned(i));
    const std::string element = ElementText(t, e * o.results[0].run);
    if (zero) {
      Trap(b, &op, "vm.division_by_zero", absl::StrCat(element, a, " is divided by zero"),
           "select a divisor that is not zero where the result is not used");
    } else {
      Trap(b, &op, "vm.division_overflow",
           absl::StrCat(element, a, " / -1 does not fit ", ir::ElemInfoOf(t.elem()).spelling), "use a wider type");
    }
    return false;
  }
  return true;
}

// --- assume ---------------------------------------------------------------------------------------------------------

// What a frontend promises about parameters has no line but that of the kernel's head.
bool IsOfFrontend(const BlockState& b, const Op& op) {
  const ir::Function& kernel = *b.code->function;
  const auto line = [&](ir::LocId loc, ir::SourcePos pos) {
    const std::string where = b.code->module->Where(loc, pos);
    return where.substr(0, where.rfind(':'));
  };
  return op.loc != 0 && line(op.loc, op.pos) == line(kernel.loc, kernel.pos);
}

// Of a remainder or quotient, which Triton takes for granted (ir/ttir/translate_division.cc).
bool IsOfDivision(const BlockState& b, const Op& op) {
  const Op* divided = op.operand(0)->def();
  const bool divides = divided != nullptr && (ir::RemiOp::Is(divided) || ir::DiviOp::Is(divided));
  return divides && b.code->module->producer == "triton";
}

// `negative`: a number that breaks the assumption is. Without one, remainders and quotients are as Triton takes them: what is broken then is
// a promise of the program about `x % n`.
const Instr* Broken(BlockState& b, const Op& op, absl::string_view message, bool negative = false) {
  if (negative && IsOfDivision(b, op)) {
    return Trap(
        b, &op, "vm.assume",
        absl::StrCat(message, "; Triton's compiler takes it for granted of x % n and x // n, whatever the sign of x"),
        "divide no negative numbers: add a multiple of n to x first");
  }
  if (!IsOfFrontend(b, op)) {
    return Trap(b, &op, "vm.assume", message, "drop the assumption, or make it true before this operation");
  }
  return Trap(
      b, &op, "vm.assume", absl::StrCat(message, "; this is promised by the frontend, not by your code"),
      "launch the kernel with arguments that it was compiled for; if they are, report it to the frontend's authors");
}

// "the address of byte 4 of `x`" and, if that is not what is to blame, how x itself is aligned.
std::string AddressText(BlockState& b, uint64_t address, uint64_t divisor) {
  const Allocation* a = FindAllocation(b, address, 1);
  if (a == nullptr) return absl::StrCat("the address 0x", absl::Hex(address));
  const uint64_t byte = address - a->begin;
  const std::string begins =
      byte % divisor != 0 ? "" : absl::StrCat(" (which begins at a multiple of ", a->begin & -a->begin, ")");
  return absl::StrCat("the address of byte ", byte, " of `", a->name, "`", begins);
}

bool CheckDivBy(BlockState& b, const OpPlaces& o, const FrameShadow& shadow, const ir::Predicate& p) {
  const Op& op = *o.op;
  const ir::Type t = op.operand(0)->type();
  if (!t.is_tile()) {
    const auto base = reinterpret_cast<uintptr_t>(b.get<ViewData>(o.operands[0].at).base);
    if (base % p.divisor == 0) return true;
    Broken(b, op, absl::StrCat(AddressText(b, base, p.divisor), " is not a multiple of ", p.divisor));
    return false;
  }
  const Reader r(b, o.operands[0], t);
  const bool pointers = t.elem() == Elem::kPtr;
  const int64_t n = t.rank() == 0 ? o.operands[0].count : t.num_elements();
  int64_t inner = 1, size = 1, every = 1;
  if (p.every && p.along && *p.every > 1) {
    every = *p.every;
    size = t.shape()[static_cast<size_t>(*p.along)];
    for (size_t k = static_cast<size_t>(*p.along) + 1; k < t.shape().size(); ++k) inner *= t.shape()[k];
  }
  const int64_t rise = pointers ? std::max(1, ir::MemoryBits(t.element().pointee) / 8) : 1;
  const auto text = [&](Wide v) { return pointers ? AddressText(b, static_cast<uint64_t>(v), p.divisor) : Decimal(v); };
  const auto value = [&](int64_t e) {
    const int64_t i = StoredIndex(o.operands[0], e);
    return pointers ? Wide{r.Unsigned(i)} : Wide{r.Signed(i)};
  };
  for (int64_t e = 0; e < n; ++e) {
    const int64_t along = e / inner % size, in_group = along % every;
    if (Poison::OriginOf(b, shadow, o.operands[0], e) != 0) continue;
    const Wide v = value(e);
    if (in_group == 0) {
      if (v % static_cast<Wide>(p.divisor) == 0) continue;
      Broken(b, op, absl::StrCat(ElementText(t, e), text(v), " is not a multiple of ", p.divisor));
      return false;
    }
    const int64_t before = e - inner;
    if (Poison::OriginOf(b, shadow, o.operands[0], before) != 0 || v == value(before) + rise) continue;
    Broken(b, op,
           absl::StrCat(ElementText(t, e), text(v), " does not follow ", text(value(before)), " by ", rise,
                        pointers ? " bytes" : "", " inside a group of ", every),
           v < 0 || value(before) < 0);
    return false;
  }
  return true;
}

bool CheckBounded(BlockState& b, const OpPlaces& o, const FrameShadow& shadow, const ir::Predicate& p) {
  const ir::Type t = o.op->operand(0)->type();
  const Place& place = o.operands[0];
  const Reader r(b, place, t);
  for (int64_t i = 0; i < place.count; ++i) {
    const int64_t v = r.Signed(i);
    if ((!p.lower || v >= *p.lower) && (!p.upper || v <= *p.upper)) continue;
    if (Poison::OriginOf(b, shadow, place, i * place.run) != 0) continue;
    if (t.elem() == Elem::kI1 && p.lower == -1) {
      Broken(b, *o.op, absl::StrCat(ElementText(t, i * place.run), "the condition that is assumed is false"));
      return false;
    }
    Broken(b, *o.op,
           absl::StrCat(ElementText(t, i * place.run), v, " is outside of [", p.lower ? absl::StrCat(*p.lower) : "?",
                        ", ", p.upper ? absl::StrCat(*p.upper) : "?", "]"));
    return false;
  }
  return true;
}

bool CheckSameElements(BlockState& b, const OpPlaces& o, const FrameShadow& shadow, const ir::Predicate& p) {
  const ir::Type t = o.op->operand(0)->type();
  const Reader r(b, o.operands[0], t);
  for (int64_t e = 0; e < t.num_elements(); ++e) {
    // The first element of the box that holds element e.
    int64_t rest = e, stride = 1, first = 0;
    for (int k = t.rank() - 1; k >= 0; --k) {
      const int64_t size = t.shape()[static_cast<size_t>(k)], at = rest % size;
      const int64_t group = std::max<int64_t>(1, p.groups[static_cast<size_t>(k)]);
      first += (at - at % group) * stride;
      rest /= size;
      stride *= size;
    }
    const uint64_t v = r.Unsigned(StoredIndex(o.operands[0], e)), w = r.Unsigned(StoredIndex(o.operands[0], first));
    if (v == w || Poison::OriginOf(b, shadow, o.operands[0], e) != 0 ||
        Poison::OriginOf(b, shadow, o.operands[0], first) != 0) {
      continue;
    }
    const int64_t signed_v = r.Signed(StoredIndex(o.operands[0], e)),
                  signed_w = r.Signed(StoredIndex(o.operands[0], first));
    Broken(b, *o.op,
           absl::StrCat(ElementText(t, e), signed_v, " differs from element ", LaneText(t, first), ", ", signed_w,
                        ", of the same group"),
           signed_v < 0 || signed_w < 0);
    return false;
  }
  return true;
}

// Whether nothing can rely on the assumption: it is about the stride of a dimension of size 1, which no address depends on.
// cuTile promises that such a stride is a multiple of 16 bytes, so that compilers look at the other dimensions.
bool IsOfUnusedStride(const Op& assume) {
  const ir::Value* value = assume.result(0);
  for (const ir::Use* use = value->uses(); use != nullptr; use = use->next) {
    const auto make = ir::As<ir::MakeTensorViewOp>(use->owner);
    if (!make) return false;
    const ir::Type view = use->owner->result(0)->type();
    const std::vector<ir::Value*> sizes = make->dynamic_shape().list(), strides = make->dynamic_strides().list();
    if (make->base() == value || std::find(sizes.begin(), sizes.end(), value) != sizes.end()) return false;
    size_t next = 0;  // of the strides that are values
    for (size_t d = 0; d < view->strides.size(); ++d) {
      if (view->strides[d] != ir::kDynamic) continue;
      if (strides[next++] == value && view->shape[d] != 1) return false;
    }
  }
  return value->has_uses();
}

bool CheckAssume(BlockState& b, const OpPlaces& o, const FrameShadow& shadow) {
  const ir::Predicate& p = ir::AssumeOp(o.op).predicate();
  if (p.kind == ir::Predicate::Kind::kBounded && p.along) return true;  // the instruction itself looks at it
  switch (p.kind) {
    case ir::Predicate::Kind::kDivBy: return CheckDivBy(b, o, shadow, p);
    case ir::Predicate::Kind::kBounded: return CheckBounded(b, o, shadow, p);
    case ir::Predicate::Kind::kSameElements: return CheckSameElements(b, o, shadow, p);
  }
  return true;
}

// --- inbounds -------------------------------------------------------------------------------------------------------

bool CheckInbounds(BlockState& b, const OpPlaces& o, absl::Span<const uint8_t> inbounds) {
  const Op& op = *o.op;
  const int view_at = ir::ViewAccessOp(op).view_at(), index_at = ir::ViewAccessOp(op).index_at();
  const ir::Type t = op.operand(view_at)->type();
  const auto& view = b.get<ViewData>(o.operands[view_at].at);
  const bool gather = t.kind() == ir::TypeKind::kGatherScatterView;
  for (int k = 0; k < t.rank() && k < static_cast<int>(inbounds.size()); ++k) {
    if (inbounds[static_cast<size_t>(k)] == 0) continue;
    const auto u = static_cast<size_t>(k);
    const int64_t size = view.size(gather ? k : static_cast<int>(t->dim_map[u]));
    const Place& p = o.operands[index_at + k];
    const bool sparse = gather && k == t->sparse_dim;
    const int64_t picks = sparse ? op.operand(index_at + k)->type().num_elements() : 1;
    const bool i1 = op.operand(index_at + k)->type().elem() == Elem::kI1;
    for (int64_t e = 0; e < picks; ++e) {
      const uint64_t i = ReadIndex(b.at(p.at), p.bytes, i1, StoredIndex(p, e));
      const int64_t tile = sparse ? 1 : t.shape()[u];
      const int64_t step = gather ? 1 : t.kind() == ir::TypeKind::kStridedView ? t->steps[u] : tile;
      const Wide first = Wide{i} * step;
      if (first + tile <= size) continue;
      Trap(b, &op, "vm.inbounds",
           absl::StrCat("the tile covers [", Decimal(first), ", ", Decimal(first + tile), ") of dimension ", k,
                        ", which has ", size, " elements",
                        view.allocation ? absl::StrCat(" (`", view.allocation->name, "`)") : "",
                        ", against the promise inbounds"),
           "drop inbounds for this dimension, or make the tensor a multiple of the tile");
      return false;
    }
  }
  return true;
}

absl::Span<const uint8_t> InboundsOf(const Op& op) {
  const auto access = ir::As<ir::ViewAccessOp>(&op);
  return access ? access->inbounds() : absl::Span<const uint8_t>();
}

bool Divides(const Op& op) { return op.opcode() == Opcode::kDivi || op.opcode() == Opcode::kRemi; }

}  // namespace

bool MakesPromises(const Op& op) {
  const auto inbounds = InboundsOf(op);
  if (op.opcode() == Opcode::kAssume) return !IsOfUnusedStride(op);
  return Divides(op) || PromiseOf(op) != Overflow::kNone ||
         std::any_of(inbounds.begin(), inbounds.end(), [](uint8_t b) { return b != 0; });
}

bool CheckPromises(BlockState& b, const OpPlaces& o, const FrameShadow& shadow) {
  const Op& op = *o.op;
  if (op.opcode() == Opcode::kAssume) return CheckAssume(b, o, shadow);
  if (Divides(op)) return CheckDivision(b, o, shadow);
  if (const Overflow promise = PromiseOf(op); promise != Overflow::kNone) return CheckOverflow(b, o, shadow, promise);
  return CheckInbounds(b, o, InboundsOf(op));
}

}  // namespace tile::vm
