// Runs the files of this folder, which show the rules of the documents that the operations come from
// (tests/source-coverage.md says which rule stands where). A file is either of the form of tests/ops/op_file.h, or, if
// it says `// error: code: text` or `// warning: …` behind lines, a program on which the parser or the verifier must
// report exactly that.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify.h"
#include "tests/ops/op_file.h"
#include "vm/vm.h"

namespace tile::ops {
namespace {

constexpr char kFolder[] = "tests/source";

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream buffer;
  buffer << file.rdbuf();
  return buffer.str();
}

std::vector<std::string> Files() {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, error)) {
    if (entry.path().extension() == ".tile") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Rejection {
  int line = 0;
  std::string severity, code, text;
};

std::vector<Rejection> Rejections(const std::string& text) {
  std::vector<Rejection> all;
  int line = 0;
  for (absl::string_view l : absl::StrSplit(text, '\n')) {
    ++line;
    const std::vector<absl::string_view> comments = absl::StrSplit(l, "//");
    for (size_t i = 1; i < comments.size(); ++i) {
      const std::vector<absl::string_view> parts = absl::StrSplit(comments[i], absl::MaxSplits(": ", 2));
      const absl::string_view severity = absl::StripAsciiWhitespace(parts[0]);
      if (parts.size() < 3 || (severity != "error" && severity != "warning")) continue;
      const absl::string_view message = absl::StripAsciiWhitespace(parts[2]);
      all.push_back({line, std::string(severity), std::string(parts[1]), std::string(message)});
    }
  }
  return all;
}

void ExpectRejected(const std::string& path, const std::string& text, std::vector<Rejection> expected) {
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(text, "file", &diagnostics);
  if (module != nullptr) ir::Verify(*module, &diagnostics);
  for (const ir::Diagnostic& got : diagnostics.list()) {
    const auto it = std::find_if(expected.begin(), expected.end(), [&](const Rejection& r) {
      const bool is_error = got.severity == ir::Severity::kError;
      return absl::StartsWith(got.where, absl::StrCat("file:", r.line, ":")) && r.code == got.code &&
             absl::StrContains(got.message, r.text) && (r.severity == "error") == is_error;
    });
    if (it == expected.end()) {
      ADD_FAILURE() << path << " does not announce " << got.ToString();
    } else {
      expected.erase(it);
    }
  }
  for (const Rejection& r : expected) {
    ADD_FAILURE() << path << ":" << r.line << ": not reported: " << r.code << ": " << r.text;
  }
}

struct Setting {
  vm::CheckLevel level;
  int threads;
};

Answer RunOnVm(const ir::Module& module, absl::string_view kernel, Arguments* arguments, const Setting& setting) {
  Answer answer;
  auto program = vm::Program::Prepare(module, kernel);
  if (!program.ok()) {
    answer.refused = program.status();
    return answer;
  }
  vm::Launch launch;
  std::copy(arguments->grid, arguments->grid + 3, launch.grid);
  launch.check = setting.level;
  launch.threads = setting.threads;
  launch.max_rounds = 1 << 20;
  launch.print = [&](absl::string_view text) { absl::StrAppend(&answer.printed, text); };
  for (Memory& m : arguments->memories) {
    launch.buffers.push_back({m.name, m.array.bytes.data(), m.array.bytes.size(), m.array.element, m.array.shape,
                              m.initialized});
  }
  for (const Param& p : arguments->params) {
    launch.params.push_back(
        p.memory < 0 ? p.bits : reinterpret_cast<uintptr_t>(launch.buffers[static_cast<size_t>(p.memory)].data));
  }
  const vm::Outcome outcome = (*program)->Run(launch);
  answer.refused = outcome.status;
  for (const vm::Report& r : outcome.reports) {
    answer.reports.push_back(absl::StrCat(r.code, ": ", r.message, " at ", r.where));
  }
  return answer;
}

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
        const Engine engine = [s](const ir::Module& m, absl::string_view kernel, Arguments* arguments) {
          return RunOnVm(m, kernel, arguments, s);
        };
        EXPECT_EQ(RunCall(*module, call, s.level == vm::CheckLevel::kFull, engine), "")
            << "line " << call.line << ", " << s.threads << " threads, check level " << static_cast<int>(s.level);
      }
    }
  }
  ir::Diagnostics diagnostics;
  const std::unique_ptr<ir::Module> module = ir::Parse(text, path, &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  for (const auto& f : module->functions) EXPECT_EQ(run.count(std::string(f->name)), 1u) << f->name << " is never run";
}

class Source : public testing::TestWithParam<std::string> {};

TEST_P(Source, DoesWhatTheFileSays) {
  const std::string text = Read(GetParam());
  std::vector<Rejection> rejections = Rejections(text);
  if (rejections.empty()) {
    ExpectResults(GetParam(), text);
  } else {
    ExpectRejected(GetParam(), text, std::move(rejections));
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Source, testing::ValuesIn(Files()),
                         [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

}  // namespace
}  // namespace tile::ops
