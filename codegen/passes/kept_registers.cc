#include "codegen/passes/kept_registers.h"

#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {
namespace {

constexpr int kMostCounts = 256;

int64_t MostOfThread(int bits) { return bits >= 32 ? tuning::kReuseOfWords : tuning::kReuse; }

}  // namespace

KeptRegisters::KeptRegisters(const Program& p)
    : p_(p), threads_(32 * (p.candidate.num_warps > 0 ? p.candidate.num_warps : tuning::kMaxWarps)) {}

bool KeptRegisters::IsOpen(int64_t more, int bits) const {
  if (!is_known_) return true;
  return !is_exact_ && live_ + more > threads_ * MostOfThread(bits) && counts_ < kMostCounts;
}

std::string KeptRegisters::WhyNot(int64_t more, int bits) {
  if (IsOpen(more, bits)) Count();
  const int64_t live = live_ + more;
  const int64_t most = MostOfThread(bits);
  if (live <= threads_ * most) return "";
  return absl::StrCat("a thread would hold up to ", live / threads_, " registers of tiles; ", most, " would do");
}

void KeptRegisters::Count() {
  live_ = MostLiveData(*p_.function).words;
  is_exact_ = is_known_ = true;
  ++counts_;
}

void KeptRegisters::Grew(int64_t words) {
  if (words == 0) return;
  live_ += words;
  is_exact_ = false;
}

}  // namespace tile::codegen
