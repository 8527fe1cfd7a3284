// Every truncation and every changed bit of the frozen files (tests/compat): see ir/testing/error_or_sound.h.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"
#include "ir/testing/damage.h"
#include "ir/testing/error_or_sound.h"

namespace tile::ir {
namespace {

constexpr size_t kSmall = 4096;  // larger files have four changes a byte instead of eight
constexpr size_t kPadding = 32;

std::vector<std::string> FrozenFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/compat")) {
    if (entry.path().extension() == ".tbc") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class FrozenDamage : public testing::TestWithParam<std::string> {};

TEST_P(FrozenDamage, IsAnErrorOrASoundModule) {
  std::ifstream in(GetParam(), std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(in)), {});
  const Exact whole(file);
  ASSERT_NE(TbcErrorOrSound(whole.bytes(), "undamaged"), Verdict::kRejected);
  int64_t count = 0, rejected = 0, verified = 0;
  const auto flips = file.size() <= kSmall ? absl::MakeConstSpan(kEveryBit) : absl::MakeConstSpan(kFourFlips);
  ForEachDamage(file, flips, [&](const Damage& d) {
    const Verdict v = TbcErrorOrSound(d.bytes, "");
    ++count;
    rejected += v == Verdict::kRejected;
    verified += v == Verdict::kVerified;
    // All that may be missing is padding.
    EXPECT_TRUE(v == Verdict::kRejected || d.flip != 0 || d.at + kPadding >= file.size());
    EXPECT_FALSE(HasFailure()) << d.ToString();
    return !HasFailure();
  });
  // Neither may be all there is: the damage would not reach what it should.
  EXPECT_GT(rejected, count / 10);
  EXPECT_LT(rejected, count);
  std::printf("%lld damaged files: %lld rejected, %lld read, of which %lld verify\n", static_cast<long long>(count),
              static_cast<long long>(rejected), static_cast<long long>(count - rejected),
              static_cast<long long>(verified));
}

std::string Name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, FrozenDamage, testing::ValuesIn(FrozenFiles()), Name);

}  // namespace
}  // namespace tile::ir
