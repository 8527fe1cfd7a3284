// Damaged files give a status or a module, never a crash: every truncation, every byte changed in several ways, and
// some thousand random combinations. Run under --config=asan now and then.

#include <gtest/gtest.h>

#include <random>

#include "ir/tileir/reader.h"
#include "ir/tileir/test_samples.h"

namespace tile::ir {
namespace {

// Reads and looks at everything that came out; 1 if it was accepted.
int Try(const std::string& bytes) {
  auto m = ReadTileIr({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "damaged");
  if (!m.ok()) {
    EXPECT_FALSE(m.status().message().empty());
    return 0;
  }
  size_t sum = 0;
  for (const auto& f : (*m)->functions) {
    Walk(f->body(), [&](Op* op) {
      for (int i = 0; i < op->num_operands(); ++i) sum += op->operand(i)->type().ToString().size();
      sum += (*m)->Where(op->loc, op->pos).size();
    });
  }
  EXPECT_LT(sum, size_t{1} << 30);
  return 1;
}

class Damage : public testing::TestWithParam<int> {};

TEST_P(Damage, EveryTruncation) {
  for (const tileir::Sample& s : tileir::Samples(GetParam())) {
    ASSERT_EQ(Try(s.bytes), 1) << s.name;
    for (size_t n = 0; n < s.bytes.size(); ++n) EXPECT_EQ(Try(s.bytes.substr(0, n)), 0) << s.name << " cut to " << n;
  }
}

TEST_P(Damage, EveryByte) {
  int refused = 0;
  for (const tileir::Sample& s : tileir::Samples(GetParam())) {
    std::string damaged = s.bytes;
    for (size_t i = 0; i < damaged.size(); ++i) {
      const char original = damaged[i];
      for (int bit = 0; bit < 8; ++bit) {
        damaged[i] = static_cast<char>(original ^ 1 << bit);
        refused += 1 - Try(damaged);
      }
      for (char c : {'\0', '\x7F', '\xFF'}) {
        damaged[i] = c;
        Try(damaged);
      }
      damaged[i] = original;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST_P(Damage, RandomBytes) {
  std::mt19937 random(GetParam());
  for (const tileir::Sample& s : tileir::Samples(GetParam())) {
    for (int round = 0; round < 2000; ++round) {
      std::string damaged = s.bytes;
      for (int n = 1 + static_cast<int>(random() % 6); n > 0; --n) {
        damaged[12 + random() % (damaged.size() - 12)] = static_cast<char>(random() % 3 ? random() % 32 : random());
      }
      Try(damaged);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, Damage, testing::Values(1301, 1302, 1303, 1304, 1305));

}  // namespace
}  // namespace tile::ir
