#include "runtime/cuda/image_choice.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/bits.h"
#include "ir/expr.h"
#include "runtime/cuda/driver.h"

namespace tile::runtime::cuda {
namespace {

using ir::ExprNode;
using ir::ExprOp;
using ir::Image;

constexpr int64_t kMaxGridX = (int64_t{1} << 31) - 1, kMaxGridYZ = 65535;

// "sm_90a": major 9, minor 0, suffix 'a'.
struct Arch {
  int major = 0, minor = 0;
  char suffix = 0;
};
bool ParseArch(absl::string_view text, Arch* arch) {
  int number;
  if (!absl::ConsumePrefix(&text, "sm_") || text.empty()) return false;
  if (text.back() == 'a' || text.back() == 'f') {
    arch->suffix = text.back();
    text.remove_suffix(1);
  }
  if (!absl::SimpleAtoi(text, &number) || number < 10 || number > 999) return false;
  arch->major = number / 10;
  arch->minor = number % 10;
  return true;
}

bool Runs(const Arch& arch, ir::ImageKind kind, const Target& target) {
  const bool same_major = arch.major == target.major;
  switch (arch.suffix) {
    case 'a': return same_major && arch.minor == target.minor;  // exactly this one, PTX too
    case 'f': return same_major && arch.minor <= target.minor;  // its family
    default: break;
  }
  if (kind == ir::ImageKind::kPtx && arch.major < target.major) return true;
  return same_major && arch.minor <= target.minor;
}

absl::StatusOr<int64_t> Leaf(const ExprNode& n, const ImageArguments& arguments) {
  const auto wrong = [](auto... parts) { return absl::InvalidArgumentError(absl::StrCat(parts...)); };
  if (n.op == ExprOp::kNumSms) return arguments.num_sms;
  if (n.op == ExprOp::kShape) {
    if (n.b < 0 || n.b > 2 || (n.a != -1 && n.a != -2)) return wrong("asks for size ", n.b, " of grid ", n.a);
    const auto& grid = n.a == -1 ? arguments.grid : arguments.hardware_grid;
    if (grid[0] == 0 && n.a == -2) return wrong("asks for the hardware grid before it is known");
    return grid[static_cast<size_t>(n.b)];
  }
  if (n.op == ExprOp::kStride) return wrong("asks for a stride");
  if (n.a < 0 || n.a >= arguments.function->num_params() || static_cast<size_t>(n.a) >= arguments.words.size()) {
    return wrong("refers to parameter ", n.a, ", which does not exist");
  }
  const uint64_t word = arguments.words[static_cast<size_t>(n.a)];
  if (n.op == ExprOp::kAlign) return ir::AlignmentOf(word);
  const ir::Type type = arguments.function->param(n.a)->type();
  if (!ir::IsInt(type.elem())) return wrong("asks for the value of parameter ", n.a, ", which is no integer");
  return ir::SignExtend(word, ir::ElemInfoOf(type.elem()).bits);
}

}  // namespace

std::string WhyNotOn(const Image& image, const ir::Sha256Digest& code_hash, const Target& target) {
  if (image.code_hash != code_hash) return "was compiled from another version of the program";
  Arch arch;
  if (!ParseArch(image.arch, &arch)) return "has an architecture that this runtime does not know";
  if (!Runs(arch, image.kind, target)) {
    return absl::StrCat("does not run on this GPU, an sm_", target.major, target.minor);
  }
  if (image.driver_floor > static_cast<uint32_t>(target.driver_version)) {
    return absl::StrCat("needs a driver for CUDA ", VersionText(static_cast<int>(image.driver_floor)),
                        ", this one is for ", VersionText(target.driver_version));
  }
  const uint64_t unknown = image.flags & ~ir::kKnownImageFlags;
  if (unknown != 0) return absl::StrCat("has flags that this runtime does not know (", absl::Hex(unknown), ")");
  if (image.payload.empty()) return "is empty";
  if (image.threads > 1024) return absl::StrCat("wants ", image.threads, " threads, more than any GPU has");
  for (const uint32_t c : image.cluster) {
    if (c < 1 || c > 16) return absl::StrCat("has a cluster of ", c, " blocks");
  }
  return "";
}

absl::StatusOr<int64_t> Evaluate(const ir::Expr& e, const ImageArguments& arguments) {
  return ir::EvaluateExpr(e, [&](const ExprNode& n) { return Leaf(n, arguments); });
}

std::string WhyNotFor(const Image& image, const ImageArguments& arguments) {
  for (const ir::ImageRequirement& r : image.requirements) {
    const absl::StatusOr<int64_t> v = Evaluate(r.condition, arguments);
    if (!v.ok()) return absl::StrCat("has a requirement that ", v.status().message());
    if (*v == 0) return absl::StrCat("requires: ", r.text.empty() ? "something that does not hold" : r.text);
  }
  return "";
}

absl::StatusOr<std::array<int64_t, 3>> HardwareGrid(const Image& image, const ImageArguments& arguments,
                                                    int64_t resident) {
  std::array<int64_t, 3> grid = arguments.grid;
  for (size_t d = 0; d < image.grid.size() && d < 3; ++d) {
    absl::StatusOr<int64_t> n = Evaluate(image.grid[d], arguments);
    if (!n.ok()) return absl::InvalidArgumentError(absl::StrCat("has a grid that ", n.status().message()));
    grid[d] = *n;
  }
  for (const int64_t n : grid) {
    if (n < 1) return absl::InvalidArgumentError("has an empty grid");
  }
  const auto round = [](int64_t n, int64_t to) { return (n + to - 1) / to * to; };
  if ((image.flags & ir::kPersistentGrid) != 0) {
    int64_t blocks = 1;
    for (const int64_t n : grid) {
      if (__builtin_mul_overflow(blocks, n, &blocks)) return absl::InvalidArgumentError("has more than 2^63 blocks");
    }
    const int64_t cluster = static_cast<int64_t>(image.cluster[0]) * image.cluster[1] * image.cluster[2];
    grid = {std::max(cluster, std::min(round(std::min(blocks, kMaxGridX), cluster), resident / cluster * cluster)), 1,
            1};
  } else {
    for (size_t d = 0; d < 3; ++d) {
      if (grid[d] <= kMaxGridX) grid[d] = round(grid[d], image.cluster[d]);
    }
  }
  if (grid[0] > kMaxGridX || grid[1] > kMaxGridYZ || grid[2] > kMaxGridYZ) {
    return absl::InvalidArgumentError(
        absl::StrCat("would need a hardware grid of ", grid[0], " x ", grid[1], " x ", grid[2]));
  }
  return grid;
}

}  // namespace tile::runtime::cuda
