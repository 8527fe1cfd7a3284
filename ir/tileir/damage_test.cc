// Damaged files: see ir/testing/error_or_sound.h. Every truncation, every byte changed in several ways, and some thousand
// random combinations, of hand-encoded samples and of what this project's writer makes of the examples. Run under
// --config=asan now and then.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "ir/testing/damage.h"
#include "ir/testing/error_or_sound.h"
#include "ir/testing/tileir_samples.h"
#include "ir/text/parser.h"
#include "ir/tileir/writer.h"

namespace tile::ir::tileir {
namespace {

bool Accepted(absl::string_view bytes) { return TileIrErrorOrSound(AsBytes(bytes)) != Verdict::kRejected; }

// Every cut and every flip; no file that lacks its end is accepted.
void ExpectSound(absl::string_view file, absl::Span<const uint8_t> flips, const std::string& name) {
  SCOPED_TRACE(name);
  ASSERT_TRUE(Accepted(file));
  int64_t rejected = 0;
  ForEachDamage(file, flips, [&](const tile::ir::Damage& d) {
    const Verdict v = TileIrErrorOrSound(d.bytes);
    rejected += v == Verdict::kRejected;
    EXPECT_TRUE(v == Verdict::kRejected || d.flip != 0);
    EXPECT_FALSE(testing::Test::HasFailure()) << d.ToString();
    return !testing::Test::HasFailure();
  });
  EXPECT_GT(rejected, static_cast<int64_t>(file.size()));
}

class SampleDamage : public testing::TestWithParam<int> {};

TEST_P(SampleDamage, EveryCutAndEveryBit) {
  for (const Sample& s : Samples(GetParam())) ExpectSound(s.bytes, kEveryBit, s.name);
}

TEST_P(SampleDamage, EveryByteReplaced) {
  for (const Sample& s : Samples(GetParam())) {
    std::string damaged = s.bytes;
    for (char& c : damaged) {
      const char original = c;
      for (char other : {'\0', '\x7F', '\xFF'}) {
        c = other;
        Accepted(damaged);
      }
      c = original;
    }
  }
}

TEST_P(SampleDamage, RandomBytes) {
  std::mt19937 random(GetParam());
  for (const Sample& s : Samples(GetParam())) {
    for (int round = 0; round < 2000; ++round) {
      std::string damaged = s.bytes;
      for (int n = 1 + static_cast<int>(random() % 6); n > 0; --n) {
        damaged[12 + random() % (damaged.size() - 12)] = static_cast<char>(random() % 3 ? random() % 32 : random());
      }
      Accepted(damaged);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, SampleDamage, testing::Values(1301, 1302, 1303, 1304, 1305));

TEST(WrittenDamage, EveryCutAndSomeFlipsOfTheExamples) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("examples")) {
    if (entry.path().extension() != ".tile") continue;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    Diagnostics diagnostics;
    const auto module = Parse(text, entry.path().string(), &diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    const auto bytes = WriteTileIr(*module, 1305);
    if (!bytes.ok()) continue;  // uses an extension
    ++files;
    ExpectSound(*bytes, kFourFlips, entry.path().string());
  }
  EXPECT_GE(files, 10);
}

}  // namespace
}  // namespace tile::ir::tileir
