#include "codegen/variants.h"

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

TEST(Variants, HaveNamesAndPlacesOfTheirOwn) {
  std::set<std::string> names;
  std::set<int> places;
  for (const Variant& v : AllVariants()) {
    EXPECT_TRUE(names.insert(v.name).second) << v.name;
    EXPECT_TRUE(places.insert(v.place).second) << v.name;
    EXPECT_NE(v.purpose[0], '\0') << v.name;
  }
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), static_cast<int>(kNumVariants) - 1);
}

// A launch that meets no requirement takes the last image, so its code may ask for nothing.
TEST(Variants, TheLastInTheFileHasNoPermission) {
  for (const Variant& v : AllVariants()) {
    if (v.place != static_cast<int>(kNumVariants) - 1) continue;
    EXPECT_EQ(v.id, VariantId::kGeneral);
    EXPECT_EQ(v.most_spills, -1);
    for (May m :
         {May::kTakeDescriptors, May::kResizeK, May::kAssumeAligned, May::kCoarsen, May::kSplit, May::kUnpersist})
      EXPECT_FALSE(v.permissions.may(m));
  }
}

TEST(Permissions, AreASet) {
  Permissions p = {May::kResizeK, May::kUnpersist};
  EXPECT_TRUE(p.may(May::kResizeK));
  EXPECT_FALSE(p.may(May::kCoarsen));
  p.Allow(May::kCoarsen);
  p.Allow(May::kResizeK, false);
  EXPECT_TRUE(p.may(May::kCoarsen));
  EXPECT_FALSE(p.may(May::kResizeK));
  EXPECT_TRUE(p.may(May::kUnpersist));
}

}  // namespace
}  // namespace tile::codegen
