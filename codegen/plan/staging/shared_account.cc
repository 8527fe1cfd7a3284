#include "codegen/plan/staging/shared_account.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/loop_around.h"
#include "codegen/gpu/ops.h"
#include "codegen/plan/staging/staging.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

constexpr uint64_t kMostOnce = 1024, kOnceAlignment = 16;

}  // namespace

const ir::Op* OutermostOf(const ir::Op* op) {
  while (op->parent() != nullptr && !IsGpuOp(op->parent(), GpuOpcode::kWorkers)) op = op->parent();
  return op;
}

bool IsInCopyingLoop(const ir::Op& op) {
  for (const ir::Op* at = &op; at != nullptr; at = at->parent()) {
    if (ir::ForOp::Is(at) && CopiesAhead(*at)) return true;
  }
  return false;
}

void SharedAccount::Begin(const ir::Function& function) {
  bool produces = false;  // stages of others are in use in their loops only
  ir::Walk(function.body(), [&](const ir::Op* op) {
    produces = produces || IsGpuOp(op, GpuOpcode::kProducer) || IsGpuOp(op, GpuOpcode::kFetchAhead);
    has_products_ = has_products_ || op->info()->family == ir::Family::kMma;
    if (IsGpuOp(op, GpuOpcode::kFetchAhead) || (produces && IsGpuOp(op, GpuOpcode::kStageTile)))
      last_ring_ = OutermostOf(op);
  });
}

const ir::Op* SharedAccount::ServeFor(const ir::Op* op) { return std::exchange(user_, op); }

void SharedAccount::Passed(const ir::Op* op) {
  if (op == last_ring_) last_ring_ = nullptr;
}

uint64_t SharedAccount::Find(uint64_t bytes, uint64_t alignment) {
  const auto aligned = [alignment](uint64_t n) { return (n + alignment - 1) / alignment * alignment; };
  for (Gap& gap : gaps_) {
    const uint64_t at = aligned(gap.begin);
    if (at + bytes > gap.end) continue;
    gap.begin = at + bytes;
    return at;
  }
  const uint64_t at = aligned(reserved_bytes_);
  if (at > reserved_bytes_) gaps_.push_back({reserved_bytes_, at});
  reserved_bytes_ = at + bytes;
  return at;
}

uint64_t SharedAccount::Reserve(uint64_t bytes, uint64_t alignment) {
  const uint64_t at = Find(bytes, alignment);
  if (user_ != nullptr) {
    places_[user_] = {at, bytes};
    users_.push_back({user_, bytes, user_->opcode() == ir::Opcode::kAllocShared ? "for the array" : "for itself"});
  }
  return at;
}

void SharedAccount::ReserveKept(const ir::Value* v, const ir::Block* of_loops, uint64_t bytes, uint64_t alignment) {
  const auto [it, is_new] = kept_.try_emplace({v, of_loops}, 0);
  if (is_new) it->second = Reserve(bytes, alignment);
  if (user_ != nullptr) places_[user_] = {it->second, bytes, is_new};
}

void SharedAccount::ReserveOperand(uint64_t offset, uint64_t bytes) {
  if (user_ != nullptr) operand_places_[user_] = {offset, bytes};
  operand_bytes_ = std::max(operand_bytes_, offset + bytes);
  if (bytes > operand_user_.bytes && user_ != nullptr) operand_user_ = {user_, bytes, "for an operand"};
}

void SharedAccount::ReserveStages(const ir::Op& user, uint64_t bytes) {
  ring_places_[&user] = {ring_bytes_, bytes};
  ring_bytes_ += bytes;
  if (bytes > ring_user_.bytes) ring_user_ = {&user, bytes, "for what is fetched ahead"};
}

void SharedAccount::ReserveCopies(uint64_t bytes) {
  if (user_ != nullptr) ring_places_[user_] = {0, bytes};
  ring_bytes_ = std::max(ring_bytes_, bytes);
  if (bytes > ring_user_.bytes && user_ != nullptr) ring_user_ = {user_, bytes, "for what is copied ahead"};
}

void SharedAccount::ClaimCopies(const ir::Op& claim) {
  if (std::exchange(copies_claimed_, true) || scratch_bytes_ > 0) claimed_again_.insert(&claim);
}

bool SharedAccount::RingInUse() const {
  return persistent_ || last_ring_ != nullptr || (user_ != nullptr && IsInCopyingLoop(*user_));
}

void SharedAccount::Scratch(uint64_t bytes) {
  scratch_beside_rings_ = scratch_beside_rings_ || RingInUse();
  scratch_bytes_ = std::max(scratch_bytes_, bytes);
  if (bytes > scratch_user_.bytes && user_ != nullptr)
    scratch_user_ = {user_, bytes, "in which threads exchange elements"};
}

bool SharedAccount::ReserveOnce(uint64_t bytes) {
  if (user_ == nullptr || LoopAround(*user_) != nullptr || persistent_ || has_products_ || bytes > kMostOnce)
    return false;
  Reserve(bytes, kOnceAlignment);
  return true;
}

const SharedAccount::Place* SharedAccount::PlaceOf(const ir::Op& op) const {
  const auto it = places_.find(&op);
  return it == places_.end() ? nullptr : &it->second;
}

uint64_t SharedAccount::bytes() const {
  return reserved_bytes_ +
         (scratch_beside_rings_ ? ring_bytes_ + scratch_bytes_ : std::max(ring_bytes_, scratch_bytes_));
}

uint64_t SharedAccount::Left() const {
  const bool beside = scratch_beside_rings_ || RingInUse();
  // Rings begin at a multiple of their alignment, which may leave a gap before them.
  const uint64_t used = reserved_bytes_ + operand_bytes_ + kRingAlignment + (beside ? ring_bytes_ : 0);
  return target_.shared_bytes > used ? target_.shared_bytes - used : 0;
}

uint64_t SharedAccount::Room() const {
  const uint64_t used = reserved_bytes_ + (scratch_beside_rings_ ? ring_bytes_ : 0);
  return target_.shared_bytes > used ? target_.shared_bytes - used : 0;
}

void SharedAccount::Close() {
  if (!operand_places_.empty()) {
    const uint64_t begin = Find(operand_bytes_, kRingAlignment);
    for (const auto& [op, place] : operand_places_) places_[op] = {begin + place.at, place.bytes};
    operand_places_.clear();
  }
  reserved_bytes_ = (reserved_bytes_ + alignment() - 1) / alignment() * alignment();
  for (const auto& [op, place] : ring_places_) places_[op] = {ring_begin() + place.at, place.bytes};
  ring_places_.clear();
}

absl::Status SharedAccount::Check(const ir::Function& function) const {
  const ir::Module& source = *function.module();
  if (bytes() <= target_.shared_bytes) return absl::OkStatus();
  std::vector<User> users = users_;
  if (scratch_user_.op != nullptr) users.push_back(scratch_user_);
  if (ring_user_.op != nullptr) users.push_back(ring_user_);
  if (operand_user_.op != nullptr) users.push_back(operand_user_);
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
  // To how many bytes the greatest user would have to come down.
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
