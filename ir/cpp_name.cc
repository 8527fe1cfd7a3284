#include "ir/cpp_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace tile::ir {
namespace {

bool Opens(char c) { return c == '(' || c == '<' || c == '[' || c == '{'; }
bool Closes(char c) { return c == ')' || c == '>' || c == ']' || c == '}'; }

// Where the bracket that ends at `close` opens; npos if it does not.
size_t OpeningOf(absl::string_view text, size_t close) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (Closes(text[i])) ++depth;
    if (Opens(text[i]) && --depth == 0) return i;
  }
  return absl::string_view::npos;
}

// `f(int)` at its parameters. Demangled names of functions end with them.
size_t ParametersAt(absl::string_view name) {
  return name.empty() || name.back() != ')' ? absl::string_view::npos : OpeningOf(name, name.size() - 1);
}

// Without what stands in the last pair of angle brackets.
absl::string_view WithoutTemplateArguments(absl::string_view name) {
  if (name.empty() || name.back() != '>') return name;
  const size_t open = OpeningOf(name, name.size() - 1);
  return open == absl::string_view::npos ? name : name.substr(0, open);
}

// `a::b<c::d>` → `b<c::d>`.
absl::string_view WithoutNamespaces(absl::string_view name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (Closes(name[i])) ++depth;
    if (Opens(name[i])) --depth;
    if (depth == 0 && name[i] == ':') return name.substr(i + 1);
  }
  return name;
}

std::string WithoutSpaces(absl::string_view text) { return absl::StrReplaceAll(text, {{" ", ""}}); }

// At least as many as there are: letters of identifiers may look like references.
size_t References(absl::string_view mangled) {
  size_t count = 0;
  for (size_t i = 0; i < mangled.size(); ++i) {
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    size_t end = i + 1;
    while (end < mangled.size() && (absl::ascii_isdigit(mangled[end]) || absl::ascii_isupper(mangled[end]))) ++end;
    if (end < mangled.size() && mangled[end] == '_') ++count;
  }
  return count;
}

// Template arguments, qualified names and function types end with an E, so that behind the last one only pointers to
// members (M) join two types.
bool MayBeLong(absl::string_view mangled) {
  const size_t tail = mangled.rfind('E') + 1;  // 0 if there is none
  const bool joins = absl::StrContains(mangled.substr(tail), 'M');
  return mangled.size() > kMaxMangled || References(mangled) > kMaxReferences ||
         References(joins ? mangled : mangled.substr(0, tail)) > kMaxNestedReferences;
}

}  // namespace

std::string CppName(absl::string_view symbol) {
  if (!absl::StartsWith(symbol, "_Z") || MayBeLong(symbol)) return "";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return "";
  const absl::string_view name = absl::StripPrefix(text.get(), "void ");
  return ParametersAt(name) == absl::string_view::npos ? "" : std::string(name);
}

std::string ReadableName(absl::string_view symbol) {
  const std::string name = CppName(symbol);
  return name.empty() ? std::string(symbol) : name.substr(0, ParametersAt(name));
}

std::vector<std::string> CppParameters(absl::string_view symbol) {
  const std::string name = CppName(symbol);
  std::vector<std::string> types;
  if (name.empty()) return types;
  const size_t open = ParametersAt(name);
  absl::string_view list(name);
  list = list.substr(open + 1, list.size() - open - 2);
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && Opens(list[i])) ++depth;
    if (i < list.size() && Closes(list[i])) --depth;
    if (list.empty() || (i < list.size() && (list[i] != ',' || depth > 0))) continue;
    types.emplace_back(absl::StripLeadingAsciiWhitespace(list.substr(from, i - from)));
    from = i + 1;
  }
  return types;
}

bool IsPointerToConst(absl::string_view cpp_type) { return absl::EndsWith(cpp_type, " const*"); }

std::vector<std::string> CppNames(absl::string_view symbol) {
  const std::string whole = CppName(symbol);
  if (whole.empty()) return {};
  const absl::string_view function = absl::string_view(whole).substr(0, ParametersAt(whole));
  const absl::string_view inner = WithoutNamespaces(function);
  return {whole, std::string(function), std::string(WithoutTemplateArguments(function)), std::string(inner),
          std::string(WithoutTemplateArguments(inner))};
}

std::vector<const Function*> FindKernels(const Module& module, absl::string_view name) {
  if (const Function* f = module.FindFunction(name)) return {f};
  const std::string wanted = WithoutSpaces(name);
  std::vector<const Function*> found;
  size_t best = 0;  // of their CppNames
  for (const auto& f : module.functions) {
    const std::vector<std::string> names = CppNames(f->name);
    for (size_t i = 0; i < names.size(); ++i) {
      if (WithoutSpaces(names[i]) != wanted || (!found.empty() && i > best)) continue;
      if (i < best) found.clear();
      best = i;
      found.push_back(f.get());
      break;
    }
  }
  return found;
}

std::string ListKernels(const Module& module) {
  std::vector<std::string> names;
  for (const auto& f : module.functions) {
    const std::string cpp = CppName(f->name);
    names.push_back(cpp.empty() ? std::string(f->name) : absl::StrCat(cpp, " [", f->name, "]"));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace tile::ir
