// Operands lie in shared memory: those that are copied ahead as they are in a stage (fma_staged.cc), others widened, as [batch][k][x],
// where x is the row of lhs or the column of rhs. What a thread needs of one k are neighbours there, which it reads as vectors. Groups
// of 16 bytes are permuted by k (a swizzle), so that writing a tile whose rows go along k spreads over the banks.
#include "codegen/emit/mma/mma_fma.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/elementwise/float_codes.h"
#include "codegen/emit/mma/fma_side.h"
#include "codegen/gpu/op_views.h"
#include "codegen/plan/mma/mma_kind.h"
#include "codegen/plan/resources/shared_use.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr int64_t kStagedUnroll = 8;
constexpr int kPartBit = 40;  // above all places

llvm::Type* WideType(Emitter& e, ir::Elem elem) {
  if (elem == ir::Elem::kF64) return e.b().getDoubleTy();
  return elem == ir::Elem::kI8 ? static_cast<llvm::Type*>(e.b().getInt32Ty()) : e.b().getFloatTy();
}

// An operand in shared memory, or one of so many equal parts of it along k at a time. Every position is a linear function,
// over bits, of (batch, k, x).
class Table {
 public:
  Table(Emitter& e, const ir::Value* v, bool is_lhs, int64_t parts, uint64_t* total)
      : value_(v), type_(WideType(e, v->type().elem())) {
    const auto shape = v->type().shape();
    rank_ = static_cast<int>(shape.size());
    x_dim_ = is_lhs ? rank_ - 2 : rank_ - 1;
    k_dim_ = is_lhs ? rank_ - 1 : rank_ - 2;
    k_ = shape[static_cast<size_t>(k_dim_)] / parts;
    x_ = shape[static_cast<size_t>(x_dim_)];
    chunk_ = 16 / size();
    chunks_ = std::clamp<int64_t>(x_ / chunk_, 1, 8);
    start_ = *total;
    *total += FmaTableBytes(v, parts);
  }

  int size() const { return MemoryBytes(type_); }
  int64_t k() const { return k_; }
  int64_t step() const { return x_ * size(); }  // bytes from one k to the next, but for the swizzle
  int64_t chunk() const { return chunk_; }
  uint64_t swizzled_bits() const { return static_cast<uint64_t>((chunks_ - 1) * 16); }
  llvm::Type* type() const { return type_; }

  // In bytes from the table's beginning.
  uint64_t At(int64_t batch, int64_t k, int64_t x) const {
    const int64_t swizzle = k / kFmaUnroll % chunks_ * chunk_;
    return static_cast<uint64_t>(((batch * k_ + k) * x_ + (x ^ swizzle)) * size());
  }
  // What k, a multiple of kFmaUnroll, changes in the low bits.
  llvm::Value* Swizzle(Emitter& e, llvm::Value* k) const {
    llvm::Value* turn = e.b().CreateAnd(e.b().CreateUDiv(k, e.I32(kFmaUnroll)), e.I32(chunks_ - 1));
    return e.b().CreateMul(turn, e.I32(16));
  }

  // `part` (i32): which one; null if there is only one.
  void Fill(Emitter& e, bool is_signed, llvm::Value* scratch, llvm::Value* part) {
    auto& b = e.b();
    base_ = b.CreateGEP(b.getInt8Ty(), scratch, e.I32(static_cast<int64_t>(start_)));
    const Layout& layout = e.layout(value_);
    auto place = [&](Mask element) {
      const auto c = layout.Coordinates(element);
      return At(rank_ == 3 ? c[0] : 0, c[static_cast<size_t>(k_dim_)] & (k_ - 1), c[static_cast<size_t>(x_dim_)]);
    };
    auto part_of = [&](Mask element) {
      return static_cast<uint64_t>(layout.Coordinates(element)[static_cast<size_t>(k_dim_)] / k_);
    };
    std::vector<uint64_t> lanes, warps, lane_parts, warp_parts;
    for (Mask m : layout.bases(In::kLane)) lanes.push_back(place(m)), lane_parts.push_back(part_of(m));
    for (Mask m : layout.bases(In::kWarp)) warps.push_back(place(m)), warp_parts.push_back(part_of(m));
    llvm::Value* thread = e.threads().LinearOfThread(lanes, warps);
    // Registers whose elements are neighbours in the table go together.
    const int width = NeighboursIn(layout, place, part_of);
    const Copies copies(layout);
    std::map<uint64_t, std::map<uint64_t, llvm::Value*>> values;  // by part, then by place
    for (int r : copies.firsts()) {
      const Mask element = layout.Apply(static_cast<uint32_t>(r), 0, 0);
      values[part_of(element)][place(element)] =
          WidenForProduct(e, value_->type().elem(), e.regs(value_)[static_cast<size_t>(r)], is_signed);
    }
    const uint64_t bytes = static_cast<uint64_t>(width * size());
    llvm::Value* thread_part =
        part == nullptr ? nullptr : b.CreateXor(part, e.threads().LinearOfThread(lane_parts, warp_parts));
    for (const auto& [number, of_part] : values) {
      llvm::Value* mine = part == nullptr ? nullptr : b.CreateICmpEQ(thread_part, e.I32(static_cast<int64_t>(number)));
      e.When(mine, [&, &of_part = of_part] {
        for (const auto& [at, first] : of_part) {
          if (at % bytes != 0) continue;
          Registers neighbours;
          for (int i = 0; i < width; ++i) neighbours.push_back(of_part.at(at + static_cast<uint64_t>(i * size())));
          StoreVector(e, neighbours,
                      b.CreateGEP(b.getInt8Ty(), base_, b.CreateXor(thread, e.I32(static_cast<int64_t>(at)))));
        }
      });
    }
  }

  llvm::Value* base() const { return base_; }

 private:
  template <class Place, class Part>
  int NeighboursIn(const Layout& layout, Place place, Part part_of) const {
    Subspace registers;
    for (Mask m : layout.bases(In::kRegister)) registers.Insert(place(m) | part_of(m) << kPartBit);
    Mask threads = 0;
    for (In in : {In::kLane, In::kWarp}) {
      for (Mask m : layout.bases(in)) threads |= place(m);
    }
    int width = 1;
    while (width < chunk_ && registers.Contains(static_cast<Mask>(width * size())) &&
           (threads & static_cast<Mask>(width * size())) == 0) {
      width *= 2;
    }
    return width;
  }

  const ir::Value* value_;
  llvm::Type* type_;
  int rank_, x_dim_, k_dim_;
  int64_t k_, x_, chunk_, chunks_;
  uint64_t start_;
  llvm::Value* base_ = nullptr;
};

// One side of the product in a thread: which places of the table its results need, and their values of one k.
class Side : public FmaSide {
 public:
  Side(Emitter& e, const Table& table, const Layout& result, bool is_lhs)
      : e_(e), table_(table), result_(result), dim_(result.rank() - (is_lhs ? 2 : 1)), batched_(result.rank() == 3) {
    Subspace registers;
    for (Mask m : result.bases(In::kRegister)) registers.Insert(Place(m));
    std::vector<uint64_t> lanes, warps;
    for (Mask m : result.bases(In::kLane)) lanes.push_back(Place(m));
    for (Mask m : result.bases(In::kWarp)) warps.push_back(Place(m));
    for (uint64_t p : lanes) threads_ |= p;
    for (uint64_t p : warps) threads_ |= p;
    thread_ = e.threads().LinearOfThread(lanes, warps);
    while (width_ < static_cast<uint64_t>(table.chunk()) && registers.Contains(width_ * Size()) &&
           (threads_ & (width_ * Size())) == 0)
      width_ *= 2;
  }

  void Begin(llvm::Value* k) override {
    auto& b = e_.b();
    pointers_.clear();
    values_.clear();
    here_ = b.CreateXor(thread_, table_.Swizzle(e_, k));
    row_ = b.CreateGEP(b.getInt8Ty(), table_.base(), b.CreateMul(k, e_.I32(table_.step())));
  }
  llvm::Value* At(int64_t j, int r) override {
    const uint64_t at = Place(result_.Apply(static_cast<uint32_t>(r), 0, 0));
    const uint64_t bytes = width_ * Size(), group = at / bytes * bytes;
    Registers& values = values_[{j, group}];
    if (values.empty()) {
      auto& b = e_.b();
      llvm::Value*& pointer = pointers_[group];
      if (pointer == nullptr) {
        const bool apart = ((threads_ | table_.swizzled_bits()) & group) == 0;
        llvm::Value* offset = apart ? here_ : b.CreateXor(here_, e_.I32(static_cast<int64_t>(group)));
        pointer = b.CreateGEP(b.getInt8Ty(), row_, offset);
        if (apart) pointer = b.CreateGEP(b.getInt8Ty(), pointer, e_.I32(static_cast<int64_t>(group)));
      }
      values = LoadVector(e_, table_.type(), static_cast<int>(width_),
                          b.CreateGEP(b.getInt8Ty(), pointer, e_.I32(j * table_.step())));
    }
    return values[(at - group) / Size()];
  }

 private:
  uint64_t Size() const { return static_cast<uint64_t>(table_.size()); }
  uint64_t Place(Mask element) const {
    const auto c = result_.Coordinates(element);
    return table_.At(batched_ ? c[0] : 0, 0, c[static_cast<size_t>(dim_)]);
  }

  Emitter& e_;
  const Table& table_;
  const Layout& result_;
  const int dim_;
  const bool batched_;
  uint64_t threads_ = 0, width_ = 1;
  llvm::Value *thread_ = nullptr, *here_ = nullptr, *row_ = nullptr;
  std::map<uint64_t, llvm::Value*> pointers_;
  std::map<std::pair<int64_t, uint64_t>, Registers> values_;
};

// What a product reads: its operands and, if it has them, their scales. What does not lie in a ring comes to scratch memory, in
// parts along k where that does not hold it; scales, which are few, are there whole.
class FmaOperands {
 public:
  FmaOperands(Emitter& e, const ir::Op& op)
      : op_(op), k_(ShapeOfMma(op).k), parts_(DecisionOf<Decision::kParts>(op).value_or(1)) {
    const ir::MmaOp product(op);
    const auto integers = ir::As<ir::MmaIOp>(&op);
    const auto is_signed = [](ir::Signedness s) { return s == ir::Signedness::kSigned; };
    sources_ = {{product.lhs(), true, integers && is_signed(integers->signedness_lhs())},
                {product.rhs(), false, integers && is_signed(integers->signedness_rhs())}};
    if (const auto scales = ir::As<ir::MmaScaledOp>(&op)) {
      sources_.insert(sources_.end(), {{scales->lhs_scale(), true, false}, {scales->rhs_scale(), false, false}});
    }
    tables_.resize(sources_.size());
    MakeTables(e);
    if (parts_ > 1)
      e.Remark(op, "product", absl::StrCat("its operands come to shared memory in ", parts_, " parts along k"));
  }

  size_t size() const { return sources_.size(); }
  bool has_scales() const { return size() > 2; }
  uint64_t bytes() const { return bytes_; }
  int64_t parts() const { return parts_; }
  int64_t k() const { return k_; }
  // So many k have one scale.
  int64_t each_scale() const { return has_scales() ? k_ / tables_[2]->k() : k_; }

  // `part`: its number; null if there is one.
  void Bring(Emitter& e, llvm::Value* part) {
    if (bytes_ == 0) return;
    llvm::Value* scratch = e.Scratch(bytes_);  // behind a barrier: nobody reads the part before any more
    for (size_t i = 0; i < size(); ++i) {
      if (tables_[i]) tables_[i]->Fill(e, sources_[i].is_signed, scratch, i < 2 ? part : nullptr);
    }
    e.Barrier();
  }

  std::vector<std::unique_ptr<FmaSide>> Sides(Emitter& e, llvm::Value* const slots[2], int64_t unroll) const {
    const Layout& layout = e.layout(op_.result(0));
    std::vector<std::unique_ptr<FmaSide>> sides;
    for (size_t i = 0; i < size(); ++i) {
      if (tables_[i]) {
        sides.push_back(std::make_unique<Side>(e, *tables_[i], layout, sources_[i].is_lhs));
        continue;
      }
      const ir::Value* v = op_.operand(static_cast<int>(i));
      const StagedTile tile = *StagedOperandOf(op_, static_cast<int>(i));
      sides.push_back(StagedFmaSide(e, v->type().elem(), tile, slots[i], layout, unroll));
    }
    return sides;
  }
  bool InTable(size_t i) const { return tables_[i].has_value(); }

 private:
  struct Source {
    const ir::Value* value;
    bool is_lhs, is_signed;
  };

  void MakeTables(Emitter& e) {
    for (size_t i = 0; i < size(); ++i) {
      if (StageTileOf(op_.operand(static_cast<int>(i))) != nullptr) continue;
      tables_[i].emplace(e, sources_[i].value, sources_[i].is_lhs, i < 2 ? parts_ : 1, &bytes_);
    }
  }

  const ir::Op& op_;
  const int64_t k_, parts_;
  std::vector<Source> sources_;
  std::vector<std::optional<Table>> tables_;
  uint64_t bytes_ = 0;
};

// Registers of the result, a list for each row that a thread has.
std::vector<std::vector<size_t>> RowsOf(const Layout& layout) {
  std::map<Mask, std::vector<size_t>> rows;
  const Mask columns = (Mask{1} << layout.dim_bits(layout.rank() - 1)) - 1;
  for (int r = 0; r < layout.registers(); ++r)
    rows[layout.Apply(static_cast<uint32_t>(r), 0, 0) & ~columns].push_back(static_cast<size_t>(r));
  std::vector<std::vector<size_t>> lists;
  for (auto& [row, registers] : rows) lists.push_back(std::move(registers));
  return lists;
}

}  // namespace

llvm::Value* WidenForProduct(Emitter& e, ir::Elem from, llvm::Value* v, bool is_signed) {
  if (from == ir::Elem::kF64 || from == ir::Elem::kI32) return v;
  if (from == ir::Elem::kI8)
    return is_signed ? e.b().CreateSExt(v, e.b().getInt32Ty()) : e.b().CreateZExt(v, e.b().getInt32Ty());
  return ToFloat(e, from, v);
}

llvm::Value* NarrowProduct(Emitter& e, ir::Elem to, llvm::Value* v) {
  if (to == ir::Elem::kF64 || to == ir::Elem::kI32 || to == ir::Elem::kF32) return v;
  return FromFloat(e, to, v, ir::Rounding::kNearestEven, OutOfRange::kInfinity);
}

Registers MultiplyByFma(Emitter& e, const ir::Op& op, Registers acc) {
  auto& b = e.b();
  FmaOperands operands(e, op);
  const int64_t parts = operands.parts(), k_part = operands.k() / parts;
  llvm::BasicBlock *head = nullptr, *before_parts = b.GetInsertBlock();
  llvm::PHINode* part = nullptr;
  std::vector<llvm::PHINode*> so_far;
  if (parts > 1) {
    head = e.NewBlock("part");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    part = b.CreatePHI(b.getInt32Ty(), 2, "part");
    part->addIncoming(e.I32(0), before_parts);
    for (llvm::Value*& v : acc) {
      so_far.push_back(b.CreatePHI(v->getType(), 2));
      so_far.back()->addIncoming(v, before_parts);
      v = so_far.back();
    }
  }
  operands.Bring(e, part);

  const int64_t unroll = std::min(operands.bytes() > 0 ? kFmaUnroll : kStagedUnroll, k_part);
  llvm::Value* slots[2] = {};
  for (int i = 0; i < 2; ++i) {
    if (operands.InTable(static_cast<size_t>(i))) continue;
    const gpu::StageTileOp tile(*StageTileOf(op.operand(i)));
    slots[i] = b.CreateIntToPtr(e.scalar(tile.address()), b.getPtrTy(3));
  }
  llvm::BasicBlock *before = b.GetInsertBlock(), *body = e.NewBlock("product"), *after = e.NewBlock("endproduct");
  b.CreateBr(body);
  b.SetInsertPoint(body);
  llvm::PHINode* k = b.CreatePHI(b.getInt32Ty(), 2, "k");
  k->addIncoming(e.I32(0), before);
  std::vector<llvm::PHINode*> sums;
  for (llvm::Value* v : acc) {
    sums.push_back(b.CreatePHI(v->getType(), 2));
    sums.back()->addIncoming(v, before);
  }
  for (size_t r = 0; r < acc.size(); ++r) acc[r] = sums[r];
  // Among all of k, not of the part.
  llvm::Value* k_of_all = part == nullptr ? k : b.CreateAdd(b.CreateMul(part, e.I32(k_part)), k);
  const std::vector<std::unique_ptr<FmaSide>> sides = operands.Sides(e, slots, unroll);
  for (size_t i = 0; i < 2; ++i) sides[i]->Begin(operands.InTable(i) ? k : k_of_all);
  const int64_t each_scale = operands.each_scale();
  const auto multiply = [&](int64_t j, size_t r) {
    const int reg = static_cast<int>(r);
    llvm::Value *x = sides[0]->At(j, reg), *y = sides[1]->At(j, reg);
    if (operands.has_scales()) {
      x = b.CreateFMul(x, sides[2]->At(0, reg));
      y = b.CreateFMul(y, sides[3]->At(0, reg));
    }
    acc[r] = x->getType()->isIntegerTy() ? b.CreateAdd(acc[r], b.CreateMul(x, y))
                                         : b.CreateIntrinsic(x->getType(), llvm::Intrinsic::fma, {x, y, acc[r]});
  };
  const std::vector<std::vector<size_t>> rows = RowsOf(e.layout(op.result(0)));
  // A row of the result takes all steps before the next row. Three registers an instruction are more than the register file gives in its one
  // cycle: so an element of the left operand should meet all columns one after the other, and the assembler, which orders them anew, comes
  // closest to that from here (128 x 128 x 32: 2837 us; two steps, then the next row 2855; one step, columns by four 2953).
  const int64_t together = operands.has_scales() ? 1 : unroll;
  for (int64_t first = 0; first < unroll; first += together) {
    for (size_t i = 2; i < operands.size() && (first == 0 || each_scale < unroll); ++i) {
      sides[i]->Begin(b.CreateUDiv(b.CreateAdd(k_of_all, e.I32(first)), e.I32(each_scale)));
    }
    for (const std::vector<size_t>& row : rows) {
      for (int64_t j = first; j < first + together; ++j) {
        for (size_t r : row) multiply(j, r);
      }
    }
  }
  llvm::Value* next = b.CreateAdd(k, e.I32(unroll));
  k->addIncoming(next, body);
  for (size_t r = 0; r < acc.size(); ++r) sums[r]->addIncoming(acc[r], body);
  b.CreateCondBr(b.CreateICmpULT(next, e.I32(k_part)), body, after);
  b.SetInsertPoint(after);
  if (part == nullptr) return acc;
  llvm::BasicBlock* end = e.NewBlock("endparts");
  llvm::Value* next_part = b.CreateAdd(part, e.I32(1));
  part->addIncoming(next_part, after);
  for (size_t r = 0; r < acc.size(); ++r) so_far[r]->addIncoming(acc[r], after);
  b.CreateCondBr(b.CreateICmpULT(next_part, e.I32(parts)), head, end);
  b.SetInsertPoint(end);
  return acc;
}

}  // namespace tile::codegen
