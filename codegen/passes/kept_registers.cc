#include "codegen/passes/kept_registers.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/analysis/live_registers.h"
#include "codegen/target/tuning.h"

namespace tile::codegen {
namespace {

constexpr int kMostCounts = 256, kLeastCounts = 4;
constexpr int64_t kMostCounted = 1 << 20;  // operations, in all counts

int CountsOf(const ir::Function& function) {
  int64_t ops = 1;
  ir::Walk(const_cast<ir::Block*>(function.body()), [&ops](ir::Op*) { ++ops; });
  return static_cast<int>(std::clamp<int64_t>(kMostCounted / ops, kLeastCounts, kMostCounts));
}

int64_t MostOfThread(int bits) { return bits >= 32 ? tuning::kReuseOfWords : tuning::kReuse; }

}  // namespace

KeptRegisters::KeptRegisters(const Program& p)
    : p_(p),
      most_counts_(CountsOf(*p.function)),
      threads_(32 * (p.candidate.num_warps > 0 ? p.candidate.num_warps : tuning::kMaxWarps)) {}

bool KeptRegisters::IsOpen(int64_t more, int bits) const {
  if (!is_known_) return true;
  return !is_exact_ && live_ + more > threads_ * MostOfThread(bits) && counts_ < most_counts_;
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
