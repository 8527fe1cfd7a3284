#include "tools/module/image_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/escape.h"
#include "tools/data/json.h"

namespace tile::tools {
namespace {

const char* KindName(const ir::Image& i) { return i.kind == ir::ImageKind::kPtx ? "ptx" : "cubin"; }

std::string NumberOrNull(uint32_t n) { return n == 0 ? "null" : absl::StrCat(n); }

}  // namespace

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

std::string ImageJson(const ir::Image& i, absl::string_view kernel, absl::string_view more) {
  std::vector<std::string> requirements;
  for (const ir::ImageRequirement& r : i.requirements) requirements.push_back(JsonQuote(ir::Escaped(r.text)));
  return absl::StrCat("{\"kernel\":", JsonQuote(ir::Escaped(kernel)), ",\"arch\":", JsonQuote(ir::Escaped(i.arch)),
                      ",\"kind\":\"", KindName(i), "\",\"symbol\":", JsonQuote(ir::Escaped(i.symbol)),
                      ",\"threads\":", NumberOrNull(i.threads), ",\"registers\":", NumberOrNull(i.registers),
                      ",\"shared_bytes\":", i.shared_bytes + uint64_t{i.static_shared_bytes}, ",\"cluster\":[",
                      absl::StrJoin(i.cluster, ","), "],\"requires\":[", absl::StrJoin(requirements, ","),
                      "],\"descriptors\":", i.tma.size(), ",\"workspaces\":", i.workspaces.size(),
                      ",\"bytes\":", i.payload.size(), ",\"driver\":", i.driver_floor, more, "}");
}

}  // namespace tile::tools
