#include "codegen/emit/context/shared_memory.h"

#include "absl/strings/str_cat.h"

namespace tile::codegen {

void SharedMemory::Begin(llvm::Module* module) {
  all_ = new llvm::GlobalVariable(*module, llvm::ArrayType::get(builder_.getInt8Ty(), 0), false,
                                  llvm::GlobalValue::ExternalLinkage, nullptr, "shared$", nullptr,
                                  llvm::GlobalValue::NotThreadLocal, 3);
  all_->setAlignment(llvm::Align(account_.alignment()));
}

uint32_t SharedMemory::PlaceOf(const ir::Op& op, uint64_t bytes) {
  const SharedAccount::Place* place = account_.PlaceOf(op);
  const uint64_t has = place == nullptr ? 0 : place->bytes;
  if (has != bytes) {
    fault_.Update(absl::InternalError(absl::StrCat("error[codegen.internal]: ", op.info()->mnemonic, " takes ", bytes,
                                                   " bytes of shared memory; planned were ", has)));
  }
  return place == nullptr ? 0 : static_cast<uint32_t>(place->at);
}

llvm::Value* SharedMemory::Address(llvm::Value* byte_offset) {
  return builder_.CreateGEP(builder_.getInt8Ty(), all_, byte_offset);
}

llvm::Value* SharedMemory::Scratch(uint64_t bytes) {
  if (bytes > account_.scratch_bytes()) {
    fault_.Update(
        absl::InternalError(absl::StrCat("error[codegen.internal]: threads exchange ", bytes,
                                         " bytes through shared memory; planned were ", account_.scratch_bytes())));
  }
  return Address(builder_.getInt32(static_cast<uint32_t>(account_.scratch_begin())));
}

}  // namespace tile::codegen
