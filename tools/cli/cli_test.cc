// What the tables of options give besides help, and diagnostics as JSON.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli/completion.h"
#include "tools/cli/diagnostic_json.h"
#include "tools/cli/manual.h"
#include "tools/cli/options.h"
#include "tools/cli/source_lines.h"

namespace tile::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

int Nothing(const Options&) { return kOk; }
std::vector<std::string> Colors() { return {"red", "green"}; }

const Command kPaint = {"paint",
                        "FILE",
                        "paints [it] 'all': now",
                        {{"check", 'c', "none|bounds|full", "how much"},
                         {"images", 0, "FILE|FOLDER", "where"},
                         {"device", 0, "cpu|cuda[:N]|auto", "on what"},
                         {"json", 0, nullptr, "as JSON", true}},
                        ".starts like a request\n'and so\\does this\n",
                        &Nothing};
const Command kMix = {"mix", "NAME…", "mixes", {}, "", &Nothing, &Colors};
const Tool kTool = {"brush", "brush: a tool\n  and more of it\n", {&kPaint, &kMix}};

std::string ErrorOf(const std::vector<std::string>& args) {
  return std::string(Options::Parse(kPaint, args).status().message());
}

TEST(Options, MisspelledOnesAreNamed) {
  EXPECT_EQ(ErrorOf({"--chekc", "none"}),
            "unknown option --chekc\n  fix: did you mean --check? `paint --help` lists them");
  EXPECT_EQ(ErrorOf({"-json"}), "unknown option -json\n  fix: did you mean --json? `paint --help` lists them");
  EXPECT_EQ(ErrorOf({"--hepl"}), "unknown option --hepl\n  fix: did you mean --help? `paint --help` lists them");
  EXPECT_EQ(ErrorOf({"--quite-another"}), "unknown option --quite-another\n  fix: `paint --help` lists them");
  EXPECT_EQ(ErrorOf({"-x"}), "unknown option -x\n  fix: `paint --help` lists them");
}

TEST(Options, WordsOfValues) {
  EXPECT_THAT(ValueWords(kPaint.options[0]), ElementsAre("none", "bounds", "full"));
  EXPECT_THAT(ValueWords(kPaint.options[1]), IsEmpty());
  EXPECT_THAT(ValueWords(kPaint.options[2]), ElementsAre("cpu", "cuda", "auto"));
  EXPECT_THAT(ValueWords(kPaint.options[3]), IsEmpty());
}

// What bash offers for a line of words, of which the last is being typed.
std::string Completed(const std::vector<std::string>& words) {
  std::string line = "COMP_WORDS=(";
  for (const std::string& w : words) absl::StrAppend(&line, "'", w, "' ");
  const std::string script = absl::StrCat(BashCompletion(kTool), line, ")\nCOMP_CWORD=", words.size() - 1,
                                          "\n_brush\necho \"${COMPREPLY[*]}\"\n");
  const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/completion.sh");
  FILE* file = std::fopen(path.c_str(), "w");
  std::fputs(script.c_str(), file);
  std::fclose(file);
  FILE* out = popen(absl::StrCat("bash ", path, " 2>&1").c_str(), "r");
  std::string said;
  for (int c; (c = std::fgetc(out)) != EOF;) said += static_cast<char>(c);
  pclose(out);
  return said;
}

TEST(Completion, Bash) {
  EXPECT_EQ(Completed({"brush", ""}), "paint mix help completion manual\n");
  EXPECT_EQ(Completed({"brush", "p"}), "paint\n");
  EXPECT_EQ(Completed({"brush", "--"}), "--help --version\n");
  EXPECT_EQ(Completed({"brush", "paint", "--"}), "--check --images --device --json --help\n");
  EXPECT_EQ(Completed({"brush", "paint", "--c"}), "--check\n");
  EXPECT_EQ(Completed({"brush", "paint", "--check", ""}), "none bounds full\n");
  EXPECT_EQ(Completed({"brush", "paint", "-c", "f"}), "full\n");
  // Bash takes --check=fu apart.
  EXPECT_EQ(Completed({"brush", "paint", "--check", "=", "fu"}), "full\n");
  EXPECT_EQ(Completed({"brush", "paint", "--device", "="}), "cpu cuda auto\n");
  // Nothing of our own: readline completes files.
  EXPECT_EQ(Completed({"brush", "paint", ""}), "\n");
  EXPECT_EQ(Completed({"brush", "paint", "--images", ""}), "\n");
  EXPECT_EQ(Completed({"brush", "mix", "g"}), "green\n");
  EXPECT_EQ(Completed({"brush", "help", "m"}), "mix manual\n");
  EXPECT_EQ(Completed({"brush", "completion", ""}), "bash zsh\n");
}

TEST(Completion, OtherwiseACommandIsAssumed) {
  Tool tool = kTool;
  tool.otherwise = &kPaint;
  EXPECT_THAT(BashCompletion(tool), HasSubstr("*) command=paint"));
  EXPECT_THAT(ZshCompletion(tool), HasSubstr("command=paint"));
}

TEST(Completion, Zsh) {
  const std::string script = ZshCompletion(kTool);
  EXPECT_EQ(script.find("#compdef brush\n"), 0u);
  EXPECT_THAT(script, HasSubstr("'paint:paints \\[it\\] '\\''all'\\''\\: now'"));
  EXPECT_THAT(script, HasSubstr("'--check=[how much]:none|bounds|full:(none bounds full)'"));
  EXPECT_THAT(script, HasSubstr("'-c+[how much]:none|bounds|full:(none bounds full)'"));
  EXPECT_THAT(script, HasSubstr("'--images=[where]:FILE|FOLDER:_files'"));
  EXPECT_THAT(script, HasSubstr("'*--json[as JSON]'"));
  EXPECT_THAT(script, HasSubstr("'*:name:(red green)'"));
}

TEST(Manual, NothingIsTakenForMarkup) {
  const std::string page = ManualPage(kTool);
  EXPECT_THAT(page, HasSubstr(".SH NAME\nbrush \\- a tool\n"));
  EXPECT_THAT(page, HasSubstr(".TP\n.B \\-c, \\-\\-check none|bounds|full\nhow much\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.starts like a request\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&\\(aqand so\\edoes this\n"));
  EXPECT_THAT(page, HasSubstr(".SH \"EXIT STATUS\"\n0 ok"));
}

TEST(SourceLines, OfEveryPlaceThatIsNamed) {
  const std::string folder = testing::TempDir();
  const std::string file = absl::StrCat(folder, "/k.tile"), secret = absl::StrCat(folder, "/secret");
  for (const std::string& name : {file, secret}) std::ofstream(name) << "one\n  two %x\n\tthree\n";
  const auto with = [&](absl::string_view text) {
    return WithSourceLines(absl::StrReplaceAll(text, {{"FILE", file}, {"SECRET", secret}}));
  };
  const auto same = [&](absl::string_view text) {
    return with(text) == absl::StrReplaceAll(text, {{"FILE", file}, {"SECRET", secret}});
  };
  EXPECT_EQ(with("FILE:2:3: error[a.b]: wrong\n  fix: right"),
            absl::StrCat(file, ":2:3: error[a.b]: wrong\n      two %x\n      ^\n  fix: right"));
  EXPECT_EQ(with("FILE:1:1: warning[a.b]: after FILE:9:1, at FILE:3:2 (x), at FILE:1:1"),
            absl::StrCat(file, ":1:1: warning[a.b]: after ", file, ":9:1, at ", file, ":3:2 (x), at ", file,
                         ":1:1\n    one\n    ^\n  ", file, ":3:2:\n    \tthree\n    \t^"));
  EXPECT_EQ(with("FILE:2:0: error[a.b]: wrong"), absl::StrCat(file, ":2:0: error[a.b]: wrong\n      two %x\n      ^"));
  EXPECT_EQ(
      with("FILE:2:3: error[a.b]: wrong\n  in kernel `k`\n  fix: right\nand so on"),
      absl::StrCat(file, ":2:3: error[a.b]: wrong\n  in kernel `k`\n      two %x\n      ^\n  fix: right\nand so on"));
  // Shown already, not there, no source, no place.
  EXPECT_TRUE(same("FILE:2:3: error[a.b]: wrong\n      two %x\n      ^"));
  EXPECT_TRUE(same("FILE:9:1: error[a.b]: wrong"));
  EXPECT_TRUE(same("FILE:1:9: error[a.b]: wrong"));
  EXPECT_TRUE(same("SECRET:1:1: error[a.b]: wrong at SECRET:2:1"));
  EXPECT_TRUE(same("FILE: error[a.b]: wrong"));
  EXPECT_TRUE(same("error[a.b]: wrong\nFILE:1:1: and so on"));
  EXPECT_TRUE(same(""));
}

TEST(Diagnostics, AsJson) {
  const std::vector<PrintedDiagnostic> all = ParseDiagnostics(
      "some note\n"
      "dir/a:b.tile:12:7: error[addf.c6]: the types differ\n"
      "  %b = addf %a, %c\n"
      "       ^\n"
      "  fix: convert one\n"
      "x.tbc: warning[type.c14]: strange \"text\"\n"
      "error[usage]: no input file\n"
      "x.tile:3:1: error[vm.assert]: error[no.code]: said the kernel\n");
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(
      DiagnosticsJson({all[0]}),
      "[{\"severity\":\"error\",\"code\":\"addf.c6\",\"file\":\"dir/a:b.tile\",\"line\":12,\"col\":7,"
      "\"message\":\"the types differ\",\"fix\":\"convert one\",\"details\":\"  %b = addf %a, %c\\u000a       ^\"}]");
  EXPECT_EQ(DiagnosticsJson({all[1], all[2]}),
            "[{\"severity\":\"warning\",\"code\":\"type.c14\",\"file\":\"x.tbc\",\"line\":null,\"col\":null,"
            "\"message\":\"strange \\\"text\\\"\",\"fix\":null,\"details\":null},"
            "{\"severity\":\"error\",\"code\":\"usage\",\"file\":null,\"line\":null,\"col\":null,"
            "\"message\":\"no input file\",\"fix\":null,\"details\":null}]");
  EXPECT_EQ(all[3].code, "vm.assert");
  EXPECT_EQ(all[3].message, "error[no.code]: said the kernel");
  EXPECT_EQ(DiagnosticsJson({}), "[]");
}

// JSON is UTF-8, whatever a file's name is.
TEST(Diagnostics, BytesThatAreNotUtf8) {
  const std::vector<PrintedDiagnostic> all = ParseDiagnostics("\xff.tile:1:2: error[x]: \x1b[2J \xc3\n");
  EXPECT_THAT(DiagnosticsJson(all), HasSubstr("\"file\":\"\\\\xff.tile\",\"line\":1"));
  EXPECT_THAT(DiagnosticsJson(all), HasSubstr("\"message\":\"\\\\x1b[2J \\\\xc3\""));
}

}  // namespace
}  // namespace tile::tools
