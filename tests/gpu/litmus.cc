#include "tests/gpu/litmus.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tile::ops {
namespace {

absl::Status Wrong(absl::string_view line) {
  return absl::InvalidArgumentError(absl::StrCat("cannot read: ", std::string(line)));
}

// NAME=NUMBER …
bool ParsePairs(absl::string_view text, std::vector<std::pair<std::string, int64_t>>* pairs) {
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> sides = absl::StrSplit(word, absl::MaxSplits('=', 1));
    int64_t n = 0;
    if (sides.first.empty() || !absl::SimpleAtoi(sides.second, &n)) return false;
    pairs->push_back({sides.first, n});
  }
  return !pairs->empty();
}

int32_t At(const Memory& m, int64_t i) {
  int32_t v;
  std::memcpy(&v, m.array.bytes.data() + 4 * i, 4);
  return v;
}

const Memory* Find(const Arguments& a, const std::string& name) {
  for (const Memory& m : a.memories) {
    if (m.name == name) return &m;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::vector<LitmusTest>> ParseLitmus(absl::string_view text) {
  std::vector<std::string> lines, scopes;
  std::string code;
  for (absl::string_view l : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&l, "//")) {
      absl::StrAppend(&code, l, "\n");
    } else if (absl::StartsWith(l, "   ") && !lines.empty()) {
      absl::StrAppend(&lines.back(), " ", absl::StripAsciiWhitespace(l));
    } else {
      lines.emplace_back(absl::StripAsciiWhitespace(l));
    }
  }
  LitmusTest base;
  std::vector<std::pair<std::string, std::string>> weaker = {{"", ""}};
  for (const std::string& line : lines) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string kind = line.substr(0, colon), rest = line.substr(colon + 2);
    std::vector<std::pair<std::string, int64_t>> pairs;
    if (kind == "blocks") {
      if (!absl::SimpleAtoi(rest, &base.blocks) || base.blocks < 1) return Wrong(line);
    } else if (kind == "scopes") {
      scopes = absl::StrSplit(rest, ' ', absl::SkipEmpty());
    } else if (kind == "forbidden") {
      if (!ParsePairs(rest, &base.forbidden)) return Wrong(line);
    } else if (kind == "total") {
      base.total = rest;
    } else if (kind == "size" || kind == "of test") {
      if (!ParsePairs(rest, &pairs)) return Wrong(line);
      (kind == "size" ? base.of_round : base.of_test).insert(pairs.begin(), pairs.end());
    } else if (absl::StartsWith(kind, "weaker ")) {
      weaker.push_back({kind, rest});
    }
  }
  if (base.blocks == 0 || scopes.empty() || base.forbidden.empty() == base.total.empty()) {
    return absl::InvalidArgumentError("a litmus test needs blocks, scopes, and either forbidden or total");
  }
  std::vector<LitmusTest> tests;
  for (const std::string& scope : scopes) {
    for (const auto& [name, rules] : weaker) {
      LitmusTest t = base;
      t.name = name.empty() ? scope : absl::StrCat(scope, ", ", name);
      t.weaker = !name.empty();
      t.text = code;
      for (absl::string_view rule : absl::StrSplit(rules, ';', absl::SkipWhitespace())) {
        const std::pair<std::string, std::string> sides = absl::StrSplit(rule, absl::MaxSplits(" => ", 1));
        const std::string from(absl::StripAsciiWhitespace(sides.first)), to(absl::StripAsciiWhitespace(sides.second));
        if (from.empty() || absl::StrReplaceAll({{from, to}}, &t.text) == 0) return Wrong(rule);
      }
      absl::StrReplaceAll({{"SCOPE", scope}}, &t.text);
      tests.push_back(std::move(t));
    }
  }
  return tests;
}

std::string LitmusCounts::ToString() const {
  std::string text;
  for (const auto& [outcome, n] : outcomes) absl::StrAppend(&text, text.empty() ? "" : ", ", outcome, ": ", n);
  return text;
}

absl::StatusOr<Arguments> LitmusArguments(const LitmusTest& test, const ir::Function& function, int64_t rounds,
                                          int64_t tests) {
  Arguments a;
  a.grid[0] = test.blocks * tests;
  for (int i = 0; i < function.num_params(); ++i) {
    const ir::Value* p = function.param(i);
    const std::string name(p->name);
    if (!p->type().element().is_pointer()) {
      if (name != "rounds" && name != "tests") return absl::InvalidArgumentError(absl::StrCat("parameter ", name));
      a.params.push_back({-1, static_cast<uint64_t>(name == "rounds" ? rounds : tests)});
      continue;
    }
    int64_t count = tests * rounds;
    if (const auto it = test.of_round.find(name); it != test.of_round.end()) count *= it->second;
    if (const auto it = test.of_test.find(name); it != test.of_test.end()) count = tests * it->second;
    Memory m;
    m.name = name;
    auto array = tools::Array::Make(ir::Element::Number(p->type().element().pointee), {count});
    if (!array.ok()) return array.status();
    m.array = *std::move(array);
    std::memset(m.array.bytes.data(), 0, m.array.bytes.size());
    a.params.push_back({static_cast<int>(a.memories.size()), 0});
    a.memories.push_back(std::move(m));
  }
  std::vector<std::string> counted;
  for (const auto& [name, value] : test.forbidden) counted.push_back(name);
  if (!test.total.empty()) counted.push_back(test.total);
  for (const std::string& name : counted) {
    const Memory* m = Find(a, name);
    if (m == nullptr || m->array.element.kind != ir::Elem::kI32)
      return absl::InvalidArgumentError(absl::StrCat("no array of i32 ", name));
  }
  return a;
}

void CountOutcomes(const LitmusTest& test, const Arguments& arguments, int64_t rounds, int64_t tests,
                   LitmusCounts* counts) {
  counts->runs += rounds * tests;
  if (!test.total.empty()) {
    const Memory* m = Find(arguments, test.total);
    int64_t lost = 0;
    for (int64_t i = 0; i < m->array.count(); ++i) lost += rounds * test.blocks - At(*m, i);
    counts->forbidden += lost;
    counts->outcomes["counted"] += rounds * test.blocks * m->array.count() - lost;
    counts->outcomes["lost"] += lost;
    return;
  }
  std::vector<const Memory*> seen;
  for (const auto& [name, value] : test.forbidden) seen.push_back(Find(arguments, name));
  for (int64_t i = 0; i < rounds * tests; ++i) {
    bool forbidden = true;
    std::string outcome;
    for (size_t k = 0; k < seen.size(); ++k) {
      const int32_t v = At(*seen[k], i);
      forbidden &= v == test.forbidden[k].second;
      absl::StrAppend(&outcome, k == 0 ? "" : " ", test.forbidden[k].first, "=", v);
    }
    counts->forbidden += forbidden;
    ++counts->outcomes[outcome];
  }
}

}  // namespace tile::ops
