#include "tools/tilec/c_header.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tile::tools {
namespace {

// "dir/2-fast.kernel.h" -> "_2_fast_kernel".
std::string Identifier(absl::string_view path) {
  path = path.substr(path.find_last_of('/') + 1);
  if (const size_t dot = path.find_last_of('.'); dot != absl::string_view::npos && dot > 0) path = path.substr(0, dot);
  if (path.empty() || path == "-") path = "kernel";
  std::string name;
  if (absl::ascii_isdigit(static_cast<unsigned char>(path[0]))) name = "_";
  for (const char c : path) name += absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

}  // namespace

std::string CHeader(absl::string_view path, absl::string_view bytes, const std::vector<std::string>& contents) {
  const std::string array = absl::StrCat(Identifier(path), "_tbc");
  const std::string guard = absl::StrCat(absl::AsciiStrToUpper(array), "_H_");
  std::string out = absl::StrCat("/* A tilevm module, written by tilec:\n");
  for (const std::string& line : contents) {
    absl::StrAppend(&out, " *   ", absl::StrReplaceAll(line, {{"*/", "* /"}, {"\n", " "}}), "\n");
  }
  absl::StrAppend(&out, " * tilevm_module_from_bytes(", array, ", ", array, "_size, NULL, &module); */\n");
  absl::StrAppend(&out, "#ifndef ", guard, "\n#define ", guard, "\n\n#include <stddef.h>\n\n",
                  "#ifdef __cplusplus\nalignas(64)\n#else\n_Alignas(64)\n#endif\n");
  absl::StrAppend(&out, "static const unsigned char ", array, "[", bytes.size(), "] = {");
  size_t column = 200;
  for (const char c : bytes) {
    if (column > 114) {
      out += "\n ";
      column = 1;
    }
    const size_t before = out.size();
    absl::StrAppend(&out, " ", static_cast<unsigned>(static_cast<unsigned char>(c)), ",");
    column += out.size() - before;
  }
  absl::StrAppend(&out, "\n};\nstatic const size_t ", array, "_size = sizeof ", array, ";\n\n#endif /* ", guard,
                  " */\n");
  return out;
}

}  // namespace tile::tools
