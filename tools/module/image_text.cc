#include "tools/module/image_text.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/escape.h"
#include "ir/interface.h"
#include "tools/data/json.h"

namespace tile::tools {
namespace {

const char* KindName(const ir::Image& i) { return i.kind == ir::ImageKind::kPtx ? "ptx" : "cubin"; }

std::string NumberOrNull(uint32_t n) { return n == 0 ? "null" : absl::StrCat(n); }

// What the interface calls a parameter; empty if it does not.
std::string ParameterName(const ir::Interface* interface, int param) {
  if (interface == nullptr) return "";
  for (const ir::ArrayArg& a : interface->arrays) {
    if (a.pointer_param == param) return a.name;
    for (size_t d = 0; d < a.shape.size(); ++d) {
      if (a.shape[d].param == param) return absl::StrCat(a.name, ".shape[", d, "]");
    }
    for (size_t d = 0; d < a.strides.size(); ++d) {
      if (a.strides[d].param == param) return absl::StrCat(a.name, ".stride[", d, "]");
    }
  }
  for (const ir::ScalarArg& a : interface->scalars) {
    if (a.param == param) return a.name;
  }
  return "";
}

}  // namespace

std::string RequirementText(const ir::ImageRequirement& requirement, const ir::Function& kernel) {
  constexpr absl::string_view kWord = "parameter ";
  std::string out;
  absl::string_view text = requirement.text;
  for (size_t at; (at = text.find(kWord)) != absl::string_view::npos;) {
    size_t end = at + kWord.size();
    while (end < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[end]))) ++end;
    int param = -1;
    std::string name;
    if (absl::SimpleAtoi(text.substr(at + kWord.size(), end - at - kWord.size()), &param))
      name = ParameterName(kernel.interface.get(), param);
    absl::StrAppend(&out, text.substr(0, at), name.empty() ? text.substr(at, end - at) : absl::string_view(name));
    text.remove_prefix(end);
  }
  return absl::StrCat(out, text);
}

std::string ImageText(const ir::Image& i) {
  std::string s = absl::StrCat(ir::Escaped(i.arch), " ", KindName(i), " `", ir::Escaped(i.symbol), "`");
  if (i.threads > 0) absl::StrAppend(&s, ", ", i.threads, " threads");
  if (i.registers > 0) absl::StrAppend(&s, ", ", i.registers, " registers");
  absl::StrAppend(&s, ", ", i.shared_bytes + uint64_t{i.static_shared_bytes}, " bytes of shared memory");
  if (i.cluster != std::array<uint32_t, 3>{1, 1, 1}) absl::StrAppend(&s, ", cluster ", absl::StrJoin(i.cluster, "x"));
  if (!i.tma.empty()) absl::StrAppend(&s, ", ", i.tma.size(), " TMA descriptors");
  if (!i.workspaces.empty()) absl::StrAppend(&s, ", ", i.workspaces.size(), " workspaces");
  if (i.driver_floor > 0)
    absl::StrAppend(&s, ", driver of CUDA ", i.driver_floor / 1000, ".", i.driver_floor % 1000 / 10);
  absl::StrAppend(&s, ", ", i.payload.size(), " bytes");
  return s;
}

std::string ImageJson(const ir::Image& i, const ir::Function& kernel, absl::string_view more) {
  std::vector<std::string> requirements;
  for (const ir::ImageRequirement& r : i.requirements)
    requirements.push_back(JsonQuote(ir::Escaped(RequirementText(r, kernel))));
  return absl::StrCat("{\"kernel\":", JsonQuote(ir::Escaped(kernel.name)), ",\"arch\":", JsonQuote(ir::Escaped(i.arch)),
                      ",\"kind\":\"", KindName(i), "\",\"symbol\":", JsonQuote(ir::Escaped(i.symbol)),
                      ",\"threads\":", NumberOrNull(i.threads), ",\"registers\":", NumberOrNull(i.registers),
                      ",\"shared_bytes\":", i.shared_bytes + uint64_t{i.static_shared_bytes}, ",\"cluster\":[",
                      absl::StrJoin(i.cluster, ","), "],\"requires\":[", absl::StrJoin(requirements, ","),
                      "],\"descriptors\":", i.tma.size(), ",\"workspaces\":", i.workspaces.size(),
                      ",\"bytes\":", i.payload.size(), ",\"driver\":", i.driver_floor, more, "}");
}

}  // namespace tile::tools
