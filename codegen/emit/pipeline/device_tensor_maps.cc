#include "codegen/emit/pipeline/device_tensor_maps.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/emit/pipeline/mbarrier.h"
#include "codegen/plan/tma/tensor_map.h"
#include "codegen/plan/tma/tensor_maps.h"
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

// Fields of the descriptor at $0, written by the threads for which $1 holds.
class Fields {
 public:
  Fields(llvm::Value* descriptor, llvm::Value* mine) : in_({descriptor, mine}) {}

  void Set(absl::string_view field, int64_t value) { Replace(field, "b32", absl::StrCat(value)); }
  void Set(absl::string_view field, size_t dim, int64_t value) {
    Replace(field, "b32", absl::StrCat(dim, ", ", value));
  }
  // Of 32 or 64 bits.
  void Set(absl::string_view field, const std::string& dim, llvm::Value* value) {
    const bool wide = value->getType()->getIntegerBitWidth() == 64;
    Replace(field, wide ? "b64" : "b32", absl::StrCat(dim, "$", in_.size()));
    absl::StrAppend(&constraints_, wide ? ",l" : ",r");
    in_.push_back(value);
  }
  void Write(Emitter& e) { ExecuteTogether(e, text_, constraints_, in_); }

 private:
  void Replace(absl::string_view field, absl::string_view type, const std::string& value) {
    absl::StrAppend(&text_, "@$1 tensormap.replace.tile.", field, ".shared::cta.b1024.", type, " [$0], ", value, "; ");
  }

  std::string text_, constraints_ = "r,b";
  Registers in_;
};

}  // namespace

DescriptorMaker::DescriptorMaker(Emitter& e, DeviceTensorMap map, llvm::Value* memory, llvm::Value* place)
    : e_(e), map_(std::move(map)), memory_(memory), global_(place) {}

llvm::Value* DescriptorMaker::At(uint32_t offset) {
  return e_.b().CreateGEP(e_.b().getInt8Ty(), memory_, e_.I32(offset));
}

llvm::Value* DescriptorMaker::Descriptor() {
  return e_.b().CreateTrunc(e_.b().CreatePtrToInt(At(0), e_.b().getInt64Ty()), e_.b().getInt32Ty());
}

llvm::Value* DescriptorMaker::WordAt(size_t i) { return At(static_cast<uint32_t>(kMapBytes + 4 * i)); }

void DescriptorMaker::WriteFixed(int warp) {
  auto& b = e_.b();
  llvm::Value *mine = b.CreateICmpEQ(e_.threads().warp(), e_.I32(warp)), *lane = e_.threads().lane();
  llvm::Value* word = b.CreateAdd(Descriptor(), b.CreateShl(lane, 2));
  ExecuteTogether(e_, absl::StrCat("@$1 st.shared.b32 [$0], 0; @$1 st.shared.b32 [$0+", kMapBytes, "], 0;"), "r,b",
                  {word, mine});
  SynchronizeWarp(e_);
  Fields fields(Descriptor(), b.CreateAnd(mine, b.CreateICmpEQ(lane, e_.I32(0))));
  fields.Set("rank", static_cast<int64_t>(map_.box.size()) - 1);
  for (size_t i = 0; i < map_.box.size(); ++i) {
    fields.Set("box_dim", i, map_.box[i]);
    fields.Set("element_stride", i, 1);
  }
  fields.Set("elemtype", ElementNumber(map_.element));
  fields.Set("interleave_layout", 0);
  fields.Set("swizzle_mode", SwizzleMode(map_.swizzle));
  fields.Set("fill_mode", 0);
  fields.Write(e_);
}

void DescriptorMaker::FindTensor() {
  auto& b = e_.b();
  const auto halves = [&](llvm::Value* v) {
    words_.push_back(b.CreateTrunc(v, b.getInt32Ty()));
    words_.push_back(b.CreateTrunc(b.CreateLShr(v, 32), b.getInt32Ty()));
  };
  const ViewValue& view = e_.view(map_.tensor->result(0));
  base_ = view.base;
  words_ = {e_.I32(1)};
  halves(base_);
  for (size_t i = 0; i < map_.order.size(); ++i) {
    const auto dim = static_cast<size_t>(map_.order[i]);
    // Of an empty tensor no element is there, but a descriptor must have one.
    llvm::Value *size = b.CreateTrunc(view.sizes[dim], b.getInt32Ty()), *none = b.CreateICmpEQ(size, e_.I32(0));
    if (!llvm::isa<llvm::Constant>(none)) empty_ = empty_ == nullptr ? none : b.CreateOr(empty_, none);
    sizes_.push_back(b.CreateSelect(none, e_.I32(1), size));
    words_.push_back(sizes_.back());
    if (i == 0) continue;
    strides_.push_back(b.CreateMul(view.strides[dim], e_.I64(map_.element_bytes)));
    halves(strides_.back());
  }
}

llvm::Value* DescriptorMaker::IsOfTensor() {
  auto& b = e_.b();
  llvm::Value* same = b.getTrue();
  for (size_t i = 0; i < words_.size(); ++i) {
    if (i > 0 && llvm::isa<llvm::Constant>(words_[i])) continue;
    same = b.CreateAnd(same, b.CreateICmpEQ(b.CreateLoad(b.getInt32Ty(), WordAt(i)), words_[i]));
  }
  return same;
}

void DescriptorMaker::WriteTensor() {
  auto& b = e_.b();
  for (size_t i = 0; i < words_.size(); ++i) b.CreateStore(words_[i], WordAt(i));
  Fields fields(Descriptor(), b.CreateICmpEQ(e_.threads().lane(), e_.I32(0)));
  fields.Set("global_address", "", base_);
  for (size_t i = 0; i < sizes_.size(); ++i) {
    fields.Set("global_dim", absl::StrCat(i, ", "), sizes_[i]);
    if (i > 0) fields.Set("global_stride", absl::StrCat(i - 1, ", "), strides_[i - 1]);
  }
  fields.Write(e_);
}

void DescriptorMaker::CopyToWorkspace() {
  ExecuteTogether(
      e_, "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [$0], [$1], 128;",
      "l,r", {global_, Descriptor()});
}

void DescriptorMaker::Fence() {
  ExecuteTogether(e_, "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;", "l", {global_});
}

void WriteTensorMaps(Emitter& e, absl::Span<DescriptorMaker> makers) {
  for (DescriptorMaker& m : makers) m.WriteTensor();
  SynchronizeWarp(e);
  for (DescriptorMaker& m : makers) m.CopyToWorkspace();
  for (DescriptorMaker& m : makers) m.Fence();
  // Without a group that ends here ptxas may let copies begin before the fence has ended, as Triton's authors found.
  ExecuteTogether(e, "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;", "", {});
}

}  // namespace tile::codegen
