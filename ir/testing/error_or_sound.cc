#include "ir/testing/error_or_sound.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/diagnostic.h"
#include "ir/module.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/testing/damage.h"
#include "ir/tileir/reader.h"
#include "ir/tileir/writer.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

void ExpectLittleMemory(const Cost& cost, size_t file_size, const std::string& what) {
  EXPECT_LE(cost.allocated(), (int64_t{1} << 20) + 64 * static_cast<int64_t>(file_size)) << what;
}

// What was read is also judged within the time.
bool Verifies(const Module& module, const Cost& cost, const std::string& what) {
  Diagnostics diagnostics;
  Verify(module, &diagnostics);
  EXPECT_LT(cost.cpu_seconds(), 2) << what;
  return diagnostics.ok();
}

// Differences between a module and what its written form reads as; empty if there are none.
std::string LostInTbc(const Module& module) {
  const auto written = WriteTbc(module);
  if (!written.ok()) return written.status().ToString();
  const auto again = ReadTbc(AsBytes(*written), "again");
  if (!again.ok()) return again.status().ToString();
  const std::string difference = FirstDifference(module, **again);
  return difference.empty() ? "" : "as .tbc: " + difference;
}

std::string LostInTileIr(const Module& module) {
  const auto written = WriteTileIr(module, 1305);
  if (!written.ok()) return written.status().ToString();
  const auto again = ReadTileIr(AsBytes(*written), "damaged");
  if (!again.ok()) return again.status().ToString();
  const std::string difference = FirstDifference(module, **again);
  return difference.empty() ? "" : "as bytecode: " + difference;
}

}  // namespace

Verdict TbcErrorOrSound(absl::Span<const uint8_t> bytes, const std::string& what) {
  const Cost cost;
  static_cast<void>(InspectTbc(bytes));
  const auto module = ReadTbc(bytes, "damaged");
  ExpectLittleMemory(cost, bytes.size(), what);
  if (!module.ok()) {
    EXPECT_THAT(std::string(module.status().message()), testing::HasSubstr("damaged: error[tbc.")) << what;
    return Verdict::kRejected;
  }
  const bool verified = Verifies(**module, cost, what);
  EXPECT_EQ(LostInTbc(**module), "") << what;
  return verified ? Verdict::kVerified : Verdict::kRead;
}

Verdict TileIrErrorOrSound(absl::Span<const uint8_t> bytes) {
  const Cost cost;
  const auto module = ReadTileIr(bytes, "damaged");
  ExpectLittleMemory(cost, bytes.size(), "");
  if (!module.ok()) {
    EXPECT_FALSE(module.status().message().empty());
    return Verdict::kRejected;
  }
  for (const auto& f : (*module)->functions) {
    Walk(f->body(), [&](Op* op) { EXPECT_FALSE((*module)->Where(op->loc, op->pos).empty()); });
  }
  if (!Verifies(**module, cost, "")) return Verdict::kRead;
  EXPECT_EQ(LostInTbc(**module), "");
  EXPECT_EQ(LostInTileIr(**module), "");
  return Verdict::kVerified;
}

}  // namespace tile::ir
