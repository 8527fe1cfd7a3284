#include "codegen/emit/context/shared_memory.h"

#include <algorithm>

#include "llvm/IR/Constants.h"

namespace tile::codegen {
namespace {

llvm::GlobalVariable* Symbol(llvm::Module* module, llvm::Type* type, const char* name) {
  return new llvm::GlobalVariable(*module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr,
                                  llvm::GlobalValue::NotThreadLocal, 3);
}

// What does not fit is refused at the end (SharedAccount::Check); until then any offset will do.
uint32_t Offset(uint64_t bytes) { return static_cast<uint32_t>(std::min<uint64_t>(bytes, UINT32_MAX)); }

}  // namespace

void SharedMemory::Begin(const ir::Function& function, llvm::Module* module) {
  all_ = Symbol(module, llvm::ArrayType::get(builder_.getInt8Ty(), 0), "shared$");
  all_->setAlignment(llvm::Align(SharedAccount::kAlignment));
  ring_ = Symbol(module, builder_.getInt8Ty(), "ring$");
  scratch_ = Symbol(module, builder_.getInt8Ty(), "scratch$");
  account_.Begin(function);
}

uint32_t SharedMemory::Reserve(uint64_t bytes, uint64_t alignment) {
  return Offset(account_.Reserve(bytes, alignment));
}

llvm::Value* SharedMemory::Address(llvm::Value* byte_offset) {
  return builder_.CreateGEP(builder_.getInt8Ty(), all_, byte_offset);
}

llvm::Value* SharedMemory::ReserveStages(const ir::Op& alloc, uint64_t bytes) {
  llvm::Constant* at = builder_.getInt32(static_cast<uint32_t>(account_.ReserveStages(alloc, bytes)));
  return llvm::ConstantExpr::getGetElementPtr(builder_.getInt8Ty(), ring_, llvm::ArrayRef<llvm::Constant*>{at});
}

llvm::Value* SharedMemory::ReserveCopies(uint64_t bytes) {
  account_.ReserveCopies(bytes);
  return ring_;
}

llvm::Value* SharedMemory::Scratch(uint64_t bytes) {
  account_.Scratch(bytes);
  return scratch_;
}

void SharedMemory::Place() {
  account_.Close();
  all_->setAlignment(llvm::Align(account_.alignment()));
  const auto put = [&](llvm::GlobalVariable* symbol, uint64_t at) {
    llvm::Constant* offset = builder_.getInt32(static_cast<uint32_t>(at));
    symbol->replaceAllUsesWith(
        llvm::ConstantExpr::getGetElementPtr(builder_.getInt8Ty(), all_, llvm::ArrayRef<llvm::Constant*>{offset}));
    symbol->eraseFromParent();
  };
  put(ring_, account_.ring_begin());
  put(scratch_, account_.scratch_begin());
}

}  // namespace tile::codegen
