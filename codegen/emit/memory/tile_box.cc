#include "codegen/emit/memory/tile_box.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"

namespace tile::codegen {
namespace {

const llvm::ConstantInt* Constant(const llvm::Value* v) { return llvm::dyn_cast_or_null<llvm::ConstantInt>(v); }

// The index of dimension k never reaches the end of the index space: a constant, or counted by a loop up to that end.
bool IsInSpace(const ir::Value* index, const ir::Value* view, int k) {
  const ir::Type type = view->type();
  if (!type.is_grid_view()) return false;
  const int64_t size = type.tensor()->shape[TensorDim(type, k)];
  const int64_t step = GridStep(type, k);
  const uint64_t count = size == ir::kDynamic ? 0 : static_cast<uint64_t>((size + step - 1) / step);
  const auto constant = [](const ir::Value* v) -> std::optional<uint64_t> {
    const auto def = ir::DefAs<ir::ConstantOp>(v);
    if (!def) return std::nullopt;
    const ir::Dense& d = def->value();
    uint64_t bits = 0;
    std::memcpy(&bits, d.bytes.data(), static_cast<size_t>(ir::StorageBytes(d.elem)));
    return bits;
  };
  while (index->def() != nullptr && index->def()->opcode() == ir::Opcode::kExti) index = index->def()->operand(0);
  const int bits = ir::ElemInfoOf(index->type().elem()).bits;
  if (const auto c = constant(index)) return *c < count && *c >> (bits - 1) == 0;
  const auto loop = index->def() == nullptr ? ir::As<ir::ForOp>(index->block()->parent()) : std::nullopt;
  if (!loop || index->index() != 0) return false;
  const auto first = constant(loop->lower_bound());
  if (!first || *first >> (bits - 1) != 0) return false;
  const ir::Value* end = loop->upper_bound();
  if (const auto c = constant(end)) return *c <= count && *c >> (bits - 1) == 0;
  const auto shape = ir::DefAs<ir::GetIndexSpaceShapeOp>(end);
  return shape && shape->source() == view && end->index() == k && !loop->unsigned_cmp();
}

// With 64 bits. One far outside must not come back by wrapping around.
llvm::Value* WideIndex(Emitter& e, const ir::Op& access, const ir::Value& index, llvm::Value* more, int64_t step) {
  auto& b = e.b();
  const bool is_signed = DecisionOf<Decision::kSignedIndex>(access);
  llvm::Value* i = e.scalar(&index);
  if (more != nullptr) i = b.CreateAdd(i, more);
  i = is_signed ? b.CreateSExt(i, b.getInt64Ty()) : b.CreateZExt(i, b.getInt64Ty());
  if (index.type().elem() != ir::Elem::kI64) return i;
  if (!is_signed) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, i, e.I64(INT64_MAX / step));
  i = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, i, e.I64(INT64_MAX / step));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, i, e.I64(-(INT64_MAX / step)));
}

}  // namespace

TileBox::TileBox(Emitter& e, const ir::Value* view, const Layout& layout) : e_(e), layout_(layout) {
  auto& b = e.b();
  tensor_ = &e.view(view);
  tensor_type_ = view->type().is_tensor_view() ? view->type() : view->type().tensor();
  maker_ = MakerOf(view);
  elem_ = tensor_type_.elem();
  unit_ = ir::MemoryBits(elem_) / 8;
  shared_ = tensor_type_->space == ir::MemorySpace::kShared;
  start_ = tensor_->base;
  // Shared arrays are at least so aligned (LowerAllocShared), and at most.
  start_divisor_ = shared_ ? 16 : facts_.Divisor(view);
  address_type_ = shared_ ? b.getInt32Ty() : b.getInt64Ty();
  if (shared_) start_ = b.CreateTrunc(b.CreatePtrToInt(e.shared().Address(start_), b.getInt64Ty()), b.getInt32Ty());
}

TileBox::Dim TileBox::MakeDim(int64_t tile, int tensor_dim) {
  // What is known of the sizes and strides that the type leaves open.
  const auto maker = ir::As<ir::MakeTensorViewOp>(maker_);
  auto divisor = [&](const llvm::Value* v, const std::vector<int64_t>& of_type, bool strides) -> uint64_t {
    if (const auto* c = Constant(v)) return PowerOfTwoIn(c->getZExtValue());
    if (!maker) return 1;
    size_t open = 0;
    for (int d = 0; d < tensor_dim; ++d) open += of_type[static_cast<size_t>(d)] == ir::kDynamic;
    const ir::OperandRange values = strides ? maker->dynamic_strides() : maker->dynamic_shape();
    return open < values.size() ? facts_.Divisor(values[open]) : 1;
  };
  const auto t = static_cast<size_t>(tensor_dim);
  Dim d;
  d.tile = tile;
  d.size = tensor_->sizes[t];
  d.size_divisor = divisor(d.size, tensor_type_->shape, false);
  d.stride = tensor_->strides[t];
  d.stride_divisor = divisor(d.stride, tensor_type_->strides, true);
  return d;
}

void TileBox::AddDim(Dim d, bool tested) {
  auto& b = e_.b();
  d.tested = tested;
  const int k = static_cast<int>(dims_.size());
  if (tested && d.picked.empty()) {
    // What lies in front of the tensor, and what is left of it, below zero where the tile is wholly behind it.
    llvm::Value* origin = d.origin;
    if (d.may_be_negative) {
      origin = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, origin, e_.I64(-d.tile));
      d.first =
          b.CreateTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateNeg(origin), e_.I64(0)), b.getInt32Ty());
    }
    llvm::Value* size = d.size;
    if (d.may_be_negative) size = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, size, e_.I64(INT64_MAX - d.tile));
    llvm::Value* left = origin == nullptr ? size : b.CreateSub(size, origin);
    if (const auto* c = Constant(left)) {
      d.limit = e_.I32(std::clamp<int64_t>(c->getSExtValue(), 0, d.tile));
      d.tested = c->getSExtValue() < d.tile;
    } else {
      left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, e_.I64(0));
      d.limit = b.CreateTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, e_.I64(d.tile)), b.getInt32Ty());
    }
  }
  Mask thread = 0, reg = 0;
  for (Mask x : layout_.bases(In::kLane)) thread |= x;
  for (Mask x : layout_.bases(In::kWarp)) thread |= x;
  for (Mask x : layout_.bases(In::kRegister)) reg |= x;
  d.apart = (thread & reg & layout_.DimMask(k)) != 0;
  dims_.push_back(std::move(d));
}

TileBox TileBox::OfView(Emitter& e, const ir::Op& op, const Layout& layout, const Moved& moved) {
  auto& b = e.b();
  const ir::Value* view = ir::ViewAccessOp(op).view();
  const ir::Type type = view->type();
  TileBox box(e, view, layout);
  const ir::OperandRange index = ir::ViewAccessOp(op).index();
  const auto inbounds = ir::ViewAccessOp(op).inbounds();
  const bool gather = type.kind() == ir::TypeKind::kGatherScatterView;
  const bool signed_index = DecisionOf<Decision::kSignedIndex>(op);
  for (int k = 0; k < type.rank(); ++k) {
    const auto u = static_cast<size_t>(k);
    const int64_t tile = type.shape()[u];
    Dim d = box.MakeDim(tile, gather ? k : static_cast<int>(TensorDim(type, k)));
    const bool promised = !inbounds.empty() && inbounds[u] != 0;
    if (gather && k == type->sparse_dim) {
      // Each row of the tile has an index of its own, in the same thread.
      const Layout& rows = e.layout(index[u]);
      for (int r = 0; r < layout.registers(); ++r) {
        const Mask row = (RegisterPart(layout, r) & layout.DimMask(k)) >> layout.dim_shift(k);
        int at = -1;
        for (int i = 0; i < rows.registers() && at < 0; ++i) {
          if (RegisterPart(rows, i) == row) at = i;
        }
        if (at < 0) {
          e.Refuse(op, "the index tile is laid out unlike the tile (a mistake of the code generator)");
          at = 0;
        }
        llvm::Value* x = e.regs(index[u])[static_cast<size_t>(at)];
        d.picked.push_back(index[u]->type().elem() == ir::Elem::kI1 ? b.CreateZExt(x, b.getInt64Ty())
                                                                    : b.CreateSExt(x, b.getInt64Ty()));
      }
      d.picked_by_row = true;
      box.AddDim(std::move(d), !promised);
      continue;
    }
    const int64_t step = gather ? 1 : GridStep(type, k);
    d.origin = b.CreateMul(WideIndex(e, op, *index[u], k == moved.index ? moved.by : nullptr, step), e.I64(step));
    d.may_be_negative = signed_index && box.facts_.RangeOf(index[u]).negative();
    d.origin_divisor = std::min(Facts::kMax, box.facts_.Divisor(index[u]) * PowerOfTwoIn(static_cast<uint64_t>(step)));
    // The tile is inside or outside as a whole, if steps hold tiles and sizes hold steps: one test is enough.
    const auto* size = Constant(d.size);
    const bool divides = size != nullptr ? size->getSExtValue() % step == 0
                                         : (step & (step - 1)) == 0 && d.size_divisor >= static_cast<uint64_t>(step);
    const bool whole = tile == 1 || (!gather && step >= tile && divides);
    if (whole && !promised && !IsInSpace(index[u], view, k)) {
      box.in_space_ = And(e, box.in_space_, b.CreateICmpULT(d.origin, d.size));
    }
    box.AddDim(std::move(d), !promised && !whole);
  }
  box.FindVector();
  box.MakeBase();
  return box;
}

TileBox TileBox::OfScatter(Emitter& e, const ir::Op& op, const Layout& layout) {
  auto& b = e.b();
  const ir::ScatterOp scatter(op);
  TileBox box(e, scatter.view(), layout);
  const ir::Value* indices = scatter.indices();
  const bool check = scatter.check_bounds();
  for (int k = 0; k < layout.rank(); ++k) {
    Dim d = box.MakeDim(layout.shape()[static_cast<size_t>(k)], k);
    if (k == scatter.dim()) {
      for (llvm::Value* x : e.regs(indices)) {
        d.picked.push_back(indices->type().elem() == ir::Elem::kI1 ? b.CreateZExt(x, b.getInt64Ty())
                                                                   : b.CreateSExt(x, b.getInt64Ty()));
      }
    }
    box.AddDim(std::move(d), check);
  }
  box.FindVector();
  box.MakeBase();
  return box;
}

// --- addresses ------------------------------------------------------------------------------------------------------

uint32_t TileBox::RegisterCoordinate(size_t k, int r) const {
  const int d = static_cast<int>(k);
  return static_cast<uint32_t>((RegisterPart(layout_, r) & layout_.DimMask(d)) >> layout_.dim_shift(d));
}

uint32_t TileBox::Key(size_t k, int r) const {
  const Dim& d = dims_[k];
  return d.picked.empty() || d.picked_by_row ? RegisterCoordinate(k, r) : static_cast<uint32_t>(r);
}

llvm::Value* TileBox::Along(const Dim& d, llvm::Value* coordinate) {
  auto& b = e_.b();
  const int64_t unit = std::max(unit_, 1);
  llvm::Value* stride = b.CreateZExtOrTrunc(d.stride, address_type_);
  if (unit > 1) stride = b.CreateMul(stride, llvm::ConstantInt::get(address_type_, static_cast<uint64_t>(unit)));
  return b.CreateMul(b.CreateZExtOrTrunc(coordinate, address_type_), stride);
}

void TileBox::MakeBase() {
  auto& b = e_.b();
  // What is the same in all threads first.
  base_ = unit_ == 0 ? llvm::ConstantInt::get(address_type_, 0) : start_;
  for (const Dim& d : dims_) {
    if (d.origin != nullptr) base_ = b.CreateAdd(base_, Along(d, d.origin));
  }
  for (size_t k = 0; k < dims_.size(); ++k) {
    if (!dims_[k].picked.empty() || dims_[k].apart) continue;
    llvm::Value* t = e_.threads().Coordinate(layout_, 0, static_cast<int>(k));
    if (const auto* c = Constant(t); c == nullptr || !c->isZero()) base_ = b.CreateAdd(base_, Along(dims_[k], t));
  }
}

std::pair<llvm::Value*, int64_t> TileBox::Offset(int r) {
  auto& b = e_.b();
  std::vector<llvm::Value*> parts;
  int64_t fixed = 0;
  for (size_t k = 0; k < dims_.size(); ++k) {
    Dim& d = dims_[k];
    const uint32_t at = RegisterCoordinate(k, r);
    if (d.picked.empty() && !d.apart) {
      if (at == 0) continue;
      if (const auto* c = Constant(d.stride)) {
        fixed += at * c->getSExtValue() * std::max(unit_, 1);
        continue;
      }
    }
    llvm::Value*& part = d.parts[Key(k, r)];
    if (part == nullptr) {
      part = Along(d, !d.picked.empty() ? d.picked[static_cast<size_t>(r)]
                      : d.apart         ? e_.threads().Coordinate(layout_, r, static_cast<int>(k))
                                        : e_.I64(at));
    }
    parts.push_back(part);
  }
  llvm::Value* sum = base_;
  std::vector<llvm::Value*> key;
  for (llvm::Value* part : parts) {
    key.push_back(part);
    llvm::Value*& known = sums_[key];
    if (known == nullptr) known = b.CreateAdd(sum, part);
    sum = known;
  }
  // An instruction has room for 32 bits.
  if (fixed < INT32_MIN / 2 || fixed > INT32_MAX / 2) {
    return {b.CreateAdd(sum, llvm::ConstantInt::getSigned(address_type_, fixed)), 0};
  }
  return {sum, fixed};
}

Address TileBox::At(int r) {
  const auto [sum, fixed] = Offset(r);
  if (unit_ != 0) return {sum, fixed};
  // Only where elements begin a byte.
  auto& b = e_.b();
  return {b.CreateAdd(start_, b.CreateLShr(sum, 1)), fixed / 2};
}

Address TileBox::ByteAt(int r, llvm::Value** shift) {
  auto& b = e_.b();
  const auto [sum, fixed] = Offset(r);
  llvm::Value* at = b.CreateAdd(sum, llvm::ConstantInt::getSigned(address_type_, fixed));
  *shift = b.CreateShl(b.CreateAnd(b.CreateZExtOrTrunc(at, b.getInt32Ty()), 1), 2);
  return {b.CreateAdd(start_, b.CreateLShr(at, 1)), 0};
}

void TileBox::Forget() {
  for (Dim& d : dims_) {
    d.tests.clear();
    d.parts.clear();
  }
  sums_.clear();
}

// --- tests ----------------------------------------------------------------------------------------------------------

llvm::Value* TileBox::Test(size_t k, int r) {
  auto& b = e_.b();
  Dim& d = dims_[k];
  llvm::Value*& test = d.tests[Key(k, r)];
  if (test != nullptr) return test;
  if (!d.picked.empty()) return test = b.CreateICmpULT(d.picked[static_cast<size_t>(r)], d.size);
  llvm::Value* at = e_.threads().Coordinate(layout_, r, static_cast<int>(k));
  if (d.first == nullptr) return test = b.CreateICmpSLT(at, d.limit);
  return test = b.CreateICmpULT(b.CreateSub(at, d.first), b.CreateSub(d.limit, d.first));
}

llvm::Value* TileBox::Inside(int r) {
  llvm::Value* inside = in_space_;
  for (size_t k = 0; k < dims_.size(); ++k) {
    if (dims_[k].tested) inside = And(e_, inside, Test(k, r));
  }
  return inside;
}

// --- neighbours -----------------------------------------------------------------------------------------------------

int NeighbouringRegisters(const Layout& layout, int dim) {
  const Masks& regs = layout.bases(In::kRegister);
  const int shift = layout.dim_shift(dim);
  int n = 0;
  while (n < static_cast<int>(regs.size()) && n < layout.dim_bits(dim) && regs[n] == Mask{1} << (shift + n)) ++n;
  // Nothing else may move them.
  auto limit = [&](Mask basis) {
    const Mask low = basis >> shift & ((Mask{1} << n) - 1);
    if (low != 0) n = __builtin_ctzll(low);
  };
  for (size_t i = static_cast<size_t>(n); i < regs.size(); ++i) limit(regs[i]);
  for (Mask basis : layout.bases(In::kLane)) limit(basis);
  for (Mask basis : layout.bases(In::kWarp)) limit(basis);
  return 1 << n;
}

void TileBox::FindVector() {
  for (const Dim& d : dims_) {
    if (!d.picked.empty() && !d.picked_by_row) return;  // every element goes its own way
  }
  for (size_t k = 0; k < dims_.size(); ++k) {
    const auto* stride = Constant(dims_[k].stride);
    if (!dims_[k].picked.empty() || stride == nullptr || !stride->isOne()) continue;
    const int n = NeighbouringRegisters(layout_, static_cast<int>(k));
    if (n == 1) continue;
    vector_ = n;
    contiguous_ = static_cast<int>(k);
    return;
  }
}

// A dimension of one element, whatever its stride.
bool TileBox::Irrelevant(const Dim& d) const {
  const auto* size = Constant(d.size);
  return d.picked.empty() && size != nullptr && size->isOne();
}

void TileBox::LimitVector(int most) {
  vector_ = std::min(vector_, most);
  auto impossible = [&] {
    for (size_t k = 0; k < dims_.size(); ++k) {
      const Dim& d = dims_[k];
      const auto v = static_cast<uint64_t>(vector_);
      if (static_cast<int>(k) == contiguous_) {
        if (Constant(d.origin) != nullptr && d.origin_divisor < v) return true;
        // Inside of a tensor that is smaller than the tile, and ends within a vector, nothing is whole.
        const auto* size = Constant(d.size);
        if (d.tested && size != nullptr && d.size_divisor < v && size->getSExtValue() < d.tile) return true;
      } else if (Constant(d.stride) != nullptr && d.stride_divisor < v && !Irrelevant(d)) {
        return true;
      }
    }
    return false;
  };
  while (vector_ > 1 && impossible()) vector_ /= 2;
}

llvm::Value* TileBox::Aligned() {
  auto& b = e_.b();
  if (vector_ == 1) return nullptr;
  const auto v = static_cast<uint64_t>(vector_);
  auto multiple = [&](llvm::Value* x, uint64_t of) {
    return b.CreateIsNull(b.CreateAnd(x, llvm::ConstantInt::get(x->getType(), of - 1)));
  };
  llvm::Value* all = nullptr;
  const auto bytes = static_cast<uint64_t>(VectorBytes());
  if (start_divisor_ < bytes) all = multiple(start_, bytes);
  for (size_t k = 0; k < dims_.size(); ++k) {
    const Dim& d = dims_[k];
    if (static_cast<int>(k) != contiguous_) {
      if (d.stride_divisor < v && !Irrelevant(d)) all = And(e_, all, multiple(d.stride, v));
      continue;
    }
    if (d.origin_divisor < v) all = And(e_, all, multiple(d.origin, v));
    if (d.tested && d.size_divisor < v) {
      llvm::Value* whole = b.CreateICmpSGE(d.limit, e_.I32(d.tile));
      if (Constant(d.size) == nullptr) whole = b.CreateOr(whole, multiple(d.size, v));
      all = And(e_, all, whole);
    }
  }
  return all;
}

std::string TileBox::Width(int most) const {
  const auto width = [&](int n) {
    return n == 1 ? "element by element"
                  : absl::StrCat(n, " elements (", n * ir::MemoryBits(elem_) / 8, " bytes) at a time");
  };
  if (contiguous_ < 0) {
    bool picked = false, unit = false;
    for (const Dim& d : dims_) {
      const auto* stride = Constant(d.stride);
      picked |= !d.picked.empty() && !d.picked_by_row;
      unit |= d.picked.empty() && stride != nullptr && stride->isOne();
    }
    return absl::StrCat(width(1), ": ",
                        picked ? "each element has an index of its own"
                        : unit ? "a thread holds no neighbours along the dimension of stride 1"
                               : "no dimension is known to have stride 1 (say strides=[…,1] in the view's type)");
  }
  const int held = std::min(most, NeighbouringRegisters(layout_, contiguous_));
  std::vector<std::string> never, tested;
  if (held < most) never.push_back(absl::StrCat("a thread holds ", held, " neighbours"));
  const auto v = static_cast<uint64_t>(held), chosen = static_cast<uint64_t>(vector_);
  // A doubt about the width that was wanted, if a constant speaks against it; else about the one that was chosen.
  const auto doubt = [&](const llvm::Value* x, uint64_t divisor, absl::string_view what) {
    if (x != nullptr && Constant(x) != nullptr && divisor < v) {
      never.push_back(absl::StrCat(what, " is no multiple of ", v));
    } else if (divisor < chosen) {
      tested.push_back(absl::StrCat(what, " is not known to be a multiple of ", chosen));
    }
  };
  if (vector_ > 1 && start_divisor_ < static_cast<uint64_t>(VectorBytes())) {
    tested.push_back(absl::StrCat("the address is not known to be a multiple of ", VectorBytes(), " bytes"));
  }
  for (size_t k = 0; k < dims_.size(); ++k) {
    const Dim& d = dims_[k];
    if (static_cast<int>(k) != contiguous_) {
      if (!Irrelevant(d)) doubt(d.stride, d.stride_divisor, absl::StrCat("stride ", k));
      continue;
    }
    doubt(d.origin, d.origin_divisor, absl::StrCat("where the tile begins in dimension ", k));
    if (d.tested) doubt(d.size, d.size_divisor, absl::StrCat("size ", k));
  }
  std::string text = width(vector_);
  if (!never.empty()) absl::StrAppend(&text, ": ", absl::StrJoin(never, "; "));
  if (!tested.empty()) {
    absl::StrAppend(&text, never.empty() ? ": " : "; ",
                    "tested at run time, else element by element: ", absl::StrJoin(tested, "; "),
                    " (if they are, say so by assume div_by)");
  }
  return text;
}

}  // namespace tile::codegen
