// Matrix products, of small whole numbers, so that every order of adding up gives the same.
#include <algorithm>
#include <array>
#include <iterator>

#include "tests/fuzz/generator.h"

namespace tile::fuzz {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 19;  // of an array that results of products are stored in

}  // namespace

void Generator::StepMatrix() {
  const int64_t m = int64_t{1} << r_.In(0, 6), n = int64_t{1} << r_.In(0, 6), k = int64_t{1} << r_.In(0, 6);
  const int64_t batch = r_.Percent(25) ? int64_t{1} << r_.In(0, 2) : 0;
  const auto shape = [&](int64_t rows, int64_t columns) {
    return batch > 0 ? Shape{batch, rows, columns} : Shape{rows, columns};
  };
  if (r_.Percent(15)) return StepScaled();
  if (r_.Percent(35)) return StepProductLoop();
  if (r_.Percent(25)) {
    const Val a = Operand(Elem::kI8, shape(m, k)), b = Operand(Elem::kI8, shape(k, n)),
              c = Operand(Elem::kI32, shape(m, n));
    const ir::Signedness sa = Sign(), sb = Sign();
    return Add({op::MmaI(b_, a.v, b.v, c.v, sa, sb)});
  }
  static constexpr struct {
    Elem factor, sum;
  } kPairs[] = {
      {Elem::kF16, Elem::kF16},      {Elem::kF16, Elem::kF32},      {Elem::kBF16, Elem::kF32},
      {Elem::kTF32, Elem::kF32},     {Elem::kF32, Elem::kF32},      {Elem::kF64, Elem::kF64},
      {Elem::kF8E4M3FN, Elem::kF16}, {Elem::kF8E4M3FN, Elem::kF32}, {Elem::kF8E5M2, Elem::kF16},
      {Elem::kF8E5M2, Elem::kF32},
  };
  const auto& pair = kPairs[r_.Below(std::size(kPairs))];
  // f8 sums are kept with fewer bits by some hardware.
  const double limit = ir::ElemInfoOf(pair.factor).bits == 8 ? 1024 : LargestWhole(pair.sum);
  const Val a = Small(pair.factor, shape(m, k), 4), b = Small(pair.factor, shape(k, n), 4);
  const double products = a.bound * b.bound * static_cast<double>(k);
  if (products > limit) return;
  const Val c = Small(pair.sum, shape(m, n), std::min(64.0, limit - products));
  Val d{op::MmaF(b_, a.v, b.v, c.v), products + c.bound};
  if (d.bound > LargestWhole(pair.sum)) return;
  Add(d);
}

// Scales of 1 and 2, so that all products and sums are whole.
void Generator::StepScaled() {
  const ScaledForm form = RandomScaledForm(r_);
  const int64_t m = int64_t{1} << r_.In(0, 5), n = int64_t{1} << r_.In(0, 5), groups = int64_t{1} << r_.In(0, 2);
  const int64_t k = groups * form.block, batch = r_.Percent(25) ? 2 : 0;
  const auto shape = [&](int64_t rows, int64_t columns) {
    return batch > 0 ? Shape{batch, rows, columns} : Shape{rows, columns};
  };
  const auto factor = [&](const Shape& s) {
    if (form.data != Elem::kF4E2M1FN) return Small(form.data, s, 4).v;
    return op::FToF(b_, Tile(form.data, s), Small(Elem::kF32, s, 2).v);
  };
  const auto scale = [&](const Shape& s) {
    Value* bit = op::Andi(b_, Operand(Elem::kI32, s).v, Splat(Elem::kI32, s, 1));
    Value* number =
        op::IToF(b_, Tile(Elem::kF32, s), op::Shli(b_, Splat(Elem::kI32, s, 1), bit), ir::Signedness::kSigned);
    const auto round = form.scale == Elem::kF8E8M0FNU ? ir::Rounding::kZero : ir::Rounding::kNearestEven;
    return op::FToF(b_, Tile(form.scale, s), number, round);
  };
  Value* a = factor(shape(m, k));
  Value* b = factor(shape(k, n));
  const Val c = Small(Elem::kF32, shape(m, n), 64);
  Value* sa = scale(shape(m, groups));
  Value* sb = scale(shape(groups, n));
  Add({op::MmaScaled(b_, a, b, c.v, sa, sb), 64.0 * static_cast<double>(k) + c.bound});
}

// A product in a loop over tiles of two matrices in memory, as matrix multiplication is written.
void Generator::StepProductLoop() {
  const bool products = OfProducts() || OfLoops();
  std::vector<int> arrays;
  for (size_t i = 0; i < roles_.size(); ++i) {
    const RandomArray& a = out_.arrays[i];
    if (roles_[i] != Role::kInput || (a.fill != Fill::kSmall && a.elem != Elem::kI8)) continue;
    // Types that have instructions for tiles in shared memory, more often.
    const bool often =
        a.elem == Elem::kF16 || a.elem == Elem::kBF16 || a.elem == Elem::kTF32 || ir::ElemInfoOf(a.elem).bits == 8;
    const int times = often ? 4 : a.elem == Elem::kF32 ? 2 : 1;
    arrays.insert(arrays.end(), static_cast<size_t>(products && times > 1 ? 4 * times : times), static_cast<int>(i));
  }
  if (arrays.empty()) return;
  const int left = r_.Of(arrays);
  int right = r_.Of(arrays);
  const Elem e = out_.arrays[static_cast<size_t>(left)].elem;
  if (out_.arrays[static_cast<size_t>(right)].elem != e) right = left;
  const bool is_int = e == Elem::kI8;
  const Elem sum = is_int ? Elem::kI32 : e == Elem::kF64 ? e : e == Elem::kF16 && r_.Percent(15) ? e : Elem::kF32;
  const bool squares = products && r_.Percent(8);  // a tile with itself, as it is or turned
  const int64_t m = int64_t{1} << (r_.Percent(products ? 90 : 60) ? r_.In(6, products ? 8 : 7) : r_.In(4, 7)),
                n = squares ? m : int64_t{1} << r_.In(3, 8), k = int64_t{1} << r_.In(4, squares ? 8 : 6);
  const int64_t rounds = r_.In(0, 4);
  // The hardware that keeps fewest bits of sums of f8 (about 14) does so for those of an iteration, at most 1024 here.
  const double limit = !is_int && ir::ElemInfoOf(e).bits == 8 ? 4096 : LargestWhole(sum),
               bound = 16.0 * static_cast<double>(k * std::max<int64_t>(1, rounds));
  if (!is_int && bound + 4 > limit) return;

  std::array<Region, 2> regions;  // of the matrices that come as blocks
  // One of the matrices: `rows` and `columns` of a tile, of which `depth` is the dimension that the loop goes along.
  const auto matrix = [&](int array, int64_t rows, int64_t columns, size_t depth) {
    Cut cut;
    cut.tile = {rows, columns};
    const bool turned = r_.Percent(20);
    cut.dim_map = turned ? Shape{1, 0} : Shape{0, 1};
    cut.sizes.assign(2, 1);
    for (size_t d = 0; d < 2; ++d) {
      const int64_t tiles = d == depth ? std::max<int64_t>(1, rounds) : r_.In(1, 2);
      int64_t size = tiles * cut.tile[d];
      if (r_.Percent(30)) size -= r_.Below(cut.tile[d]);
      cut.sizes[static_cast<size_t>(cut.dim_map[d])] = size;
    }
    // The dimension of stride 1: of the loop, or of the rows.
    const auto along = static_cast<size_t>(cut.dim_map[depth]);
    const bool narrow = e == Elem::kTF32 || e == Elem::kF32 || e == Elem::kI8;
    const size_t inner = narrow && r_.Percent(70) ? along : r_.Percent(70) ? 1 : 0;
    const int64_t pitch = (cut.sizes[inner] + 7) / 8 * 8 + (r_.Percent(20) ? r_.In(1, 3) : r_.Percent(20) ? 16 : 0);
    cut.strides.assign(2, 1);
    cut.strides[1 - inner] = pitch;
    cut.span = (cut.sizes[1 - inner] - 1) * pitch + cut.sizes[inner];
    Settle(&cut);
    const RandomArray& a = out_.arrays[static_cast<size_t>(array)];
    if (cut.span > a.count) return cut;
    const Region region =
        r_.Percent(80) ? Part(array, nullptr, a.count, true) : Part(array, Number(Elem::kI32, 0), a.count, true);
    Value* tensor = nullptr;
    if (r_.Percent(60)) {
      const ir::Type t = b_.types().TensorView(ir::Element::Number(e), cut.sizes, cut.strides);
      tensor = op::MakeTensorView(b_, t, region.pointer, {}, {});
    } else {
      tensor = Tensor(region, cut.sizes, cut.strides);
    }
    std::optional<ir::Padding> padding;
    if (!cut.inside || r_.Percent(50)) padding = ir::Padding::kZero;
    const ir::Type view = b_.types().PartitionView(cut.tile, tensor->type(), turned ? cut.dim_map : Shape(), padding);
    cut.view = op::MakePartitionView(b_, view, tensor);
    if (!turned && r_.Percent(30)) regions[static_cast<size_t>(depth == 0)] = region;
    return cut;
  };
  const Cut a = matrix(left, m, k, 1), b = squares ? a : matrix(right, k, n, 0);
  if (a.view == nullptr || b.view == nullptr) return;
  const auto tiles = [](const Cut& cut, size_t d) {
    return (cut.sizes[static_cast<size_t>(cut.dim_map[d])] + cut.tile[d] - 1) / cut.tile[d];
  };
  Value* row = Index(tiles(a, 0), Elem::kI32);
  Value* column = Index(tiles(b, 1), Elem::kI32);
  const bool zeros = products && options_.seed >= kZeroSeeds;
  const Val start = zeros    ? Val{op::Splat(b_, Tile(sum, {m, n}), 0), is_int ? -1.0 : 0.0}
                    : is_int ? Operand(sum, {m, n})
                             : Small(sum, {m, n}, 4);
  const ir::Signedness sa = Sign(), sb = Sign();
  // As frontends bring f32 to the tensor cores.
  const bool rounded = e == Elem::kF32 && r_.Percent(70);
  const auto factor = [&](Value* x) {
    return rounded ? op::FToF(b_, b_.types().Tile(ir::Element::Number(Elem::kTF32), x->type().shape()), x) : x;
  };
  // Blocks begin at multiples of their size, or a little beside them.
  const int64_t beside = r_.Percent(60) ? 0 : r_.In(-20, 20);
  const auto operand = [&](const Cut& cut, const Region& region, const op::Values& at) {
    if (region.pointer == nullptr) return op::LoadView(b_, cut.view, at).value;
    op::Values offsets;
    for (size_t d = 0; d < 2; ++d) {
      Value* offset = op::Muli(b_, at[d], Constant(Elem::kI32, cut.tile[d]));
      offsets.push_back(beside == 0 ? offset : op::Addi(b_, offset, Constant(Elem::kI32, beside)));
    }
    return LoadBlock(region, {cut.tile, cut.sizes, cut.strides, cut.span}, offsets, {}, nullptr).v;
  };
  Value* zero = Constant(Elem::kI32, 0);
  Value* end = r_.Percent(60) ? Constant(Elem::kI32, rounds) : Number(Elem::kI32, rounds);
  const op::Values sums =
      op::For(b_, zero, end, Constant(Elem::kI32, 1), {start.v}, [&](Value* i, const op::Values& now) -> op::Values {
        Value* x = factor(operand(a, regions[0], {row, i}));
        Value* y = x;
        if (!squares) y = factor(operand(b, regions[1], {i, column}));
        if (squares && m != k) y = op::Permute(b_, x, {1, 0});
        return {is_int ? op::MmaI(b_, x, y, now[0], sa, sb) : op::MmaF(b_, x, y, now[0])};
      });
  const Val result{sums[0], is_int ? -1 : start.bound + bound};
  if (!in_loop_ && depth_ == 0 && r_.Percent(75)) StoreProduct(result);
  Add(result);
}

// Where matrix multiplication stores its result: in one matrix of all blocks, a tile of rows each, that begins where the
// array does.
void Generator::StoreProduct(Val x) {
  const bool is_int = x.elem() == Elem::kI32;
  const Elem e = r_.Percent(30) ? x.elem() : is_int ? r_.Of({Elem::kI8, Elem::kI16}) : r_.Of({Elem::kF16, Elem::kBF16});
  const int array = FindArray(Role::kOutput, e);
  if (array < 0) return;
  if (e != x.elem()) x = Converted(x, e);
  const int64_t m = x.shape()[0], n = x.shape()[1];
  const int64_t pitch = (n + 15) / 16 * 16 + (r_.Percent(20) ? r_.In(1, 7) : r_.Percent(20) ? 16 : 0);
  int64_t& used = used_[static_cast<size_t>(array)];
  const int64_t first = (used + m * pitch - 1) / (m * pitch);  // tiles of other stores come before
  if ((first + blocks_) * m * pitch > kMostElements) return;
  used = (first + blocks_) * m * pitch;
  const int64_t outside = r_.Percent(60) ? 0 : r_.Below(n);
  const Shape sizes = {(first + blocks_) * m - (r_.Percent(40) ? r_.Below(m) : 0),
                       n - (r_.Percent(50) ? outside / 8 * 8 : outside)},
              strides = {pitch, 1};
  const Region region = Part(array, nullptr, used, true);
  Value* tensor = r_.Percent(60) ? op::MakeTensorView(b_, b_.types().TensorView(ir::Element::Number(e), sizes, strides),
                                                      region.pointer, {}, {})
                                 : Tensor(region, sizes, strides);
  Value* view = op::MakePartitionView(b_, b_.types().PartitionView({m, n}, tensor->type(), {}, std::nullopt), tensor);
  Value* row = op::Addi(b_, block_, Constant(Elem::kI32, first));
  op::Access how;
  how.token = Before();
  Value* done = op::StoreView(b_, x.v, view, {row, Constant(Elem::kI32, 0)}, how);
  if (r_.Percent(20)) After(done);
}

}  // namespace tile::fuzz
