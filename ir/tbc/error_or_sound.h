// What any bytes must give: an error with its code, or a module that can be written and reads back the same; and neither
// takes long, nor more memory than the file can account for. For tests.
#ifndef TILE_IR_TBC_ERROR_OR_SOUND_H_
#define TILE_IR_TBC_ERROR_OR_SOUND_H_

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/damage.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/verify/verify.h"

namespace tile::ir {

enum class Verdict { kRejected, kRead, kVerified };

inline Verdict ErrorOrSound(absl::Span<const uint8_t> bytes, const std::string& what) {
  const Cost cost;
  static_cast<void>(InspectTbc(bytes));
  const auto module = ReadTbc(bytes, "damaged");
  EXPECT_LE(cost.allocated(), (int64_t{1} << 20) + 64 * static_cast<int64_t>(bytes.size())) << what;
  if (!module.ok()) {
    EXPECT_THAT(std::string(module.status().message()), testing::HasSubstr("damaged: error[tbc.")) << what;
    return Verdict::kRejected;
  }
  Diagnostics diagnostics;
  Verify(**module, &diagnostics);
  EXPECT_LT(cost.cpu_seconds(), 2) << what;
  const auto written = WriteTbc(**module);
  EXPECT_TRUE(written.ok()) << what << ": " << written.status();
  if (written.ok()) {
    const auto again = ReadTbc({reinterpret_cast<const uint8_t*>(written->data()), written->size()}, "again");
    EXPECT_TRUE(again.ok()) << what << ": " << again.status();
    if (again.ok()) {
      EXPECT_EQ(FirstDifference(**module, **again), "") << what;
    }
  }
  return diagnostics.ok() ? Verdict::kVerified : Verdict::kRead;
}

}  // namespace tile::ir

#endif  // TILE_IR_TBC_ERROR_OR_SOUND_H_
