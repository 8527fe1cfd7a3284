#include "codegen/emit/context/threads.h"

#include <vector>

#include "codegen/emit/context/emitter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

int Log2(uint64_t n) { return 63 - __builtin_clzll(n); }

}  // namespace

void Threads::Begin(int threads) {
  auto& b = e_.b();
  auto* tid = b.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  tid->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, static_cast<uint64_t>(threads))));
  number_ = tid;
  lane_ = b.CreateAnd(number_, e_.I32(31), "lane");
  warp_ = b.CreateLShr(number_, e_.I32(5), "warp");
}

llvm::Value* Threads::Warpgroup() {
  if (warpgroup_ == nullptr) {
    e_.AtEntry([&] {
      warpgroup_ = e_.b().CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
                                          {e_.I32(-1), e_.b().CreateLShr(number_, 7), e_.I32(0), e_.I32(31)});
    });
  }
  return warpgroup_;
}

llvm::Value* Threads::LinearOf(llvm::Value* value, absl::Span<const uint64_t> bases) {
  llvm::Value* sum = e_.I32(0);
  for (size_t i = 0; i < bases.size();) {
    if (bases[i] == 0) {
      ++i;
      continue;
    }
    // As many bits as stay neighbours.
    size_t n = 1;
    const bool one_bit = (bases[i] & (bases[i] - 1)) == 0;
    while (one_bit && i + n < bases.size() && bases[i + n] == bases[i] << n) ++n;
    llvm::Value* x = e_.b().CreateAnd(e_.b().CreateLShr(value, e_.I32(i)), e_.I32((1 << n) - 1));
    x = one_bit ? e_.b().CreateShl(x, e_.I32(Log2(bases[i]))) : e_.b().CreateMul(x, e_.I32(bases[i]));
    sum = e_.b().CreateXor(sum, x);
    i += n;
  }
  return sum;
}

llvm::Value* Threads::LinearOfThread(absl::Span<const uint64_t> lane_bases, absl::Span<const uint64_t> warp_bases) {
  std::vector<uint64_t> bases(lane_bases.begin(), lane_bases.end());
  bases.resize(5, 0);
  bases.insert(bases.end(), warp_bases.begin(), warp_bases.end());
  std::string key(reinterpret_cast<const char*>(bases.data()), bases.size() * sizeof(uint64_t));
  llvm::Value*& value = linear_[key];
  if (value != nullptr) return value;

  // In the entry block, so that it can be used everywhere.
  e_.AtEntry([&] { value = LinearOf(number_, bases); });
  return value;
}

llvm::Value* Threads::IsElected() {
  auto& b = e_.b();
  llvm::Type* both = llvm::StructType::get(b.getInt32Ty(), b.getInt1Ty());
  return b.CreateExtractValue(b.CreateIntrinsic(both, llvm::Intrinsic::nvvm_elect_sync, {e_.I32(-1)}), 1);
}

llvm::Value* Threads::Part(const Layout& layout) {
  return LinearOfThread(layout.bases(In::kLane), layout.bases(In::kWarp));
}

uint32_t RegisterPart(const Layout& layout, int r) {
  return static_cast<uint32_t>(layout.Apply(static_cast<uint32_t>(r), 0, 0));
}

namespace {

uint64_t AllBits(const Layout& layout) {
  uint64_t bits = 0;
  for (uint64_t x : layout.bases(In::kLane)) bits |= x;
  for (uint64_t x : layout.bases(In::kWarp)) bits |= x;
  return bits;
}

}  // namespace

llvm::Value* Threads::Element(const Layout& layout, int r) {
  const uint32_t part = RegisterPart(layout, r);
  llvm::Value* thread = Part(layout);
  if (part == 0) return thread;
  return (AllBits(layout) & part) == 0 ? e_.b().CreateNUWAdd(thread, e_.I32(part))
                                       : e_.b().CreateXor(thread, e_.I32(part));
}

llvm::Value* Threads::Coordinate(const Layout& layout, int r, int dim) {
  const int shift = layout.dim_shift(dim);
  const uint64_t mask = layout.DimMask(dim);
  std::vector<uint64_t> lane, warp;
  uint64_t used = 0;
  for (uint64_t x : layout.bases(In::kLane)) lane.push_back((x & mask) >> shift);
  for (uint64_t x : layout.bases(In::kWarp)) warp.push_back((x & mask) >> shift);
  for (uint64_t x : lane) used |= x;
  for (uint64_t x : warp) used |= x;
  llvm::Value* thread = LinearOfThread(lane, warp);
  const uint32_t part = static_cast<uint32_t>((RegisterPart(layout, r) & mask) >> shift);
  if (part == 0) return thread;
  return (used & part) == 0 ? e_.b().CreateNUWAdd(thread, e_.I32(part)) : e_.b().CreateXor(thread, e_.I32(part));
}

llvm::Value* Threads::HoldsFirstCopy(const Layout& layout) {
  const uint64_t mask = layout.FreeMask(In::kLane) | layout.FreeMask(In::kWarp) << 5;
  return mask == 0 ? nullptr : e_.b().CreateIsNull(e_.b().CreateAnd(number_, e_.I32(mask)));
}

}  // namespace tile::codegen
