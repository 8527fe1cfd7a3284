// Every file that a released version wrote is read as the program that its text says, and can be written again. A
// folder for each version: NAME.tbc, frozen for ever, and NAME.tile beside it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"
#include "ir/compare.h"
#include "ir/tbc/mapped_file.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"

namespace tile::ir {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> FrozenFiles() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator("tests/compat")) {
    if (entry.path().extension() == ".tbc") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Compat, EveryReleasedVersionHasFiles) {
  for (const auto& entry : fs::directory_iterator("schemas/released")) {
    if (entry.path().extension() != ".fbs") continue;
    const std::string version = entry.path().stem().string();
    const auto files = FrozenFiles();
    EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                            [&](const fs::path& f) { return f.parent_path().filename().string() == version; }))
        << "no files of version " << version << ": run tests/compat/freeze.sh";
  }
}

TEST(Compat, FrozenFilesReadAsTheirTexts) {
  ASSERT_FALSE(FrozenFiles().empty());
  for (const fs::path& path : FrozenFiles()) {
    SCOPED_TRACE(path.string());
    const absl::StatusOr<MappedFile> file = MappedFile::Open(path.string());
    ASSERT_TRUE(file.ok()) << file.status();
    const absl::StatusOr<std::unique_ptr<Module>> read = ReadTbc(file->bytes(), path.string());
    ASSERT_TRUE(read.ok()) << read.status();

    fs::path text_path = path;
    text_path.replace_extension(".tile");
    std::stringstream text;
    text << std::ifstream(text_path).rdbuf();
    Diagnostics diags;
    const std::unique_ptr<Module> parsed = Parse(text.str(), text_path.string(), &diags);
    ASSERT_NE(parsed, nullptr) << diags.ToString();
    EXPECT_EQ(FirstDifference(*parsed, **read, {.producer = false}), "");

    // No file says a newer version than the one that froze it, nor does writing it again.
    const std::string version = path.parent_path().filename().string();
    const auto info = InspectTbc(file->bytes());
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(info->version.ToString(), version);
    const auto again = WriteTbc(**read, {.target_version = info->version});
    ASSERT_TRUE(again.ok()) << again.status();
    const auto reread = ReadTbc({reinterpret_cast<const uint8_t*>(again->data()), again->size()}, "again");
    ASSERT_TRUE(reread.ok()) << reread.status();
    EXPECT_EQ(FirstDifference(**read, **reread), "");
  }
}

}  // namespace
}  // namespace tile::ir
