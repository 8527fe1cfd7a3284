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

}  // namespace
}  // namespace tile::codegen
