// Parsing of the annotations; op_run.cc binds and compares.
#include "tests/harness/op_file.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace tile::ops {
namespace {

constexpr int64_t kMaxValues = 1 << 20;

struct Line {
  int number;
  std::string text;
};

absl::Status Wrong(int line, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
}

// Appends what one word of a list stands for: 5, 5*8 or 0..15.
bool AppendValues(absl::string_view word, std::vector<std::string>* values) {
  int64_t first = 0, last = 0;
  if (const size_t star = word.find('*'); star != absl::string_view::npos) {
    if (!absl::SimpleAtoi(word.substr(star + 1), &last) || last < 0 || last > kMaxValues) return false;
    values->insert(values->end(), static_cast<size_t>(last), std::string(word.substr(0, star)));
  } else if (const size_t dots = word.find(".."); dots != absl::string_view::npos) {
    if (!absl::SimpleAtoi(word.substr(0, dots), &first) || !absl::SimpleAtoi(word.substr(dots + 2), &last))
      return false;
    if (last < first || last - first > kMaxValues) return false;
    for (int64_t i = first; i <= last; ++i) values->push_back(absl::StrCat(i));
  } else {
    values->emplace_back(word);
  }
  return static_cast<int64_t>(values->size()) <= kMaxValues;
}

// Reads a list from its `[` to the `]` that closes it, which stay in front of *text. Nested lists must be alike.
bool ParseList(absl::string_view* text, Field* field) {
  std::vector<int64_t> counts, sizes;  // members so far of each open list, size of the closed ones of each depth
  std::string word;
  while (!text->empty()) {
    const char c = text->front();
    text->remove_prefix(1);
    if (c != '[' && c != ']' && c != ',' && c != ' ') {
      word += c;
      continue;
    }
    if (!word.empty()) {
      const size_t before = field->values.size();
      if (counts.empty() || !AppendValues(word, &field->values)) return false;
      counts.back() += static_cast<int64_t>(field->values.size() - before);
      word.clear();
    }
    if (c == '[') {
      counts.push_back(0);
      if (sizes.size() < counts.size()) sizes.push_back(-1);
    } else if (c == ']') {
      int64_t& size = sizes[counts.size() - 1];
      if (size >= 0 && size != counts.back()) return false;
      size = counts.back();
      counts.pop_back();
      if (counts.empty()) {
        field->shape = sizes;
        return true;
      }
      ++counts.back();
    }
  }
  return false;
}

absl::Status ParseFields(const Line& line, absl::string_view rest, bool expecting, Call* call) {
  for (absl::string_view text = absl::StripAsciiWhitespace(rest); !text.empty();
       text = absl::StripLeadingAsciiWhitespace(text)) {
    Field field;
    const size_t end = text.find_first_of("= ");
    field.name = std::string(text.substr(0, end));
    if (expecting && field.name == "in_order" && !call->expected.empty()) {
      call->expected.back().in_order = true;
      text.remove_prefix(field.name.size());
      continue;
    }
    if (expecting && field.name == "any_order" && !call->expected.empty()) {
      call->expected.back().any_order = true;
      text.remove_prefix(field.name.size());
      continue;
    }
    if (end == absl::string_view::npos || text[end] == ' ')
      return Wrong(line.number, absl::StrCat(field.name, " has no ="));
    text.remove_prefix(end + 1);
    if (absl::StartsWith(text, "[")) {
      field.is_list = true;
      if (!ParseList(&text, &field)) return Wrong(line.number, absl::StrCat("list of ", field.name));
    } else {
      const std::string value(text.substr(0, text.find(' ')));
      text.remove_prefix(value.size());
      if (!expecting && field.name == "grid") {
        const std::vector<std::string> sizes = absl::StrSplit(value, ',');
        for (size_t i = 0; i < sizes.size(); ++i) {
          if (i >= 3 || !absl::SimpleAtoi(sizes[i], &call->grid[i])) return Wrong(line.number, "grid");
        }
        continue;
      }
      if (expecting && field.name == "ulp" && !call->expected.empty()) {
        if (!absl::SimpleAtoi(value, &call->expected.back().ulp)) return Wrong(line.number, "ulp");
        continue;
      }
      if (expecting && field.name == "gpu_ulp" && !call->expected.empty()) {
        if (!absl::SimpleAtoi(value, &call->expected.back().gpu_ulp)) return Wrong(line.number, "gpu_ulp");
        continue;
      }
      if (expecting) return Wrong(line.number, absl::StrCat(field.name, " is not a list"));
      field.values = {value};
    }
    if (expecting) {
      call->expected.emplace_back();
      call->expected.back().field = std::move(field);
    } else {
      call->fields.push_back(std::move(field));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseExpectation(const Line& line, absl::string_view kind, absl::string_view rest, Call* call) {
  const std::string text(absl::StripAsciiWhitespace(rest));
  if (kind == "expect") return ParseFields(line, rest, true, call);
  if (text.empty()) return Wrong(line.number, "expects nothing");
  if (kind == "expect-print") {
    std::string printed;
    if (text.size() < 2 || text.front() != '"' || text.back() != '"' ||
        !absl::CUnescape(text.substr(1, text.size() - 2), &printed)) {
      return Wrong(line.number, "a string is expected");
    }
    call->printed = call->printed.value_or("") + printed;
    return absl::OkStatus();
  }
  std::string* place = kind == "expect-trap"      ? &call->trap
                       : kind == "expect-full"    ? &call->full_trap
                       : kind == "expect-refused" ? &call->refused
                                                  : nullptr;
  if (place == nullptr) return Wrong(line.number, absl::StrCat("there is no annotation ", kind));
  *place = text;
  return absl::OkStatus();
}

// Replaces in code, not in comments.
absl::StatusOr<std::string> Replace(absl::string_view text, const Line& line, absl::string_view rules) {
  std::string code(text);
  for (absl::string_view rule : absl::StrSplit(rules, ';')) {
    const std::pair<absl::string_view, absl::string_view> sides = absl::StrSplit(rule, absl::MaxSplits(" => ", 1));
    const absl::string_view from = absl::StripAsciiWhitespace(sides.first),
                            to = absl::StripAsciiWhitespace(sides.second);
    if (from.empty() || !absl::StrContains(rule, " => ")) return Wrong(line.number, "with OLD => NEW");
    std::vector<std::string> lines = absl::StrSplit(code, '\n');
    int replaced = 0;
    for (std::string& l : lines) {
      if (!absl::StartsWith(l, "//")) replaced += absl::StrReplaceAll({{from, to}}, &l);
    }
    if (replaced == 0) return Wrong(line.number, absl::StrCat("the code has no ", from));
    code.clear();
    for (const std::string& l : lines) absl::StrAppend(&code, l, "\n");
  }
  return code;
}

// The annotations with their continuations.
std::vector<Line> Annotations(absl::string_view text) {
  std::vector<Line> lines;
  int number = 0;
  bool open = false;
  for (absl::string_view l : absl::StrSplit(text, '\n')) {
    ++number;
    if (open && absl::ConsumePrefix(&l, "//   ")) {
      absl::StrAppend(&lines.back().text, " ", absl::StripAsciiWhitespace(l));
      continue;
    }
    open = absl::StartsWith(l, "// run:") || absl::StartsWith(l, "// with:") || absl::StartsWith(l, "// expect");
    if (open) lines.push_back({number, std::string(l.substr(3))});
  }
  return lines;
}

}  // namespace

absl::StatusOr<std::vector<Variant>> ParseOpFile(absl::string_view text) {
  std::vector<Variant> variants(1);
  variants[0].text = std::string(text);
  for (const Line& line : Annotations(text)) {
    const size_t colon = line.text.find(':');
    if (colon == std::string::npos) return Wrong(line.number, "no : behind the annotation's name");
    const std::string kind = line.text.substr(0, colon);
    const std::string rest(absl::StripAsciiWhitespace(line.text.substr(colon + 1)));
    std::vector<Call>& calls = variants.back().calls;
    if (kind == "with") {
      if (calls.empty()) return Wrong(line.number, "nothing is run before");
      absl::StatusOr<std::string> replaced = Replace(text, line, rest);
      if (!replaced.ok()) return replaced.status();
      variants.push_back({rest, *std::move(replaced), {}});
    } else if (kind == "run") {
      const size_t space = rest.find(' ');
      if (rest.size() < 2 || rest[0] != '@') return Wrong(line.number, "run: @kernel");
      Call call;
      call.line = line.number;
      call.kernel = rest.substr(1, space == std::string::npos ? space : space - 1);
      if (space != std::string::npos) {
        if (absl::Status s = ParseFields(line, rest.substr(space), false, &call); !s.ok()) return s;
      }
      calls.push_back(std::move(call));
    } else {
      if (calls.empty()) {
        if (variants.size() < 2) return Wrong(line.number, "stands before any run");
        const Call& last = variants[variants.size() - 2].calls.back();
        Call call;
        call.line = line.number;
        call.kernel = last.kernel;
        call.fields = last.fields;
        std::copy(last.grid, last.grid + 3, call.grid);
        calls.push_back(std::move(call));
      }
      if (absl::Status s = ParseExpectation(line, kind, rest, &calls.back()); !s.ok()) return s;
    }
  }
  for (const Variant& v : variants) {
    for (const Call& c : v.calls) {
      if (c.expected.empty() && c.trap.empty() && c.full_trap.empty() && c.refused.empty() && !c.printed) {
        return Wrong(c.line, "this run expects nothing");
      }
    }
  }
  return variants;
}

}  // namespace tile::ops
