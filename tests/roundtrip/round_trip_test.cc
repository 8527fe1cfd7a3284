// Every .tile file of the examples and tests is the same program in each of its forms.
#include "tests/roundtrip/round_trip.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"

namespace tile {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const char* folder : {"examples", "tests"}) {
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
      if (entry.path().extension() == ".tile") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string TestName(const std::string& path) {
  std::string name = path.substr(0, path.size() - 5);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

class RoundTrip : public testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, KeepsTheProgram) {
  std::stringstream text;
  text << std::ifstream(GetParam()).rdbuf();
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(text.str(), GetParam(), &diagnostics);
  if (module == nullptr && text.str().find("// error: text.") != std::string::npos)
    return;  // shows errors of the parser
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  ir::Verify(*module, &diagnostics);
  EXPECT_EQ(RoundTripFault(*module, diagnostics.ok()), "");
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip, testing::ValuesIn(Files()),
                         [](const auto& info) { return TestName(info.param); });

TEST(RoundTripFolders, AreThere) {
  std::set<std::string> folders;
  for (const std::string& f : Files()) folders.insert(fs::path(f).parent_path().string());
  for (const char* folder :
       {"examples", "tests/checks", "tests/codegen/regressions", "tests/ops", "tests/spec", "tests/verify"}) {
    EXPECT_TRUE(folders.count(folder)) << folder << " has no files here";
  }
}

}  // namespace
}  // namespace tile
