// Runs the kernels of this folder under --check=full. A file tells in comments how it is run and what must be found:
//
//   // run: grid=2,1,1 x=f32[64]:iota out=f32[64] n=50
//   // expect: 12: vm.race: the whole message
//
// After the grid come the parameters of the first kernel in order: NAME=TYPE[COUNT] is a buffer, without initial contents
// unless `:zeros`, `:ones` or `:iota` follows; NAME=TYPE is a buffer of one element; NAME=NUMBER a scalar. A buffer with
// `:in`, `:out` or `:inout` is an array argument of the interface; an `out` with contents has an initial value. It is all of
// the buffer, or has the sizes `:shape=4x8` and strides `:strides=16x1`. `expect` gives line, code and message of the first
// report, and " (ORDER)" if the blocks must start in another order than the linear one. Without it nothing must be found,
// and the buffers must hold in the end what a run without these checks leaves there. `warn` gives the warnings likewise.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "ir/float.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"
#include "tests/harness/tile_files.h"
#include "vm/vm.h"

namespace tile {
namespace {

const std::vector<std::string> kFiles = TileFiles("tests/checks");

struct Param {
  std::string name;
  ir::Elem elem = ir::Elem::kI32;
  int64_t count = 0;
  std::string contents;
  std::optional<ir::Direction> direction;
  std::vector<int64_t> shape, strides;
  bool scalar = false;
  uint64_t value = 0;
  std::vector<uint64_t> memory;  // of a buffer; 8-byte aligned
};

struct Case {
  std::string text, name;
  int64_t grid[3] = {1, 1, 1};
  std::vector<Param> params;
  std::vector<std::string> expected, warnings;
};

void Fill(Param& p) {
  const auto bytes = static_cast<size_t>(ir::StorageBytes(p.elem));
  p.memory.assign((static_cast<size_t>(p.count) * bytes + 7) / 8, 0xA5A5A5A5A5A5A5A5);
  if (p.contents.empty()) return;
  for (int64_t i = 0; i < p.count; ++i) {
    const int64_t v = p.contents == "iota" ? i : p.contents == "ones";
    const uint64_t bits =
        ir::IsFloat(p.elem) ? ir::FromDouble(p.elem, static_cast<double>(v)) : static_cast<uint64_t>(v);
    std::memcpy(reinterpret_cast<char*>(p.memory.data()) + static_cast<size_t>(i) * bytes, &bits, bytes);
  }
}

bool ParseSizes(absl::string_view text, std::vector<int64_t>* sizes) {
  for (absl::string_view part : absl::StrSplit(text, 'x')) {
    if (!absl::SimpleAtoi(part, &sizes->emplace_back())) return false;
  }
  return true;
}

// What follows a colon.
bool ParseProperty(absl::string_view text, Param* p) {
  if (absl::ConsumePrefix(&text, "shape=")) return ParseSizes(text, &p->shape);
  if (absl::ConsumePrefix(&text, "strides=")) return ParseSizes(text, &p->strides);
  if (text == "zeros" || text == "ones" || text == "iota") {
    p->contents = std::string(text);
    return true;
  }
  p->direction = text == "in" ? ir::Direction::kIn : text == "out" ? ir::Direction::kOut : ir::Direction::kInOut;
  return text == "in" || text == "out" || text == "inout";
}

bool ParseParam(absl::string_view word, Param* p) {
  const std::vector<std::string> sides = absl::StrSplit(word, absl::MaxSplits('=', 1));
  if (sides.size() != 2) return false;
  p->name = sides[0];
  int64_t number = 0;
  if (absl::SimpleAtoi(sides[1], &number)) {
    p->scalar = true;
    p->value = static_cast<uint64_t>(number);
    return true;
  }
  const std::vector<std::string> parts = absl::StrSplit(sides[1], ':');
  for (size_t i = 1; i < parts.size(); ++i) {
    if (!ParseProperty(parts[i], p)) return false;
  }
  std::string type = parts[0];
  p->count = 1;
  if (const size_t open = type.find('['); open != std::string::npos) {
    if (!absl::SimpleAtoi(type.substr(open + 1, type.size() - open - 2), &p->count)) return false;
    type.resize(open);
  }
  const auto elem = ir::FindElem(type);
  if (elem) p->elem = *elem;
  if (p->shape.empty()) p->shape = {p->count};
  return elem.has_value();
}

bool ParseCase(const std::string& path, Case* c) {
  c->text = ReadFile(path);
  c->name = StemOf(path) + ".tile";
  bool runs = false;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(c->text, '\n'))) {
    if (line.rfind("// expect: ", 0) == 0) c->expected.push_back(line.substr(11));
    if (line.rfind("// warn: ", 0) == 0) c->warnings.push_back(line.substr(9));
    if (line.rfind("// run: ", 0) != 0) continue;
    runs = true;
    for (const std::string& word : std::vector<std::string>(absl::StrSplit(line.substr(8), ' ', absl::SkipEmpty()))) {
      if (word.rfind("grid=", 0) == 0) {
        const std::vector<std::string> sizes = absl::StrSplit(word.substr(5), ',');
        for (size_t i = 0; i < sizes.size() && i < 3; ++i) {
          if (!absl::SimpleAtoi(sizes[i], &c->grid[i])) return false;
        }
        continue;
      }
      c->params.emplace_back();
      if (!ParseParam(word, &c->params.back())) return false;
    }
  }
  return runs;
}

vm::Outcome RunCase(Case& c, const ir::Module& module, vm::CheckLevel level) {
  vm::Outcome failed;
  auto program = vm::Program::Prepare(module, module.functions[0]->name);
  if (!program.ok()) {
    failed.status = program.status();
    return failed;
  }
  vm::Launch launch;
  std::copy(c.grid, c.grid + 3, launch.grid);
  launch.check = level;
  launch.threads = 1;
  launch.max_rounds = 1 << 20;
  launch.print = [](absl::string_view) {};
  for (Param& p : c.params) {
    if (p.scalar) {
      launch.params.push_back(p.value);
      continue;
    }
    Fill(p);
    launch.params.push_back(reinterpret_cast<uintptr_t>(p.memory.data()));
    vm::Buffer b;
    b.name = p.name;
    b.address = p.memory.data();
    b.bytes = static_cast<uint64_t>(p.count * ir::StorageBytes(p.elem));
    b.element = ir::Element::Number(p.elem);
    b.shape = {p.count};
    b.initialized = !p.contents.empty();
    if (p.direction) {
      const bool initialized = *p.direction != ir::Direction::kOut || b.initialized;
      launch.arrays.push_back({p.name, b.address, b.element, p.shape, p.strides, *p.direction, initialized});
    }
    launch.buffers.push_back(std::move(b));
  }
  return (*program)->Run(launch);
}

// "line: code: message" of a report.
std::string Short(const vm::Report& r) {
  const std::vector<std::string> where = absl::StrSplit(r.where, ':');
  return absl::StrCat(where.size() > 1 ? where[1] : r.where, ": ", r.code, ": ", r.message,
                      r.order.empty() ? "" : absl::StrCat(" (", r.order, ")"));
}

class Checks : public testing::TestWithParam<std::string> {};

TEST_P(Checks, FindsWhatTheFileSays) {
  Case c;
  ASSERT_TRUE(ParseCase(GetParam(), &c)) << "no `// run:` line, or one that is not understood";
  ir::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module = ir::Parse(c.text, c.name, &diagnostics);
  ASSERT_NE(module, nullptr) << diagnostics.ToString();
  ir::Verify(*module, &diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.ToString();
  ASSERT_EQ(module->functions.size(), 1u);

  const vm::Outcome outcome = RunCase(c, *module, vm::CheckLevel::kFull);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.ToString();
  ASSERT_EQ(outcome.warnings.size(), c.warnings.size()) << (outcome.warnings.empty() ? "" : Short(outcome.warnings[0]));
  for (size_t i = 0; i < c.warnings.size(); ++i) EXPECT_EQ(Short(outcome.warnings[i]), c.warnings[i]);
  std::string all;
  for (const vm::Report& r : outcome.reports) absl::StrAppend(&all, Short(r), "\n");
  if (!c.expected.empty()) {
    ASSERT_EQ(outcome.reports.size(), c.expected.size()) << all;
    for (size_t i = 0; i < c.expected.size(); ++i) EXPECT_EQ(Short(outcome.reports[i]), c.expected[i]);
    return;
  }
  ASSERT_TRUE(outcome.reports.empty()) << all;
  std::vector<std::vector<uint64_t>> checked;
  for (const Param& p : c.params) checked.push_back(p.memory);
  const vm::Outcome plain = RunCase(c, *module, vm::CheckLevel::kBounds);
  ASSERT_TRUE(plain.ok());
  for (size_t i = 0; i < c.params.size(); ++i) {
    // Where blocks race for the order of atomics, one order is the same on one thread.
    EXPECT_EQ(c.params[i].memory, checked[i]) << "`" << c.params[i].name << "` differs under --check=full";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Checks, testing::ValuesIn(kFiles), TileFileName);

TEST(ChecksFolder, NamesTellWhetherThereIsAMistake) {
  EXPECT_GT(kFiles.size(), 40u);
  for (const std::string& file : kFiles) {
    const bool correct = file.ends_with("_ok.tile");
    Case c;
    ASSERT_TRUE(ParseCase(file, &c));
    EXPECT_EQ(c.expected.empty() && c.warnings.empty(), correct) << file << ": `_ok` means that nothing is found";
  }
}

}  // namespace
}  // namespace tile
