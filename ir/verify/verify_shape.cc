// Operations that move elements (semantics 1.6).

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

std::string FromTo(Type from, Type to) { return absl::StrCat(from.ToString(), " to ", to.ToString()); }

void CheckBroadcast(OpCheck& c) {
  const Type from = c.in(Field::kSource), to = c.out(Field::kResult);
  bool good = from.rank() == to.rank();
  for (int d = 0; good && d < from.rank(); ++d) good = from->shape[d] == 1 || from->shape[d] == to->shape[d];
  c.Require(
      good, Rule::kBroadcastSizes, [&] { return "cannot repeat " + FromTo(from, to); },
      "reshape to the rank of the result first; only sizes of 1 are repeated");
}

void CheckReshape(OpCheck& c) {
  const Type from = c.in(Field::kSource), to = c.out(Field::kResult);
  c.Require(from.num_elements() == to.num_elements(), Rule::kReshapeCount, [&] {
    return absl::StrCat(FromTo(from, to), " has ", from.num_elements(), " and ", to.num_elements(), " elements");
  });
}

void CheckPermute(OpCheck& c) {
  const Type from = c.in(Field::kSource), to = c.out(Field::kResult);
  const absl::Span<const int64_t> map = c.attr(Field::kPermutation).ints();
  if (!c.Require(IsPermutation(map, from.rank()), Rule::kPermuteMap,
                 [&] { return absl::StrCat(List(map), " does not permute ", from.ToString()); })) {
    return;
  }
  bool good = from.rank() >= 2 && to.rank() == from.rank();
  for (int d = 0; good && d < from.rank(); ++d) good = to->shape[d] == from->shape[map[d]];
  c.Require(
      good, Rule::kPermuteShape, [&] { return absl::StrCat("permutes ", FromTo(from, to), " by ", List(map)); },
      "result size k is source size permutation[k]");
}

void CheckCat(OpCheck& c) {
  const Type a = c.in(Field::kLhs), b = c.in(Field::kRhs), to = c.out(Field::kResult);
  const int64_t dim = c.attr(Field::kDim).as_int();
  if (!c.Require(a.rank() == b.rank() && a.rank() == to.rank() && dim >= 0 && dim < a.rank(), Rule::kCatDim, [&] {
        return absl::StrCat("dim ", dim, " of ", a.ToString(), ", ", b.ToString(), " and ", to.ToString());
      })) {
    return;
  }
  bool good = true;
  for (int d = 0; d < a.rank(); ++d) {
    good &= d == dim ? a->shape[d] + b->shape[d] == to->shape[d]
                     : a->shape[d] == b->shape[d] && a->shape[d] == to->shape[d];
  }
  c.Require(
      good, Rule::kCatSizes,
      [&] { return absl::StrCat(a.ToString(), " and ", b.ToString(), " along ", dim, " do not make ", to.ToString()); },
      "the operands are equally long along dim, the result twice as long");
}

// extract, insert: the slice and the whole.
void CheckSlice(OpCheck& c, Type slice, Type whole) {
  const int indices = c.group(Field::kIndices).size();
  if (!c.Require(slice.rank() == whole.rank() && indices == whole.rank(), Rule::kSliceRank, [&] {
        return absl::StrCat(slice.ToString(), " of ", whole.ToString(), " with ", indices, " indices");
      })) {
    return;
  }
  bool good = true;
  for (int d = 0; d < whole.rank(); ++d) good &= slice->shape[d] <= whole->shape[d];  // powers of two
  c.Require(good, Rule::kSliceDivides,
            [&] { return absl::StrCat(slice.ToString(), " is no slice of ", whole.ToString()); });
}
void CheckExtract(OpCheck& c) { CheckSlice(c, c.out(Field::kResult), c.in(Field::kSource)); }
void CheckInsert(OpCheck& c) { CheckSlice(c, c.in(Field::kSource), c.in(Field::kDestination)); }

void CheckPack(OpCheck& c) {
  const Type from = c.in(Field::kSource), to = c.out(Field::kResult);
  const auto bits = [](Type t) {  // eight i1 and two 4-bit elements to a byte
    const int width = t.elem() == Elem::kI1 ? 1 : MemoryBits(t.elem());
    return width * t.num_elements();
  };
  c.Require(bits(from) == bits(to), Rule::kPackBytes, [&] {
    return absl::StrCat(from.ToString(), " has ", bits(from), " bits, ", to.ToString(), " has ", bits(to));
  });
}

}  // namespace

absl::Span<const OpRules> ShapeRules() {
  static constexpr OpRules kRules[] = {
      {Opcode::kBroadcast, CheckBroadcast}, {Opcode::kReshape, CheckReshape},
      {Opcode::kPermute, CheckPermute},     {Opcode::kCat, CheckCat},
      {Opcode::kExtract, CheckExtract},     {Opcode::kInsert, CheckInsert},
      {Opcode::kPack, CheckPack},           {Opcode::kUnpack, CheckPack},
  };
  return kRules;
}

}  // namespace tile::ir::verify
