// What any bytes must give: an error, or a module; and if that verifies, it goes through both binary forms unchanged.
// Neither takes long, nor more memory than the file can account for. For tests.
#ifndef TILE_IR_TILEIR_ERROR_OR_SOUND_H_
#define TILE_IR_TILEIR_ERROR_OR_SOUND_H_

#include <string>

#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/damage.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/tileir/reader.h"
#include "ir/tileir/writer.h"
#include "ir/verify/verify.h"

namespace tile::ir::tileir {

enum class Verdict { kRejected, kRead, kVerified };

inline absl::Span<const uint8_t> AsBytes(absl::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

// Differences between a module and what its written form reads as; empty if there are none.
inline std::string LostOnTheWay(const Module& module) {
  const auto tbc = WriteTbc(module);
  if (!tbc.ok()) return tbc.status().ToString();
  const auto from_tbc = ReadTbc(AsBytes(*tbc), "again");
  if (!from_tbc.ok()) return from_tbc.status().ToString();
  if (std::string d = FirstDifference(module, **from_tbc); !d.empty()) return "as .tbc: " + d;
  const auto bytecode = WriteTileIr(module, 1305);
  if (!bytecode.ok()) return bytecode.status().ToString();
  const auto from_bytecode = ReadTileIr(AsBytes(*bytecode), "damaged");
  if (!from_bytecode.ok()) return from_bytecode.status().ToString();
  if (std::string d = FirstDifference(module, **from_bytecode); !d.empty()) return "as bytecode: " + d;
  return "";
}

inline Verdict ErrorOrSound(absl::Span<const uint8_t> bytes) {
  const Cost cost;
  const auto module = ReadTileIr(bytes, "damaged");
  EXPECT_LE(cost.allocated(), (int64_t{1} << 20) + 64 * static_cast<int64_t>(bytes.size()));
  if (!module.ok()) {
    EXPECT_FALSE(module.status().message().empty());
    return Verdict::kRejected;
  }
  for (const auto& f : (*module)->functions) {
    Walk(f->body(), [&](Op* op) { EXPECT_FALSE((*module)->Where(op->loc, op->pos).empty()); });
  }
  Diagnostics diagnostics;
  Verify(**module, &diagnostics);
  EXPECT_LT(cost.cpu_seconds(), 2);
  if (!diagnostics.ok()) return Verdict::kRead;
  EXPECT_EQ(LostOnTheWay(**module), "");
  return Verdict::kVerified;
}

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_ERROR_OR_SOUND_H_
