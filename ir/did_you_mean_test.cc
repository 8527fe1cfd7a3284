#include "ir/did_you_mean.h"

#include <string>

#include "gtest/gtest.h"

namespace tile::ir {
namespace {

std::string Near(absl::string_view word) { return DidYouMean(word, {"check", "grid", "threads", "addf", "a"}); }

TEST(DidYouMean, OneSlipInAShortWord) {
  for (const char* word : {"grids", "gri", "grit", "gird"}) EXPECT_EQ(Near(word), "did you mean grid?") << word;
  EXPECT_EQ(Near("chekc"), "did you mean check?");
  EXPECT_EQ(Near("adf"), "did you mean addf?");
}

TEST(DidYouMean, MoreInALongOne) {
  EXPECT_EQ(Near("tread"), "");
  EXPECT_EQ(Near("thraeds"), "did you mean threads?");
  EXPECT_EQ(Near("htraeds"), "did you mean threads?");
}

TEST(DidYouMean, NothingNear) {
  for (const char* word : {"", "x", "zz", "girdle", "quite-another"}) EXPECT_EQ(Near(word), "") << word;
  EXPECT_EQ(Near(std::string(1000, 'a')), "");
  EXPECT_EQ(DidYouMean("addf", {}), "");
}

}  // namespace
}  // namespace tile::ir
