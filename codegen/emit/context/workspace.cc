#include "codegen/emit/context/workspace.h"

#include "codegen/emit/context/emitter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {

llvm::Value* Workspace::Reserve(uint64_t bytes, uint64_t alignment) {
  auto& b = e_.b();
  bytes_ = (bytes_ + alignment - 1) / alignment * alignment;
  const uint64_t at = bytes_;
  bytes_ += bytes;
  // Every block has a part of the same size, which is known at the end only.
  if (size_ == nullptr) {
    size_ = new llvm::GlobalVariable(*e_.module(), b.getInt8Ty(), false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                     "workspace_size$");
  }
  auto wide = [&](llvm::Intrinsic::ID i) { return b.CreateZExt(b.CreateIntrinsic(i, {}), b.getInt64Ty()); };
  llvm::Value* block = wide(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_z);
  block = b.CreateAdd(b.CreateMul(block, wide(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y)),
                      wide(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y));
  block = b.CreateAdd(b.CreateMul(block, wide(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x)),
                      wide(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x));
  llvm::Value* stride = b.CreatePtrToInt(size_, b.getInt64Ty());
  return b.CreateAdd(b.CreateAdd(e_.WorkspaceParam(), b.CreateMul(block, stride)), e_.I64(at));
}

void Workspace::Place() {
  if (size_ == nullptr) return;
  bytes_ = (bytes_ + 255) / 256 * 256;
  size_->replaceAllUsesWith(llvm::ConstantExpr::getIntToPtr(e_.I64(static_cast<int64_t>(bytes_)), size_->getType()));
  size_->eraseFromParent();
}

}  // namespace tile::codegen
