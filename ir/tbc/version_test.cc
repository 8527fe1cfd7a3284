#include "ir/tbc/version.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/tbc/writer.h"

namespace tile::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Message(const absl::Status& s) { return std::string(s.message()); }

// Versions that do not exist yet, to exercise the rules before they are needed.
constexpr TbcFeature kFuture[] = {{0, "first", {0, 1}, ""}, {1, "second", {0, 3}, ""}, {2, "third", {1, 2}, ""}};

TEST(Version, LowestThatHoldsTheContent) {
  Requirements needs;
  EXPECT_EQ(LowestVersion(needs, {}, kFuture, {1, 2})->ToString(), "0.1");
  needs.Need(0, [] { return "a"; });
  EXPECT_EQ(LowestVersion(needs, {}, kFuture, {1, 2})->ToString(), "0.1");
  needs.Need(1, [] { return "b"; });
  EXPECT_EQ(LowestVersion(needs, {}, kFuture, {1, 2})->ToString(), "0.3");
  EXPECT_EQ(LowestVersion(needs, {1, 1}, kFuture, {1, 2})->ToString(), "0.3");
  needs.Need(2, [] { return "c"; });
  EXPECT_EQ(LowestVersion(needs, {}, kFuture, {1, 2})->ToString(), "1.2");
}

TEST(Version, TargetThatIsTooOldNamesWhatForbidsIt) {
  Requirements needs;
  needs.Need(1, [] { return "frobnicate in @k"; });
  needs.Need(1, [] { return "another"; });
  EXPECT_EQ(
      Message(LowestVersion(needs, {0, 2}, kFuture, {1, 2}).status()),
      "target version 0.2 can't hold this module: frobnicate in @k needs the feature second, which came with 0.3");
}

TEST(Version, TargetMustExist) {
  EXPECT_THAT(Message(LowestVersion({}, {0, 9}).status()), HasSubstr("target version 0.9 can't be written"));
  EXPECT_THAT(Message(WriteTbc(Module(), {.target_version = {7, 0}}).status()),
              HasSubstr(absl::StrCat("choose one of 0.1 to ", kCurrentTbcVersion.ToString())));
}

TEST(Version, OperationsOfLaterReleases) {
  EXPECT_EQ(TbcFeatureOfLaterOp(0x7D), -1);
  EXPECT_EQ(TbcFeatureOfLaterOp(0x8004), -1);
  EXPECT_EQ(TbcFeatureOfLaterOp(0x8005), 5);
  EXPECT_EQ(TbcFeatureOfLaterOp(0x8006), 5);

  Module m;
  Function* f = m.AddFunction("k", {m.types().Scalar(Elem::kF32)});
  Builder b(&m, f->body());
  b.Create(Opcode::kTanh, {{f->param(0)}}, {f->param(0)->type()});
  EXPECT_TRUE(WriteTbc(m, {.target_version = {0, 1}}).ok());
  b.Create(Opcode::kErf, {{f->param(0)}}, {f->param(0)->type()});
  EXPECT_TRUE(WriteTbc(m, {.target_version = {0, 2}}).ok());
  EXPECT_EQ(
      Message(WriteTbc(m, {.target_version = {0, 1}}).status()),
      "target version 0.1 can't hold this module: erf in @k needs the feature extensions_0.2, which came with 0.2");
}

TEST(Version, TileIrVersionsSetBits) {
  Requirements needs;
  needs.NeedTileIr(1301, [] { return ""; });
  EXPECT_EQ(needs.bits(), 0u);
  needs.NeedTileIr(1303, [] { return ""; });
  needs.NeedTileIr(0, [] { return ""; });
  EXPECT_THAT(TbcFeatureNames(needs.bits() | uint64_t{1} << 40), ElementsAre("tile_ir_13.3", "extensions", "bit 40"));
}

TEST(Version, FeaturesAreOneBitEach) {
  uint64_t seen = 0;
  for (const TbcFeature& f : AllTbcFeatures()) {
    EXPECT_EQ(seen >> f.bit & 1, 0u) << f.keyword;
    seen |= uint64_t{1} << f.bit;
    EXPECT_LE(f.since, kCurrentTbcVersion) << f.keyword;
  }
  EXPECT_EQ(seen, KnownTbcFeatures());
}

}  // namespace
}  // namespace tile::ir
