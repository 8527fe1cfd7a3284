#include "codegen/plan/staging/shared_account.h"

#include "codegen/target/target.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

// Barriers of two rings, and a tile that both loops read, which is aligned.
TEST(SharedAccount, WhatIsSmallGoesIntoGaps) {
  SharedAccount account(*FindTarget(90), false);
  EXPECT_EQ(account.Reserve(48, 8), 0u);
  EXPECT_EQ(account.Reserve(16384, 1024), 1024u);
  EXPECT_EQ(account.Reserve(48, 8), 48u);
  EXPECT_EQ(account.Reserve(128, 128), 128u);
  EXPECT_EQ(account.Reserve(800, 8), 17408u);  // no gap is so large
  EXPECT_EQ(account.Reserve(768, 8), 256u);
  EXPECT_EQ(account.Reserve(4, 4), 18208u);
}

// Where no ring is in use scratch memory takes the place of rings.
TEST(SharedAccount, RoomOfScratchMemory) {
  const uint64_t all = FindTarget(120)->shared_bytes;
  SharedAccount account(*FindTarget(120), false);
  account.ReserveCopies(32768);
  account.Scratch(200000);
  account.Reserve(100, 4);
  account.Close();
  EXPECT_EQ(account.Room(), all - 1024);
  SharedAccount beside(*FindTarget(120), true);
  beside.ReserveCopies(32768);
  beside.Scratch(4);
  beside.Close();
  EXPECT_EQ(beside.Room(), all - 32768);
  SharedAccount full(*FindTarget(120), false);
  full.Reserve(all + 1, 4);
  full.Close();
  EXPECT_EQ(full.Room(), 0u);
}

}  // namespace
}  // namespace tile::codegen
