// Types (semantics 1, 2). A type is judged when the first value has it; equal types are one pointer.

#include "ir/limits.h"
#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {

class TypeCheck {
 public:
  TypeCheck(Verifier& verifier, const Op* op, const Function* function, SourcePos pos)
      : verifier_(verifier), op_(op), function_(function), pos_(pos) {}

  bool Check(Type t) {
    if (!t || t.kind() == TypeKind::kFunction) {
      return Fail(Rule::kNoValueType, t, t ? "a value cannot be a function" : "a value has no type", "");
    }
    if (t.is_token()) return true;
    if (t.is_tile()) return CheckTile(t, t.element());
    if (t.is_tensor_view()) return CheckTensor(t);
    return CheckView(t);
  }

 private:
  bool Fail(Rule rule, Type t, absl::string_view message, absl::string_view fix) {
    const std::string subject = t ? t.ToString() : "";
    if (op_ != nullptr) {
      verifier_.Report(rule, nullptr, op_->loc, op_->pos, absl::StrCat(op_->info()->mnemonic, ": ", subject), message,
                       fix);
    } else {
      const bool place = pos_.line == 0 && function_ != nullptr;
      verifier_.Report(rule, nullptr, function_ ? function_->loc : 0, place ? function_->pos : pos_, subject, message,
                       fix);
    }
    return false;
  }

  // Also the tile of a view.
  bool CheckTile(Type t, Element e) {
    if (!CheckRank(t)) return false;
    bool even = false;
    for (int64_t n : t.shape()) {
      if (!IsPowerOfTwo(n)) {
        // What a load gives of a view has the size of the view's tiles: one mistake, told once.
        if (t.is_tile() && verifier_.WrongInAView(t.shape())) return false;
        if (!t.is_tile()) verifier_.AddWrongInAView(t.shape());
        return Fail(Rule::kTileSize, t, absl::StrCat("size ", n, " is not a power of two"),
                    "take a larger tile; views skip what lies outside of their tensor");
      }
      even |= n % 2 == 0;
    }
    if (t.num_elements() > kMaxTileElements) {
      return Fail(Rule::kTileCount, t, absl::StrCat("has ", t.num_elements(), " elements, more than 2^24"),
                  "loop over smaller tiles");
    }
    if (e.kind == Elem::kF4E2M1FN && !even) return Fail(Rule::kTileF4, t, "has no dimension of even size", "");
    if (e.is_pointer() && !IsNum(e.pointee)) {
      return Fail(Rule::kPointeeType, t, absl::StrCat("points to ", ElemInfoOf(e.pointee).spelling),
                  "point to a number type other than i4");
    }
    return true;
  }

  bool CheckRank(Type t) {
    if (t.rank() <= kMaxRank) return true;
    return Fail(Rule::kRankLimit, t, absl::StrCat("has rank ", t.rank(), ", more than ", kMaxRank), "");
  }

  bool CheckTensor(Type t) {
    if (!CheckRank(t)) return false;
    if (!IsNum(t.elem())) {
      return Fail(Rule::kTensorElement, t, absl::StrCat("has elements ", ToString(t.element())),
                  "address and 4-bit integer elements as i64 and i8");
    }
    if (t->strides.size() != t->shape.size()) {
      return Fail(Rule::kStridesRank, t, absl::StrCat("has ", t.rank(), " sizes and ", t->strides.size(), " strides"),
                  "");
    }
    bool packed = false;
    for (int d = 0; d < t.rank(); ++d) {
      const int64_t size = t->shape[d], stride = t->strides[d];
      if ((size <= 0 && size != kDynamic) || (stride <= 0 && stride != kDynamic)) {
        return Fail(Rule::kTensorSizes, t, absl::StrCat("dimension ", d, " has a size or stride that is not positive"),
                    "write ? for what only the launch knows");
      }
      packed |= stride == 1 && (size == kDynamic || size % 2 == 0);
    }
    if (IsSubByte(t.elem()) && !packed) {
      return Fail(Rule::kTensorF4, t, "two elements share a byte, but no dimension of even size has stride 1", "");
    }
    return true;
  }

  bool CheckView(Type t) {
    const Type tensor = t.tensor();
    if (!tensor || !tensor.is_tensor_view()) return Fail(Rule::kNoValueType, Type(), "a view has no tensor", "");
    if (!CheckTensor(tensor) || !CheckTile(t, t.element())) return false;
    const int rank = tensor.rank();
    if (rank == 0 || t.rank() != rank) {
      return Fail(Rule::kViewRank, t, absl::StrCat("the tile has rank ", t.rank(), ", the tensor ", rank),
                  rank == 0 ? "give the tensor a dimension of size 1" : "");
    }
    if (t.is_grid_view() && !IsPermutation(t->dim_map, rank)) {
      return Fail(Rule::kDimMap, t, absl::StrCat("dim_map ", List(t->dim_map), " is no permutation of 0 to ", rank - 1),
                  "");
    }
    if (t.kind() == TypeKind::kStridedView) {
      bool good = static_cast<int>(t->steps.size()) == rank;
      for (int64_t s : t->steps) good &= s > 0;
      if (!good) return Fail(Rule::kViewSteps, t, absl::StrCat("the steps are ", List(t->steps)), "");
    }
    if (t.kind() == TypeKind::kGatherScatterView && (t->sparse_dim < 0 || t->sparse_dim >= rank)) {
      return Fail(Rule::kSparseDim, t, absl::StrCat("sparse_dim ", t->sparse_dim, " of a tensor of rank ", rank), "");
    }
    return !t->padding || CheckPadding(t, *t->padding);
  }

  bool CheckPadding(Type t, Padding padding) {
    const Elem e = t.elem();
    if (!IsFloat(e)) {
      if (padding == Padding::kZero) return true;
      return Fail(Rule::kPaddingFloat, t, absl::StrCat("integers cannot be padded with ", Keyword(padding)),
                  "pad with zero");
    }
    if (Lacks(e, padding)) {
      Fail(Rule::kPaddingLacks, t,
           absl::StrCat(ElemInfoOf(e).spelling, " has no ", Keyword(padding), "; elements get what ftof makes of it"),
           "pad with zero, or use a wider type");
    }
    return true;
  }

  static bool Lacks(Elem e, Padding padding) {
    const bool is_unsigned = e == Elem::kF8E8M0FNU || e == Elem::kF8E5M3FNU;
    const bool has_infinity = IsFp(e) || e == Elem::kTF32 || e == Elem::kF8E5M2;
    switch (padding) {
      case Padding::kZero: return e == Elem::kF8E8M0FNU;
      case Padding::kNegZero: return is_unsigned;
      case Padding::kNan: return e == Elem::kF4E2M1FN;
      case Padding::kPosInf:
      case Padding::kNegInf: return !has_infinity;
    }
    return true;
  }

  Verifier& verifier_;
  const Op* op_;
  const Function* function_;
  SourcePos pos_;
};

bool Verifier::CheckType(Type type, const Op* where, const Function* function, SourcePos pos) {
  if (type && good_types_.Contains(type.data())) return true;
  if (type && bad_types_.Contains(type.data())) return false;
  const bool good = TypeCheck(*this, where, function, pos).Check(type);
  if (type) (good ? good_types_ : bad_types_).Insert(type.data());
  return good;
}

}  // namespace tile::ir::verify
