// Every file of a corpus of real modules, taken through every form that a program has here. TILEVM_CORPUS names the
// folder; it is searched for *.tilebc, and without it the tests are skipped:
//
//   bazel test //ir/tileir:corpus_test --test_env=TILEVM_CORPUS=/path/to/corpus

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "ir/compare.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/tileir/reader.h"
#include "ir/tileir/writer.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

absl::Span<const uint8_t> Span(const std::string& s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("TILEVM_CORPUS");
    if (folder == nullptr) GTEST_SKIP() << "TILEVM_CORPUS is not set";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".tilebc") files_.push_back(entry.path().string());
    }
    std::sort(files_.begin(), files_.end());
    ASSERT_FALSE(files_.empty()) << folder << " has no *.tilebc";
  }

  // Calls check(module, info) for each file; what it returns is an error, of which the first few are shown.
  void ForEach(const std::function<std::string(Module&, const TileIrInfo&)>& check) {
    int failed = 0;
    for (const std::string& path : files_) {
      std::ifstream file(path, std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), {});
      TileIrInfo info;
      auto m = ReadTileIr(Span(bytes), path, &info);
      const std::string error = m.ok() ? check(**m, info) : std::string(m.status().message());
      if (!error.empty() && ++failed <= 5) ADD_FAILURE() << path << ": " << error;
    }
    EXPECT_EQ(failed, 0) << "of " << files_.size() << " files";
  }

  std::vector<std::string> files_;
};

TEST_F(Corpus, Verifies) {
  ForEach([](Module& m, const TileIrInfo&) {
    Diagnostics d;
    Verify(m, &d);
    return d.ok() ? "" : d.ToString();
  });
}

TEST_F(Corpus, SurvivesTileIr) {
  ForEach([](Module& m, const TileIrInfo& info) {
    for (int version = info.version; version <= 1305; ++version) {
      auto bytes = WriteTileIr(m, version);
      if (!bytes.ok()) return std::string(bytes.status().message());
      auto again = ReadTileIr(Span(*bytes), m.source_name);
      if (!again.ok()) return std::string(again.status().message());
      std::string difference = FirstDifference(m, **again);
      if (!difference.empty()) return difference;
    }
    return std::string();
  });
}

TEST_F(Corpus, SurvivesTbcAndText) {
  ForEach([](Module& m, const TileIrInfo&) {
    auto bytes = WriteTbc(m);
    if (!bytes.ok()) return std::string(bytes.status().message());
    auto from_tbc = ReadTbc(Span(*bytes), "t.tbc");
    if (!from_tbc.ok()) return std::string(from_tbc.status().message());
    if (std::string d = FirstDifference(m, **from_tbc); !d.empty()) return "tbc: " + d;

    const std::string text = Print(m);
    Diagnostics diagnostics;
    auto from_text = Parse(text, "t.tile", &diagnostics);
    if (from_text == nullptr) return diagnostics.ToString();
    if (std::string d = FirstDifference(m, *from_text); !d.empty()) return "text: " + d;
    auto again = WriteTbc(*from_text);
    if (!again.ok()) return std::string(again.status().message());
    return std::string(*again == *bytes ? "" : "text gives other .tbc bytes");
  });
}

// 13.5 changed the container only: the same kernel, exported at both versions, is the same program.
TEST_F(Corpus, Version13_4And13_5AreTheSameProgram) {
  std::map<std::string, std::string> older;
  int pairs = 0;
  const auto stem = [](const Module& m) { return m.name.substr(0, m.name.find(".13.")); };
  ForEach([&](Module& m, const TileIrInfo& info) -> std::string {
    if (m.name.find(".13.") == std::string::npos || info.version < 1304) return "";
    const std::string key = stem(m);
    m.name = key;
    const std::string text = Print(m);
    if (info.version == 1304) {
      older[key] = text;
      return "";
    }
    const auto it = older.find(key);
    if (it == older.end()) return "";
    ++pairs;
    return it->second == text ? "" : "differs from the 13.4 file";
  });
  EXPECT_GT(pairs, 0);
}

}  // namespace
}  // namespace tile::ir
