#include "ir/cpp_name.h"

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tile::ir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kAdd[] = "_Z3addPKfPfi";            // add(const float*, float*, int)
constexpr char kScale[] = "_Z5scaleIfLi64EEvPT_";  // template <class T, int n> scale(T*)
constexpr char kScaleWide[] = "_Z5scaleIfLi128EEvPT_";
constexpr char kNested[] = "_ZN3lib4demo4copyIN3lib4pairIifEELb1EEEvPKT_PS4_";

TEST(CppName, OfFunctionsAndTemplates) {
  EXPECT_EQ(CppName(kAdd), "add(float const*, float*, int)");
  EXPECT_EQ(CppName(kScale), "scale<float, 64>(float*)");
  EXPECT_EQ(ReadableName(kAdd), "add");
  EXPECT_EQ(ReadableName(kNested), "lib::demo::copy<lib::pair<int, float>, true>");
}

TEST(CppName, FromLongToShort) {
  EXPECT_THAT(CppNames("_ZN3lib5scaleIfEEvPT_"),
              ElementsAre("lib::scale<float>(float*)", "lib::scale<float>", "lib::scale", "scale<float>", "scale"));
  EXPECT_THAT(CppNames("scale"), IsEmpty());
}

TEST(CppName, OtherNamesStay) {
  for (const char* name : {"add", "", "_Z", "_Znonsense", "_ZTVSt9exception", "_Z1a"}) {
    EXPECT_EQ(CppName(name), "") << name;
    EXPECT_EQ(ReadableName(name), name);
    EXPECT_THAT(CppParameters(name), IsEmpty());
  }
}

TEST(CppName, LongNamesStay) {
  EXPECT_EQ(CppName("_Z1f" + std::string(30, 'i')).size(), 3 + 30 * 5 - 2);
  EXPECT_EQ(CppName("_Z1f" + std::string(kMaxMangled, 'i')), "");
  // Each type is a pair of the one before: 2^k letters after k of them.
  std::string doubled = "_Z1f1aIiiE", members = "_Z1fMii";
  for (char digit : std::string("_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    const std::string before = digit == '_' ? "S_" : std::string("S") + digit + "_";
    doubled += "1aI" + before + before + "E";
    members += "M" + before + before;
  }
  EXPECT_EQ(CppName(doubled), "");
  EXPECT_EQ(CppName(members), "");
  // Parameters of the same type are no danger.
  std::string flat = "_Z1fIfEvPT_";
  for (int i = 0; i < 30; ++i) flat += "S1_";
  EXPECT_TRUE(absl::StartsWith(CppName(flat), "f<float>(float*, float*, ")) << CppName(flat);
}

TEST(CppName, Parameters) {
  EXPECT_THAT(CppParameters(kAdd), ElementsAre("float const*", "float*", "int"));
  EXPECT_THAT(CppParameters(kNested), ElementsAre("lib::pair<int, float> const*", "lib::pair<int, float>*"));
  EXPECT_THAT(CppParameters("_Z1fv"), IsEmpty());
  EXPECT_THAT(CppParameters("_Z1fPFviE"), ElementsAre("void (*)(int)"));
}

TEST(CppName, PointersToConst) {
  EXPECT_TRUE(IsPointerToConst("float const*"));
  EXPECT_FALSE(IsPointerToConst("float*"));
  EXPECT_FALSE(IsPointerToConst("float const**"));
  EXPECT_FALSE(IsPointerToConst("float* const&"));
}

std::vector<absl::string_view> Found(const Module& m, absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const Function* f : FindKernels(m, name)) names.push_back(f->name);
  return names;
}

TEST(CppName, KernelsAreFoundByWhatIsWritten) {
  Module m;
  for (const char* name : {kAdd, kScale, kScaleWide, kNested, "plain"}) m.AddFunction(name, {});
  EXPECT_THAT(Found(m, "plain"), ElementsAre("plain"));
  EXPECT_THAT(Found(m, kAdd), ElementsAre(kAdd));
  EXPECT_THAT(Found(m, "add"), ElementsAre(kAdd));
  EXPECT_THAT(Found(m, "add(float const*,float*,int)"), ElementsAre(kAdd));
  EXPECT_THAT(Found(m, "scale"), ElementsAre(kScale, kScaleWide));
  EXPECT_THAT(Found(m, "scale<float,128>"), ElementsAre(kScaleWide));
  EXPECT_THAT(Found(m, "copy"), ElementsAre(kNested));
  EXPECT_THAT(Found(m, "lib::demo::copy"), ElementsAre(kNested));
  EXPECT_THAT(Found(m, "ad"), IsEmpty());
  EXPECT_EQ(ListKernels(m).substr(0, 48), "add(float const*, float*, int) [_Z3addPKfPfi], s");
}

TEST(CppName, WhatSaysMoreWins) {
  Module m;
  constexpr char kInner[] = "_ZN3lib3addEPf";  // lib::add
  for (const char* name : {kInner, kAdd}) m.AddFunction(name, {});
  EXPECT_THAT(Found(m, "add"), ElementsAre(kAdd));
  EXPECT_THAT(Found(m, "lib::add"), ElementsAre(kInner));
}

// A kernel whose symbol is what another one is called in C++.
TEST(CppName, TheSymbolComesFirst) {
  Module m;
  for (const char* name : {kAdd, "add"}) m.AddFunction(name, {});
  EXPECT_THAT(Found(m, "add"), ElementsAre("add"));
}

}  // namespace
}  // namespace tile::ir
