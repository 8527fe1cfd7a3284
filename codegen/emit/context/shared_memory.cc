#include "codegen/emit/context/shared_memory.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/target/gpu_ops.h"
#include "llvm/IR/Constants.h"

namespace tile::codegen {
namespace {

constexpr uint64_t kAlignment = 128, kRingAlignment = 1024;

llvm::GlobalVariable* Symbol(llvm::Module* module, llvm::Type* type, const char* name) {
  return new llvm::GlobalVariable(*module, type, false, llvm::GlobalValue::ExternalLinkage, nullptr, name, nullptr,
                                  llvm::GlobalValue::NotThreadLocal, 3);
}

}  // namespace

void SharedMemory::Begin(const ir::Function& function, llvm::Module* module) {
  all_ = Symbol(module, llvm::ArrayType::get(builder_.getInt8Ty(), 0), "shared$");
  all_->setAlignment(llvm::Align(kAlignment));
  ring_ = Symbol(module, builder_.getInt8Ty(), "ring$");
  scratch_ = Symbol(module, builder_.getInt8Ty(), "scratch$");
  ir::Walk(function.body(), [&](const ir::Op* op) {
    if (!IsFetch(op)) return;
    last_ring_ = op;
    while (last_ring_->parent() != nullptr) last_ring_ = last_ring_->parent();
  });
}

const ir::Op* SharedMemory::ServeFor(const ir::Op* op) { return std::exchange(user_, op); }

void SharedMemory::Passed(const ir::Op* op) {
  if (op == last_ring_) last_ring_ = nullptr;
}

uint32_t SharedMemory::Reserve(uint64_t bytes, uint64_t alignment) {
  reserved_bytes_ = (reserved_bytes_ + alignment - 1) / alignment * alignment;
  const uint64_t at = reserved_bytes_;
  reserved_bytes_ += bytes;
  if (user_ != nullptr) {
    users_.push_back({user_, bytes, user_->opcode() == ir::Opcode::kAllocShared ? "for the array" : "for itself"});
  }
  return static_cast<uint32_t>(std::min<uint64_t>(at, UINT32_MAX));
}

llvm::Value* SharedMemory::Address(llvm::Value* byte_offset) {
  return builder_.CreateGEP(builder_.getInt8Ty(), all_, byte_offset);
}

SharedMemory::Ring SharedMemory::ReserveRing(const ir::Op& fetch, uint64_t bytes, uint64_t barrier_bytes) {
  Ring& ring = ring_of_[&fetch];
  if (ring.stages != nullptr) {
    ring.is_new = false;
    return ring;
  }
  ring.stages = llvm::ConstantExpr::getGetElementPtr(
      builder_.getInt8Ty(), ring_,
      llvm::ArrayRef<llvm::Constant*>{builder_.getInt32(static_cast<uint32_t>(ring_bytes_))});
  ring.barriers = Reserve(barrier_bytes, 8);
  ring.is_new = true;
  ring_bytes_ += bytes;
  if (bytes > ring_user_.bytes) ring_user_ = {&fetch, bytes, "for what is fetched ahead"};
  return ring;
}

llvm::Value* SharedMemory::ReserveCopies(uint64_t bytes, bool* used) {
  *used = ring_bytes_ > 0;
  ring_bytes_ = std::max(ring_bytes_, bytes);
  if (bytes > ring_user_.bytes && user_ != nullptr) ring_user_ = {user_, bytes, "for what is copied ahead"};
  return ring_;
}

llvm::Value* SharedMemory::Scratch(uint64_t bytes) {
  scratch_beside_rings_ = scratch_beside_rings_ || last_ring_ != nullptr || persistent_;
  scratch_bytes_ = std::max(scratch_bytes_, bytes);
  if (bytes > scratch_user_.bytes && user_ != nullptr)
    scratch_user_ = {user_, bytes, "in which threads exchange elements"};
  return scratch_;
}

uint64_t SharedMemory::bytes() const {
  return reserved_bytes_ +
         (scratch_beside_rings_ ? ring_bytes_ + scratch_bytes_ : std::max(ring_bytes_, scratch_bytes_));
}

uint64_t SharedMemory::Left() const {
  const bool beside = scratch_beside_rings_ || last_ring_ != nullptr || persistent_;
  // And what begins at a round place.
  const uint64_t used = reserved_bytes_ + kRingAlignment + (beside ? ring_bytes_ : 0);
  return target_.shared_bytes > used ? target_.shared_bytes - used : 0;
}

void SharedMemory::Place() {
  const uint64_t alignment = ring_bytes_ > 0 ? kRingAlignment : kAlignment;
  reserved_bytes_ = (reserved_bytes_ + alignment - 1) / alignment * alignment;
  all_->setAlignment(llvm::Align(alignment));
  const auto put = [&](llvm::GlobalVariable* symbol, uint64_t at) {
    llvm::Constant* offset = builder_.getInt32(static_cast<uint32_t>(at));
    symbol->replaceAllUsesWith(
        llvm::ConstantExpr::getGetElementPtr(builder_.getInt8Ty(), all_, llvm::ArrayRef<llvm::Constant*>{offset}));
    symbol->eraseFromParent();
  };
  put(ring_, reserved_bytes_);
  put(scratch_, reserved_bytes_ + (scratch_beside_rings_ ? ring_bytes_ : 0));
}

absl::Status SharedMemory::Check(const ir::Module& source, const ir::Function& function) const {
  if (bytes() <= target_.shared_bytes) return absl::OkStatus();
  std::vector<User> users = users_;
  if (scratch_user_.op != nullptr) users.push_back(scratch_user_);
  if (ring_user_.op != nullptr) users.push_back(ring_user_);
  // The largest first; of equal ones the first in the text.
  std::stable_sort(users.begin(), users.end(), [](const User& a, const User& b) { return a.bytes > b.bytes; });
  std::string where = source.Where(function.loc, function.pos), who;
  uint64_t most = 0;
  constexpr size_t kNamed = 3;
  for (size_t i = 0; i < users.size() && i < kNamed; ++i) {
    const User& u = users[i];
    if (i == 0) {
      where = source.Where(u.op->loc, u.op->pos);
      most = u.bytes;
      absl::StrAppend(&who, ": ", u.op->info()->mnemonic, " needs ", u.bytes, " ", u.what);
    } else if (u.bytes > 0) {
      absl::StrAppend(&who, i == 1 ? ", besides " : ", ", u.op->info()->mnemonic, " at ",
                      source.Where(u.op->loc, u.op->pos), " ", u.bytes);
    }
  }
  // What the greatest would have to come down to.
  const uint64_t others = bytes() - std::min(most, bytes());
  std::string fix = "Use smaller tiles or smaller shared arrays";
  if (others < target_.shared_bytes && most > 0) {
    uint64_t parts = 2;
    while (most / parts > target_.shared_bytes - others) parts *= 2;
    absl::StrAppend(&fix, ": with 1/", parts, " of the elements there it fits");
  }
  return absl::InvalidArgumentError(absl::StrCat(where, ": error[codegen.shared]: kernel @", function.name, " needs ",
                                                 bytes(), " bytes of shared memory; ", target_.arch, " offers ",
                                                 target_.shared_bytes, " to a block", who, ". ", fix, "."));
}

}  // namespace tile::codegen
