#include "codegen/emit/context/symbol.h"

#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

// What PTX takes for an identifier: [a-zA-Z][a-zA-Z0-9_$]* or [_$%][a-zA-Z0-9_$]+, of at least 1,024 characters.
bool IsIdentifier(const std::string& s) {
  if (s.empty() || s.size() > 1024) return false;
  for (const char c : s) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '$') return false;
  }
  return absl::ascii_isalpha(static_cast<unsigned char>(s[0])) || (s.size() > 1 && (s[0] == '_' || s[0] == '$'));
}

TEST(Symbol, NamesThatAreKept) {
  for (const char* name : {"k", "vector_add", "_a", "A1", "a_", "add", "ld", "reg", "shared", "ring", "scratch", "main",
                           "tile", "_Z3addPfS_i", "global"}) {
    EXPECT_EQ(KernelSymbol(name), name);
  }
}

TEST(Symbol, NamesThatAreWrittenOtherwise) {
  EXPECT_EQ(KernelSymbol("a.b"), "tile$a$2eb");
  EXPECT_EQ(KernelSymbol("1a"), "tile$1a");
  EXPECT_EQ(KernelSymbol("_"), "tile$_");
  EXPECT_EQ(KernelSymbol("$"), "tile$$24");
  EXPECT_EQ(KernelSymbol("a$b"), "tile$a$24b");
  EXPECT_EQ(KernelSymbol("größe"), "tile$gr$c3$b6$c3$9fe");
  EXPECT_EQ(KernelSymbol(""), "tile$");
  EXPECT_EQ(KernelSymbol(std::string("a\0b", 3)), "tile$a$00b");
  EXPECT_EQ(KernelSymbol("WARP_SZ"), "tile$WARP_SZ");
  EXPECT_EQ(KernelSymbol("__nv_expf"), "tile$__nv_expf");
  EXPECT_EQ(KernelSymbol("tile$a"), "tile$tile$24a");
  EXPECT_EQ(GlobalSymbol("table"), "global$table");
}

TEST(Symbol, DifferentNamesHaveDifferentSymbols) {
  // All names of up to four of these, and what they are escaped to, and that again.
  const std::string characters = "a2e_$. ";
  std::set<std::string> names = {""};
  std::set<std::string> last = names;
  for (int length = 1; length <= 4; ++length) {
    std::set<std::string> longer;
    for (const std::string& n : last) {
      for (const char c : characters) longer.insert(n + c);
    }
    names.insert(longer.begin(), longer.end());
    last = longer;
  }
  for (int round = 0; round < 2; ++round) {
    std::set<std::string> more = names;
    for (const std::string& n : names) {
      more.insert(KernelSymbol(n));
      more.insert(GlobalSymbol(n));
    }
    names = std::move(more);
  }
  std::set<std::string> symbols;
  for (const std::string& n : names) {
    for (const std::string& s : {KernelSymbol(n), GlobalSymbol(n)}) {
      EXPECT_TRUE(symbols.insert(s).second) << n << " -> " << s;
      EXPECT_TRUE(IsIdentifier(s)) << s;
      // Of the compiler, of CUDA's device library.
      EXPECT_FALSE(absl::EndsWith(s, "$") && s.find('$') == s.size() - 1 && s != "tile$" && s != "global$") << s;
      EXPECT_FALSE(absl::StartsWith(s, "__")) << s;
    }
  }
}

TEST(Symbol, LongNames) {
  std::set<std::string> symbols;
  for (const size_t length : {999u, 1000u, 1001u, 10000u, 65536u}) {
    for (const char c : {'a', '.', '\xc3'}) {
      for (const std::string& name : {std::string(length, c), std::string(length - 1, c) + "b"}) {
        for (const std::string& s : {KernelSymbol(name), GlobalSymbol(name)}) {
          EXPECT_TRUE(symbols.insert(s).second) << length;
          // With what PTX adds for the last of many parameters.
          EXPECT_TRUE(IsIdentifier(s + "_param_65535")) << s.size();
        }
      }
    }
  }
  EXPECT_EQ(KernelSymbol(std::string(1000, 'a')), std::string(1000, 'a'));
}

}  // namespace
}  // namespace tile::codegen
