#include "codegen/emit/pipeline/made_maps.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/emit/pipeline/ring.h"
#include "codegen/plan/made_map.h"
#include "codegen/plan/tensor_maps.h"
#include "ir/check.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

// As tensormap.replace numbers them.
int ElementNumber(ir::Elem e) {
  switch (e) {
    case ir::Elem::kF16: return 6;
    case ir::Elem::kF32: return 7;
    case ir::Elem::kF64: return 9;
    case ir::Elem::kBF16: return 10;
    case ir::Elem::kTF32: return 11;
    default: break;
  }
  switch (ir::StorageBytes(e)) {
    case 1: return 0;
    case 2: return 1;
    case 4: return 2;
    default: return 4;
  }
}

class Maker {
 public:
  Maker(Emitter& e, const StagedTile& tile, const ir::Op& copy, uint32_t memory)
      : e_(e), b_(e.b()), tile_(tile), map_(Map(tile, copy)), memory_(memory) {
    FindFields();
  }

  void Make() {
    llvm::Value* global = e_.workspace().Reserve(kMapBytes, kMapBytes);
    llvm::BasicBlock *look = e_.NewBlock("lookmap"), *make = e_.NewBlock("makemap"), *made = e_.NewBlock("mademap");
    b_.CreateCondBr(b_.CreateICmpEQ(e_.threads().warp(), e_.I32(0)), look, made);
    b_.SetInsertPoint(look);
    b_.CreateCondBr(IsMade(), made, make);
    b_.SetInsertPoint(make);
    Write();
    SynchronizeWarp();
    ExecuteTogether(
        e_, "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [$0], [$1], 128;",
        "l,r", {global, Number(At(0))});
    // Without the group that ends here ptxas may let copies begin before the fence has ended, as Triton's authors found.
    ExecuteTogether(e_,
                    "fence.proxy.tensormap::generic.acquire.gpu [$0], 128; cp.async.bulk.commit_group; "
                    "cp.async.bulk.wait_group.read 0;",
                    "l", {global});
    b_.CreateBr(made);
    b_.SetInsertPoint(made);
    e_.SetMadeMap(*tile_.load, {global, empty_});
  }

 private:
  static MadeMap Map(const StagedTile& tile, const ir::Op& copy) {
    absl::StatusOr<MadeMap> map = MakeMap(*tile.load, tile, *copy.parent());
    TILE_CHECK(map.ok(), "a load has no descriptor that could be made");
    return *std::move(map);
  }

  // Of an empty tensor no element is there, but a descriptor must have one.
  void FindFields() {
    const ViewValue& view = e_.view(map_.tensor->result(0));
    base_ = view.base;
    for (size_t i = 0; i < map_.order.size(); ++i) {
      const auto dim = static_cast<size_t>(map_.order[i]);
      llvm::Value *size = b_.CreateTrunc(view.sizes[dim], b_.getInt32Ty()), *none = b_.CreateICmpEQ(size, e_.I32(0));
      if (!llvm::isa<llvm::Constant>(none)) empty_ = empty_ == nullptr ? none : b_.CreateOr(empty_, none);
      sizes_.push_back(b_.CreateSelect(none, e_.I32(1), size));
      if (i > 0) strides_.push_back(b_.CreateMul(view.strides[dim], e_.I64(map_.element_bytes)));
    }
  }

  llvm::Value* At(uint32_t offset) { return e_.shared().Address(e_.I32(memory_ + offset)); }
  llvm::Value* Number(llvm::Value* address) {
    return b_.CreateTrunc(b_.CreatePtrToInt(address, b_.getInt64Ty()), b_.getInt32Ty());
  }
  llvm::Value* WordAt(size_t i) { return At(static_cast<uint32_t>(kMapBytes + 4 * i)); }
  void SynchronizeWarp() { b_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {e_.I32(-1)}); }

  // What the descriptor is made of, behind a word that says that it is.
  Registers Words() {
    Registers words = {e_.I32(1)};
    const auto halves = [&](llvm::Value* v) {
      words.push_back(b_.CreateTrunc(v, b_.getInt32Ty()));
      words.push_back(b_.CreateTrunc(b_.CreateLShr(v, 32), b_.getInt32Ty()));
    };
    halves(base_);
    words.insert(words.end(), sizes_.begin(), sizes_.end());
    for (llvm::Value* v : strides_) halves(v);
    return words;
  }

  llvm::Value* IsMade() {
    e_.AtEntry([&] { b_.CreateStore(e_.I32(0), WordAt(0)); });
    const Registers words = Words();
    llvm::Value* all = b_.getTrue();
    for (size_t i = 0; i < words.size(); ++i) {
      if (i > 0 && llvm::isa<llvm::Constant>(words[i])) continue;
      all = b_.CreateAnd(all, b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), WordAt(i)), words[i]));
    }
    return all;
  }

  // From zeros, all fields; one lane does.
  void Write() {
    SynchronizeWarp();
    llvm::Value* word = b_.CreateGEP(b_.getInt32Ty(), At(0), e_.threads().lane());
    b_.CreateStore(e_.I32(0), word);
    const Registers words = Words();
    for (size_t i = 0; i < words.size(); ++i) b_.CreateStore(words[i], WordAt(i));
    SynchronizeWarp();
    const size_t rank = map_.order.size();
    std::string text, constraints = "r,b,l";
    Registers in = {Number(At(0)), b_.CreateICmpEQ(e_.threads().lane(), e_.I32(0)), base_};
    const auto replace = [&](const char* field, const char* type, const std::string& value) {
      absl::StrAppend(&text, "@$1 tensormap.replace.tile.", field, ".shared::cta.b1024.", type, " [$0], ", value, "; ");
    };
    const auto given = [&](const char* field, const char* type, size_t i, llvm::Value* v) {
      replace(field, type, absl::StrCat(i, ", $", in.size()));
      absl::StrAppend(&constraints, type[1] == '6' ? ",l" : ",r");
      in.push_back(v);
    };
    replace("global_address", "b64", "$2");
    replace("rank", "b32", absl::StrCat(rank - 1));
    for (size_t i = 0; i < rank; ++i) {
      replace("box_dim", "b32", absl::StrCat(i, ", ", map_.box[i]));
      given("global_dim", "b32", i, sizes_[i]);
      if (i > 0) given("global_stride", "b64", i - 1, strides_[i - 1]);
      replace("element_stride", "b32", absl::StrCat(i, ", 1"));
    }
    replace("elemtype", "b32", absl::StrCat(ElementNumber(map_.element)));
    replace("interleave_layout", "b32", "0");
    replace("swizzle_mode", "b32", absl::StrCat(SwizzleMode(map_.swizzle)));
    replace("fill_mode", "b32", "0");
    ExecuteTogether(e_, text, constraints, in);
  }

  Emitter& e_;
  llvm::IRBuilder<>& b_;
  const StagedTile& tile_;
  const MadeMap map_;
  const uint32_t memory_;  // offset in shared memory
  llvm::Value *base_ = nullptr, *empty_ = nullptr;
  Registers sizes_, strides_;  // i32; i64, bytes, from dimension 1 on
};

}  // namespace

void MakeTensorMaps(Emitter& e, const ir::Op& copy) {
  const std::vector<StagedTile> tiles = MadeMapsOf(copy);
  if (tiles.empty()) return;
  uint32_t memory = e.shared().Reserve(tiles.size() * kMadeMapBytes, kMapBytes);
  for (const StagedTile& tile : tiles) {
    Maker(e, tile, copy, memory).Make();
    memory += kMadeMapBytes;
  }
}

}  // namespace tile::codegen
