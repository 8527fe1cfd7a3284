#include "codegen/emit/context/blocks.h"

#include <bit>

#include "codegen/emit/context/emitter.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

struct Division {
  llvm::Value *quotient, *remainder;
};

// Of i32. Where the quotient is zero, as in small grids, nothing is divided: a division takes a hundred cycles, and a block's first copy waits
// for it.
Division DivideUnlessLess(Emitter& e, llvm::Value* n, llvm::Value* d) {
  auto& b = e.b();
  llvm::Value* both =
      e.Ptx(llvm::StructType::get(b.getInt32Ty(), b.getInt32Ty()),
            "{ .reg .pred less; setp.lt.u32 less, $2, $3; mov.b32 $0, 0; mov.b32 $1, $2; @less bra divided; "
            "div.u32 $0, $2, $3; rem.u32 $1, $2, $3; divided: }",
            "=&r,=&r,r,r", {n, d}, false);
  return {b.CreateExtractValue(both, 0), b.CreateExtractValue(both, 1)};
}

}  // namespace

// Blocks that run at the same time should share tiles: instead of whole rows of the grid, `square` of its rows (or columns)
// are walked through column by column (row by row), so that what runs at once is about a square, and blocks that share
// loads are neighbours.
Blocks::Ids Blocks::Place(llvm::Value* i, llvm::Value* z) {
  auto& b = e_.b();
  const Schedule& plan = e_.plan();
  llvm::Value *along = Count(plan.along), *across = Count(1 - plan.along);
  if (z == nullptr) {
    const Division layers = DivideUnlessLess(e_, i, b.CreateMul(along, across));
    z = layers.quotient;
    i = layers.remainder;
  }
  llvm::Value* strip = b.CreateMul(across, e_.I32(plan.square));  // blocks; an image's requirement keeps it small
  const Division strips = DivideUnlessLess(e_, i, strip);
  llvm::Value* first = b.CreateMul(strips.quotient, e_.I32(plan.square));
  llvm::Value* wide = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateSub(along, first), e_.I32(plan.square));
  i = strips.remainder;
  llvm::Value *at_along = b.CreateAdd(first, b.CreateURem(i, wide)), *at_across = b.CreateUDiv(i, wide);
  return plan.along == 0 ? Ids{at_along, at_across, z} : Ids{at_across, at_along, z};
}

// A group are 2^g rows, and its blocks are numbered column by column. As many rows as a power of two that divides their number, so that all groups
// have as many, and nothing is divided.
void Blocks::SortByWork() {
  auto& b = e_.b();
  llvm::Value *width = Count(0), *zero_is_zero = b.getFalse();
  llvm::Value* log = b.CreateSub(
      e_.I32(32), b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, b.CreateSub(width, e_.I32(1)), zero_is_zero));
  llvm::Value* room = b.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat,
                                              e_.I32(std::countr_zero(static_cast<unsigned>(e_.plan().group))), log);
  llvm::Value* even = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, Count(1), b.getTrue());
  llvm::Value* g = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, even, room);
  llvm::Value* in_group = b.CreateSub(b.CreateShl(e_.I32(1), g), e_.I32(1));
  llvm::Value *first = b.CreateAnd(ids_[1], b.CreateNot(in_group)), *row = b.CreateAnd(ids_[1], in_group);
  llvm::Value* number = b.CreateAdd(b.CreateMul(row, width), ids_[0]);
  ids_[0] = b.CreateLShr(number, g);
  ids_[1] = b.CreateOr(first, b.CreateAnd(number, in_group));
}

llvm::Value* Blocks::Count(int dim) {
  llvm::Value* size = e_.GridSize(dim);
  if (dim == 0) size = e_.b().CreateMul(size, e_.I32(PartsOfBlock(e_.function())));
  const int64_t joined = dim < 2 ? JoinedBlocks(e_.function())[static_cast<size_t>(dim)] : 1;
  return joined == 1 ? size : e_.b().CreateUDiv(size, e_.I32(joined));  // which is exact: an image's requirement
}

llvm::Value* Blocks::Id(int dim) {
  constexpr llvm::Intrinsic::ID kIds[] = {llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                          llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
  const auto d = static_cast<size_t>(dim);
  if (ids_[d] != nullptr) return ids_[d];
  e_.AtEntry([&] {
    for (size_t i = 0; i < ids_.size(); ++i) ids_[i] = e_.b().CreateIntrinsic(kIds[i], {});
    if (e_.plan().square > 0) ids_ = Place(ids_[0], ids_[2]);
    if (e_.plan().group > 0) SortByWork();
    if (const int last = e_.plan().longest_first; last >= 0) {
      llvm::Value*& id = ids_[static_cast<size_t>(last)];
      id = e_.b().CreateSub(e_.b().CreateSub(Count(last), e_.I32(1)), id);
    }
  });
  return ids_[d];
}

llvm::Value* Blocks::ClusterSize() {
  if (cluster_size_ == nullptr) {
    e_.AtEntry(
        [&] { cluster_size_ = e_.b().CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_nctarank, {}); });
  }
  return cluster_size_;
}

llvm::Value* Blocks::ClusterRank() {
  if (cluster_rank_ == nullptr) {
    e_.AtEntry(
        [&] { cluster_rank_ = e_.b().CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_cluster_ctarank, {}); });
  }
  return cluster_rank_;
}

}  // namespace tile::codegen
