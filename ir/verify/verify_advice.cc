#include "ir/verify/verify_advice.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/op_info.h"

namespace tile::ir::verify {
namespace {

constexpr uint32_t Bit(Elem e) { return uint32_t{1} << static_cast<int>(e); }
constexpr uint32_t Bit(TypeKind k) { return uint32_t{1} << static_cast<int>(k); }

std::string NameOf(const Value& v) { return v.name.empty() ? "%x" : absl::StrCat("%", v.name); }

std::string Tile(absl::Span<const int64_t> shape, absl::string_view element) {
  return absl::StrCat("tile<", absl::StrJoin(shape, "x"), shape.empty() ? "" : "x", element, ">");
}

// "ftof %x : tile<4xf16>"; empty if no operation converts.
std::string Conversion(const Value& v, Elem to) {
  const Type t = v.type();
  const Elem from = t.elem();
  const std::string type = Tile(t.shape(), ElemInfoOf(to).spelling);
  const auto with = [&](absl::string_view op, absl::string_view sign) {
    return absl::StrCat(op, " ", NameOf(v), sign, " : ", type);
  };
  const bool from_int = IsInt(from), to_int = IsInt(to);
  if (IsFloat(from) && IsFloat(to)) return with("ftof", "");
  if (IsFloat(from) && to_int) return with("ftoi", " signed");
  if (from_int && IsFloat(to)) return with("itof", from == Elem::kI1 ? " unsigned" : " signed");
  if (from_int && to_int) {
    return ElemInfoOf(from).bits < ElemInfoOf(to).bits ? with("exti", from == Elem::kI1 ? " unsigned" : " signed")
                                                       : with("trunci", "");
  }
  return "";
}

// "addi" for "addf" and the other way round; empty if there is none.
std::string Twin(const OpInfo& info, bool integer) {
  std::string name = info.mnemonic;
  if (name.empty() || name.back() != (integer ? 'f' : 'i')) return "";
  name.back() = integer ? 'i' : 'f';
  return FindOp(absl::string_view(name)) != nullptr ? name : "";
}

std::string Reshaped(const Value& v, Type want) {
  const Type t = v.type();
  const std::string goal = Tile(want.shape(), ToString(t.element()));
  if (t.num_elements() == want.num_elements())
    return absl::StrCat("give it that shape: %r = reshape ", NameOf(v), " : ", goal);
  const bool scalar = t.rank() == 0;
  bool grows = scalar || t.rank() == want.rank();
  for (int d = 0; d < want.rank() && grows && !scalar; ++d) {
    grows = t.shape()[d] == want.shape()[d] || t.shape()[d] == 1;
  }
  if (!grows) return "";
  const std::vector<int64_t> ones(want.rank(), 1);
  return scalar ? absl::StrCat("repeat it: %r = reshape ", NameOf(v), " : ", Tile(ones, ToString(t.element())),
                               ", then %b = broadcast %r : ", goal)
                : absl::StrCat("repeat it: %b = broadcast ", NameOf(v), " : ", goal);
}

std::string OfOtherKind(const Op& op, const Value& v, uint32_t kinds) {
  const Type t = v.type();
  if (t.is_token()) {
    const bool load = v.def() != nullptr && v.def()->num_results() > 1;
    return load ? absl::StrCat("a token orders accesses; the value is the first result of ", v.def()->info()->mnemonic)
                : "a token orders accesses and is no value";
  }
  if (t.is_tensor_view() && (kinds & Bit(TypeKind::kPartitionView))) {
    return absl::StrCat("cut it into tiles: %v = make_partition_view ", NameOf(v), " : partition_view<tile=(64)>");
  }
  if (!t.is_tile()) {
    return t.is_tensor_view()
               ? absl::StrCat("load a tile of it: make_partition_view ", NameOf(v), ", then load_view_tko")
               : absl::StrCat("load a tile of it: %x = load_view_tko weak ", NameOf(v), "[%i]");
  }
  if (t.elem() == Elem::kPtr) {
    return absl::StrCat("make a view of the memory: %t = make_tensor_view ", NameOf(v),
                        ", shape = [%n], strides = [1], then make_partition_view");
  }
  return absl::StrCat(op.info()->mnemonic, " works on memory; a tile is a value already");
}

}  // namespace

std::string ToType(const Op& op, const Value& value, Type want) {
  const Type have = value.type();
  if (!have.is_tile() || !want.is_tile()) return OfOtherKind(op, value, want.is_tile() ? 0 : Bit(want.kind()));
  if (have.element() == want.element()) return Reshaped(value, want);
  if (have.elem() == Elem::kPtr && want.elem() != Elem::kPtr) {
    return absl::StrCat("load what it points to: %v = load_ptr_tko weak ", NameOf(value));
  }
  if (have.elem() == Elem::kPtr || want.elem() == Elem::kPtr) return "";
  const std::string made = Conversion(value, want.elem());
  return made.empty() ? "" : absl::StrCat("convert it: %c = ", made);
}

std::string ToSet(const Op& op, const Value& value, uint32_t elems, uint32_t kinds, int rank) {
  const Type t = value.type();
  if (!t.is_tile() || elems == 0) return OfOtherKind(op, value, kinds);
  const Elem e = t.elem();
  const auto takes = [&](Elem to) { return (elems & Bit(to)) != 0; };
  if (takes(e)) {
    // Only the rank is wrong.
    if (rank != 0) return "";
    if (op.info()->opcode == Opcode::kIf) {
      return absl::StrCat("a choice for each element is select ", NameOf(value),
                          ", %a, %b; a branch needs one bit for all: reduce it with ori or andi");
    }
    return absl::StrCat("take one element: extract or reduce ", NameOf(value), ", and reshape it to ",
                        Tile({}, ToString(t.element())));
  }
  if (takes(Elem::kPtr)) {
    return e == Elem::kI64
               ? absl::StrCat("make it a pointer: %p = int_to_ptr ", NameOf(value), " : ", Tile(t.shape(), "ptr<f32>"))
               : "a pointer comes from a parameter, such as %p: tile<ptr<f32>>; offset moves it";
  }
  if (e == Elem::kPtr) return absl::StrCat("load what it points to: %v = load_ptr_tko weak ", NameOf(value));
  if (elems == Bit(Elem::kI1)) {
    return IsFloat(e) ? absl::StrCat("compare it: %c = cmpf not_equal unordered ", NameOf(value), ", 0.0")
                      : absl::StrCat("compare it: %c = cmpi not_equal ", NameOf(value), ", 0, signed");
  }
  Elem to = e;
  for (const Elem likely : {Elem::kF32, Elem::kF64, Elem::kI32, Elem::kI64, Elem::kI8}) {
    if (takes(likely)) {
      to = likely;
      break;
    }
  }
  const std::string made = to == e ? "" : Conversion(value, to);
  if (made.empty()) return "";
  const std::string twin = IsFloat(e) == IsFloat(to) ? "" : Twin(*op.info(), IsInt(e));
  return absl::StrCat(twin.empty() ? "" : absl::StrCat(twin, " takes it as it is; or "), "convert it: %c = ", made);
}

}  // namespace tile::ir::verify
