#include "codegen/emit/pipeline/tma.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/view_dim.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/memory/tile_box.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/plan/tma/tensor_map.h"
#include "codegen/plan/tma/tensor_maps.h"
#include "codegen/plan/tma/tma_store.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

constexpr int kVectorBits = 128;

// Along a dimension of the tile: where the warp's elements begin (i32).
llvm::Value* WarpCoordinate(Emitter& e, const Layout& layout, int dim) {
  std::vector<uint64_t> warps;
  for (Mask base : layout.bases(In::kWarp)) warps.push_back((base & layout.DimMask(dim)) >> layout.dim_shift(dim));
  return e.threads().LinearOfThread({}, warps);
}

}  // namespace

TensorPlace PlaceInTensor(Emitter& e, const ir::Op& access, const StagedTile& tile) {
  auto& b = e.b();
  const ir::Type view = ir::ViewAccessOp(access).view()->type();
  const ir::OperandRange index = ir::ViewAccessOp(access).index();
  const bool is_signed = DecisionOf<Decision::kSignedIndex>(access);
  const std::vector<int> order = MapOrder(access);
  const Emitter::DeviceTensorMapValue* made = e.DeviceTensorMapOf(access);
  TensorPlace place;
  place.origin.resize(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    for (int k = 0; k < view.rank(); ++k) {
      if (static_cast<int>(TensorDim(view, k)) != order[i]) continue;
      const auto u = static_cast<size_t>(k);
      // An index far outside must not come back by wrapping around. Tensors that the host knows end before this tile (tensor_map.cc); others may be
      // longer, but not as long as the first coordinate of this tile, which is beyond 32 bits and so below zero.
      llvm::Value* at = e.scalar(index[u]);
      const int64_t step = GridStep(view, k),
                    last = made != nullptr ? INT32_MAX / step + 1 : (INT32_MAX - (int64_t{1} << 24)) / step;
      if (at->getType()->getIntegerBitWidth() < 32) {
        at = is_signed ? b.CreateSExt(at, b.getInt32Ty()) : b.CreateZExt(at, b.getInt32Ty());
      }
      if (is_signed) {
        const int64_t most = std::min<int64_t>(last, INT32_MAX);
        at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, llvm::ConstantInt::getSigned(at->getType(), most));
        at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, llvm::ConstantInt::getSigned(at->getType(), -most));
      } else {
        at = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at,
                                     llvm::ConstantInt::get(at->getType(), static_cast<uint64_t>(last)));
      }
      place.origin[i] = b.CreateMul(b.CreateTrunc(at, b.getInt32Ty()), e.I32(step));
      if (k == tile.contiguous) place.inner = i;
      if (k == tile.other) place.outer = i;
    }
  }
  // Of an empty tensor nothing is inside.
  if (made != nullptr && made->empty != nullptr)
    place.origin[0] = b.CreateSelect(made->empty, e.I32(1 << 30), place.origin[0]);
  return place;
}

Registers TensorPlace::At(Emitter& e, llvm::Value* inner_offset, llvm::Value* outer_offset) const {
  Registers at = origin;
  at[inner] = e.b().CreateAdd(at[inner], inner_offset);
  at[outer] = e.b().CreateAdd(at[outer], outer_offset);
  return at;
}

void LoadByTma(Emitter& e, const ir::Op& load, const StagedTile& tile, llvm::Value* to, llvm::Value* barrier,
               llvm::Value* mine) {
  auto& b = e.b();
  const TensorPlace place = PlaceInTensor(e, load, tile);
  const int rank = static_cast<int>(place.origin.size());
  const int parts = static_cast<int>(DecisionOf<Decision::kMulticast>(load).value_or(1));
  const bool shared = parts > 1;
  std::string text = absl::StrCat("@$", rank + 3, " cp.async.bulk.tensor.", rank,
                                  "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
                                  shared ? ".multicast::cluster" : "", " [$0], [$1, {");
  std::string constraints = "r,l";
  for (int i = 0; i < rank; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", "$", i + 2);
    absl::StrAppend(&constraints, ",r");
  }
  absl::StrAppend(&text, "}], [$", rank + 2, "]", shared ? absl::StrCat(", $", rank + 4) : "", ";");
  absl::StrAppend(&constraints, ",r,b", shared ? ",h" : "");
  llvm::Value* map = e.TensorMap(load);
  const int64_t rows = BoxRows(tile, parts);
  // Every block brings every second copy, to all blocks.
  llvm::Value *last = nullptr, *all = nullptr, *mine_of[kClusterBlocks] = {mine, mine};
  if (shared) {
    last = b.CreateSub(e.blocks().ClusterSize(), e.I32(1));
    all = b.CreateTrunc(b.CreateSub(b.CreateShl(e.I32(1), e.blocks().ClusterSize()), e.I32(1)), b.getInt16Ty());
    for (int p = 0; p < kClusterBlocks; ++p) {
      mine_of[p] = b.CreateAnd(mine, b.CreateICmpEQ(b.CreateAnd(e.I32(p), last), e.blocks().ClusterRank()));
    }
  }
  int copies = 0;
  for (int64_t c = 0; c < tile.chunks(); ++c) {
    for (int64_t row = 0; row < tile.rows(); row += rows) {
      Registers in = {b.CreateAdd(to, e.I32(c * tile.chunk_bytes() + row * tile.swizzle)), map};
      for (llvm::Value* at : place.At(e, e.I32(c * tile.chunk_elements()), e.I32(row))) in.push_back(at);
      in.push_back(barrier);
      in.push_back(mine_of[copies++ % kClusterBlocks]);
      if (shared) in.push_back(all);
      ExecuteTogether(e, text, constraints, in);
    }
  }
}

void StoreByTma(Emitter& e, const ir::Op& store) {
  auto& b = e.b();
  const ir::Value* tile = ir::StoreViewOp(store).tile();
  const Layout& layout = e.layout(tile);
  const Registers& values = e.regs(tile);
  const TmaStore s = TmaStoreOf(store, layout);
  const int bytes = s.box.element_bits / 8;
  const auto box_elements = static_cast<Mask>(s.box.chunk_bytes() / bytes),
             of_warp = static_cast<Mask>(s.warp_bytes() / bytes);
  const Mask buffers = of_warp / box_elements;
  if (e.wants_remarks()) {
    e.Remark(store, "store",
             absl::StrCat("by TMA: ", s.boxes.size(), s.boxes.size() == 1 ? " box" : " boxes", " of ", s.box.rows(),
                          " rows of ", s.box.swizzle, " bytes a warp"));
  }

  // What comes before goes another way to memory.
  if (s.ordered) ExecuteTogether(e, "fence.proxy.async;", "", {});

  // Addresses of elements: the warp's memory, the buffer in it, the place in the box.
  llvm::Value* memory = e.shared().Address(
      e.I32(e.shared().PlaceOf(store, static_cast<uint64_t>(s.warp_bytes()) * static_cast<uint64_t>(e.num_warps()))));
  Masks lanes, warps;
  for (Mask base : layout.bases(In::kLane)) lanes.push_back(s.map.Apply(base));
  for (int i = 0; i < layout.bits(In::kWarp); ++i) warps.push_back(of_warp << i);
  llvm::Value* from = b.CreateTrunc(b.CreatePtrToInt(memory, b.getInt64Ty()), b.getInt32Ty());
  from = b.CreateAdd(from, b.CreateMul(e.threads().warp(), e.I32(s.warp_bytes())));
  const int vector = std::min(NeighbouringRegisters(layout, s.box.contiguous), kVectorBits / s.box.element_bits);

  // Where they go.
  const TensorPlace place = PlaceInTensor(e, store, s.box);
  llvm::Value *inner = WarpCoordinate(e, layout, s.box.contiguous), *outer = WarpCoordinate(e, layout, s.box.other);
  const auto coordinate = [&](Mask offset, int dim) {
    return e.I32(static_cast<int64_t>((offset & layout.DimMask(dim)) >> layout.dim_shift(dim)));
  };
  const size_t rank = place.origin.size();
  std::string copy =
      absl::StrCat("@$", rank + 2, " cp.async.bulk.tensor.", rank, "d.global.shared::cta.tile.bulk_group [$0, {");
  std::string constraints = "l";
  for (size_t i = 0; i < rank; ++i) {
    absl::StrAppend(&copy, i == 0 ? "" : ", ", "$", i + 1);
    absl::StrAppend(&constraints, ",r");
  }
  absl::StrAppend(&copy, "}], [$", rank + 1, "]; @$", rank + 2, " cp.async.bulk.commit_group;");
  absl::StrAppend(&constraints, ",r,b");
  llvm::Value *map = e.TensorMap(store), *mine = b.CreateICmpEQ(e.threads().lane(), e.I32(0));
  for (size_t i = 0; i < s.boxes.size(); ++i) {
    const Mask buffer = i % buffers;
    // The copy that read this buffer last is the oldest of those on their way. Copies write in any order, so where a token orders them
    // those of before must have written.
    const bool written = s.repeats && i == 0;
    const std::string await = written ? " 0;" : absl::StrCat(".read ", buffers - 1, ";");
    ExecuteTogether(e, absl::StrCat("@$0 cp.async.bulk.wait_group", await), "b", {mine});
    SynchronizeWarp(e);
    for (int r = 0; r < layout.registers(); r += vector) {
      const Mask offset = RegisterPart(layout, r);
      if ((offset & s.between) != s.boxes[i]) continue;
      StoreVector(e, Operands(values).subspan(static_cast<size_t>(r), static_cast<size_t>(vector)),
                  SharedPlace(e, memory, lanes, warps, s.map.Apply(offset) | buffer * box_elements, bytes));
    }
    ExecuteTogether(e, "fence.proxy.async.shared::cta;", "", {});
    SynchronizeWarp(e);
    Registers in = {map};
    for (llvm::Value* at : place.At(e, b.CreateAdd(inner, coordinate(s.boxes[i], s.box.contiguous)),
                                    b.CreateAdd(outer, coordinate(s.boxes[i], s.box.other)))) {
      in.push_back(at);
    }
    in.push_back(b.CreateAdd(from, e.I32(static_cast<int64_t>(buffer) * s.box.chunk_bytes())));
    in.push_back(mine);
    ExecuteTogether(e, copy, constraints, in);
  }
  e.order().Did(store);
}

void PrefetchTensorMaps(Emitter& e, const ir::Function& function) {
  auto& b = e.b();
  llvm::Value* mine = b.CreateICmpEQ(e.threads().number(), e.I32(e.num_threads()));
  for (int i = 0; i < NumTensorMaps(function); ++i) {
    llvm::Value* map = e.kernel()->getArg(static_cast<unsigned>(function.num_params() + i));
    ExecuteTogether(e, "@$1 prefetch.tensormap [$0];", "l,b", {b.CreatePtrToInt(map, b.getInt64Ty()), mine});
  }
}

void AwaitTmaStores(Emitter& e) { ExecuteTogether(e, "cp.async.bulk.wait_group.read 0;", "", {}); }

}  // namespace tile::codegen
