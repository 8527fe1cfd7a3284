#include "ir/escape.h"

#include "gtest/gtest.h"

namespace tile::ir {
namespace {

using std::string_literals::operator""s;

TEST(Escape, WhatIsHarmlessStays) {
  EXPECT_EQ(Escaped(""), "");
  EXPECT_EQ(Escaped("a b\tc\n~"), "a b\tc\n~");
  EXPECT_EQ(Escaped("größe € 🙂"), "größe € 🙂");
  EXPECT_EQ(Escaped("\u00a0\u00ff\U0010FFFF"), "\u00a0\u00ff\U0010FFFF");
}

TEST(Escape, ControlCharacters) {
  EXPECT_EQ(Escaped("\x1b[2J\x1b]0;title\a"), "\\x1b[2J\\x1b]0;title\\x07");
  EXPECT_EQ(Escaped("over\rwritten\b\x7f"), "over\\x0dwritten\\x08\\x7f");
  EXPECT_EQ(Escaped("a\0b"s), "a\\x00b");
  EXPECT_EQ(Escaped("\u0080\u009b\u009f"), "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f");  // 9b begins sequences, too
}

TEST(Escape, DirectionsOfText) {
  EXPECT_EQ(Escaped("a\u202eb"), "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(Escaped("\u200e\u2066\u061c"), "\\xe2\\x80\\x8e\\xe2\\x81\\xa6\\xd8\\x9c");
  EXPECT_EQ(Escaped("\u200d\u2010\u2065\u206a"), "\u200d\u2010\u2065\u206a");
}

TEST(Escape, WhatIsNotUtf8) {
  EXPECT_EQ(Escaped("\xff\x80z"), "\\xff\\x80z");
  EXPECT_EQ(Escaped("\xc3"), "\\xc3");  // cut off
  EXPECT_EQ(Escaped("\xe2\x82z"), "\\xe2\\x82z");
  EXPECT_EQ(Escaped("\xc0\x8a"), "\\xc0\\x8a");  // overlong
  EXPECT_EQ(Escaped("\xe0\x80\x8a"), "\\xe0\\x80\\x8a");
  EXPECT_EQ(Escaped("\xf0\x80\x80\x8a"), "\\xf0\\x80\\x80\\x8a");
  EXPECT_EQ(Escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a surrogate pair
  EXPECT_EQ(Escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
}

}  // namespace
}  // namespace tile::ir
