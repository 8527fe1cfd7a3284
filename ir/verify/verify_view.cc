// Views: making them, asking for their sizes, loading and storing through them (semantics 2, 8.3).

#include <algorithm>

#include "ir/verify/verify_internal.h"

namespace tile::ir::verify {
namespace {

void CheckIndices(OpCheck& c, Type view) {
  const OpCheck::Group index = c.group(Field::kIndex);
  if (!c.Require(
          index.size() == view.rank(), Rule::kViewIndex,
          [&] { return absl::StrCat("has ", index.size(), " indices for ", view.ToString()); },
          "give one index per dimension")) {
    return;
  }
  const int sparse = view.kind() == TypeKind::kGatherScatterView ? view->sparse_dim : -1;
  Type scalar;
  for (int i = 0; i < index.size(); ++i) {
    const Type t = c.op.operand(index.begin + i)->type();
    if (i == sparse) {
      c.Require(
          t.rank() == 1 && t->shape[0] == view->shape[i], Rule::kViewIndex,
          [&] {
            return absl::StrCat("index ", i, " is ", t.ToString(), ", picks ", view->shape[i], " rows of the view");
          },
          "give a rank-1 tile, as long as the view's tile in that dimension");
      continue;
    }
    if (!scalar) scalar = t;
    if (!c.Require(
            t.is_scalar() && t == scalar, Rule::kViewIndex,
            [&] {
              return absl::StrCat("index ", i, " is ", t.ToString(), t.is_scalar() ? ", others " : ", must be a scalar",
                                  t.is_scalar() ? scalar.ToString() : "");
            },
            "indices are scalars of one type")) {
      return;
    }
  }
}

}  // namespace

void CheckViewAccess(OpCheck& c, Type tile) {
  const Type view = c.in(Field::kView);
  CheckIndices(c, view);
  const size_t inbounds = c.attr(Field::kInbounds).bools().size();
  c.Require(inbounds == 0 || static_cast<int>(inbounds) == view.rank(), Rule::kInbounds,
            [&] { return absl::StrCat("inbounds has ", inbounds, " entries for ", view.rank(), " indices"); });
  c.Require(tile.is_tile() && tile.element() == view.element() && tile.shape() == view.shape(), Rule::kViewTile, [&] {
    return absl::StrCat("the value is ", tile.ToString(), ", a tile of ", view.ToString(), " is expected");
  });
}

namespace {

void CheckLoad(OpCheck& c) {
  CheckViewAccess(c, c.out(Field::kTile));
  CheckOrdering(c, kReadOrderings, kAllScopes);
  c.CheckHints();
}

void CheckStore(OpCheck& c) {
  CheckViewAccess(c, c.in(Field::kTile));
  CheckOrdering(c, kWriteOrderings, kAllScopes);
  c.CheckHints();
}

void CheckMakeTensor(OpCheck& c) {
  const Type t = c.out(Field::kResult), base = c.in(Field::kBase);
  c.Require(
      t->space == MemorySpace::kGlobal && t.element() == Element::Number(base.element().pointee), Rule::kTensorGlobal,
      [&] { return absl::StrCat("makes ", t.ToString(), " of ", base.ToString()); },
      "the tensor is global, of the pointee's type; alloc_shared gives shared ones");
  const OpCheck::Group sizes = c.group(Field::kDynamicShape), strides = c.group(Field::kDynamicStrides);
  const int open_sizes = static_cast<int>(std::count(t->shape.begin(), t->shape.end(), kDynamic));
  const int open_strides = static_cast<int>(std::count(t->strides.begin(), t->strides.end(), kDynamic));
  if (!c.Require(sizes.size() == open_sizes && strides.size() == open_strides, Rule::kTensorDynamic, [&] {
        return absl::StrCat("has ", sizes.size(), " sizes and ", strides.size(), " strides, ", t.ToString(),
                            " leaves open ", open_sizes, " and ", open_strides);
      })) {
    return;
  }
  if (sizes.size() == 0 || strides.size() == 0) return;
  const Type a = c.op.operand(sizes.begin)->type(), b = c.op.operand(strides.begin)->type();
  c.Require(
      a == b, Rule::kTensorDynamic,
      [&] { return absl::StrCat("sizes are ", a.ToString(), ", strides ", b.ToString()); }, "use one type for all");
}

void CheckMakeView(OpCheck& c) {
  const Type from = c.in(Field::kSource), to = c.out(Field::kResult);
  c.Require(to.tensor() == from, Rule::kViewOfSource,
            [&] { return absl::StrCat("makes ", to.ToString(), " of ", from.ToString()); });
}

void CheckShapeCount(OpCheck& c) {
  const Type t = c.in(Field::kSource);
  c.Require(c.op.num_results() == t.rank(), Rule::kShapeCount,
            [&] { return absl::StrCat("has ", c.op.num_results(), " results for ", t.ToString()); });
}

void CheckIndexSpace(OpCheck& c) {
  CheckShapeCount(c);
  c.Require(
      c.in(Field::kSource).is_grid_view(), Rule::kNoIndexSpace,
      [&] { return absl::StrCat("the source is ", c.in(Field::kSource).ToString()); },
      "ask the tensor with get_tensor_shape");
}

}  // namespace

void CheckScatter(OpCheck& c) {
  const Type tensor = c.in(Field::kView), values = c.in(Field::kValues);
  const int64_t dim = c.attr(Field::kDim).as_int();
  c.Require(values.element() == tensor.element(), Rule::kScatterElement,
            [&] { return absl::StrCat("the values are ", values.ToString(), ", the tensor ", tensor.ToString()); });
  if (!c.Require(values.rank() == tensor.rank() && dim >= 0 && dim < tensor.rank(), Rule::kScatterDim, [&] {
        return absl::StrCat("values are ", values.ToString(), ", dim is ", dim, ", the tensor ", tensor.ToString());
      })) {
    return;
  }
  for (int d = 0; d < tensor.rank(); ++d) {
    if (d == dim || tensor->shape[d] == kDynamic || tensor->shape[d] == values->shape[d]) continue;
    c.Fail(Rule::kScatterSizes, absl::StrCat("dimension ", d, " is ", values->shape[d], " in the values and ",
                                             tensor->shape[d], " in ", tensor.ToString()));
  }
}

absl::Span<const OpRules> ViewRules() {
  static constexpr OpRules kRules[] = {
      {Opcode::kLoadView, CheckLoad},
      {Opcode::kStoreView, CheckStore},
      {Opcode::kMakeTensorView, CheckMakeTensor},
      {Opcode::kMakePartitionView, CheckMakeView},
      {Opcode::kMakeStridedView, CheckMakeView},
      {Opcode::kMakeGatherScatterView, CheckMakeView},
      {Opcode::kGetTensorShape, CheckShapeCount},
      {Opcode::kGetIndexSpaceShape, CheckIndexSpace},
      {Opcode::kStoreScatterView, CheckScatter},
  };
  return kRules;
}

}  // namespace tile::ir::verify
