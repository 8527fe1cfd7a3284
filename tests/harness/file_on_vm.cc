#include "tests/harness/file_on_vm.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "tests/harness/announced.h"
#include "tests/harness/on_vm.h"
#include "tests/harness/tile_files.h"

namespace tile::ops {
namespace {

void ExpectRejected(const std::string& text, std::vector<Announced> expected) {
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(text, "file", &diagnostics);
  if (module != nullptr) ir::Verify(*module, &diagnostics);
  ExpectAnnounced("file", std::move(expected), diagnostics);
}

struct Setting {
  vm::CheckLevel level;
  int threads;
};

void ExpectResults(const std::string& path, const std::string& text) {
  const absl::StatusOr<std::vector<Variant>> variants = ParseOpFile(text);
  ASSERT_TRUE(variants.ok()) << variants.status();
  std::set<std::string> run;
  for (const Variant& v : *variants) {
    SCOPED_TRACE(v.name.empty() ? path : absl::StrCat(path, " with ", v.name));
    ir::Diagnostics diagnostics;
    const std::unique_ptr<ir::Module> module = ir::Parse(v.text, path, &diagnostics);
    ASSERT_NE(module, nullptr) << diagnostics.ToString();
    ir::Verify(*module, &diagnostics);
    ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString();
    for (const Call& call : v.calls) {
      run.insert(call.kernel);
      for (const Setting& s : {Setting{vm::CheckLevel::kBounds, 1}, Setting{vm::CheckLevel::kBounds, 2},
                               Setting{vm::CheckLevel::kNone, 2}, Setting{vm::CheckLevel::kFull, 1}}) {
        // Without checks a kernel that traps may do anything.
        if (s.level == vm::CheckLevel::kNone && !call.trap.empty()) continue;
        // What a race gives on several threads is not defined, and ThreadSanitizer would find it.
        if (s.threads > 1 && absl::StartsWith(call.full_trap, "vm.race")) continue;
        EXPECT_EQ(RunCall(*module, call, s.level == vm::CheckLevel::kFull, OnVm(s.level, s.threads)), "")
            << "line " << call.line << ", " << s.threads << " threads, check level " << static_cast<int>(s.level);
      }
    }
  }
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(text, path, &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  for (const auto& f : module->functions) EXPECT_EQ(run.count(std::string(f->name)), 1u) << f->name << " is never run";
}

}  // namespace

void ExpectFileHolds(const std::string& path) {
  const std::string text = ReadFile(path);
  std::vector<Announced> rejections = ParseAnnounced(text);
  if (rejections.empty()) {
    ExpectResults(path, text);
  } else {
    ExpectRejected(text, std::move(rejections));
  }
}

}  // namespace tile::ops
