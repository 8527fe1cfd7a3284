#include "codegen/emit/context/symbol.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ir/tbc/sha256.h"

namespace tile::codegen {
namespace {

// PTX adds to the name for names of parameters.
constexpr size_t kMostCharacters = 1000;
constexpr size_t kKept = 900;  // of a longer one

bool IsPlain(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// An identifier of C that PTX takes: "_" alone and WARP_SZ it does not.
bool StandsForItself(absl::string_view name) {
  for (const char c : name) {
    if (!IsPlain(c)) return false;
  }
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) && !absl::StartsWith(name, "__") &&
         name != "_" && name != "WARP_SZ" && name.size() <= kMostCharacters;
}

std::string Escaped(absl::string_view prefix, absl::string_view name) {
  std::string out(prefix);
  for (const char c : name) {
    if (IsPlain(c)) {
      out += c;
    } else {
      absl::StrAppend(&out, "$", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  if (out.size() <= kMostCharacters) return out;
  const ir::Sha256Digest hash = ir::Sha256({reinterpret_cast<const uint8_t*>(name.data()), name.size()});
  return absl::StrCat(out.substr(0, kKept), "$$",
                      absl::BytesToHexString({reinterpret_cast<const char*>(hash.data()), hash.size()}));
}

}  // namespace

std::string KernelSymbol(absl::string_view name) {
  return StandsForItself(name) ? std::string(name) : Escaped("tile$", name);
}

std::string GlobalSymbol(absl::string_view name) { return Escaped("global$", name); }

}  // namespace tile::codegen
