// tilevm info: what a file is and what is in it.
#include <cstdio>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/tbc/reader.h"
#include "ir/tileir/reader.h"
#include "runtime/launch_rule.h"
#include "tools/cli/report.h"
#include "tools/commands.h"
#include "tools/data/files.h"
#include "tools/data/json.h"
#include "tools/load.h"

namespace tile::tools {
namespace {

const char* DirectionName(ir::Direction d) {
  return d == ir::Direction::kIn ? "in" : d == ir::Direction::kOut ? "out" : "inout";
}

std::string DimText(const ir::Interface& in, const ir::Function& f, const ir::DimBinding& d) {
  if (d.constant) return absl::StrCat(*d.constant);
  if (!d.size.empty()) return runtime::ExprToString(in, d.size);
  if (d.param < 0) return "?";
  const absl::string_view name = f.param(d.param)->name;
  return name.empty() ? absl::StrCat("%", d.param) : absl::StrCat("%", name);
}

std::string ArrayText(const ir::Interface& in, const ir::Function& f, const ir::ArrayArg& a) {
  std::vector<std::string> dims;
  for (const ir::DimBinding& d : a.shape) dims.push_back(DimText(in, f, d));
  return absl::StrCat(DirectionName(a.direction), " ", a.name, ": ", ir::ToString(a.element), "[", absl::StrJoin(dims, ", "), "]");
}

int CountOps(const ir::Function& f) {
  int n = 0;
  ir::Walk(f.body(), [&](ir::Op*) { ++n; });
  return n;
}

// Facts of the container, before the program.
std::vector<std::pair<std::string, std::string>> ContainerFacts(const LoadedModule& loaded, absl::Span<const uint8_t> bytes) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (loaded.form == InputForm::kTbc) {
    if (absl::StatusOr<ir::TbcInfo> info = ir::InspectTbc(bytes); info.ok()) {
      facts = {{"form", "tbc"}, {"version", info->version.ToString()}, {"features", absl::StrJoin(info->features, ", ")},
               {"code_bytes", absl::StrCat(info->code_bytes)}, {"images", absl::StrCat(info->images.size())},
               {"debug", info->has_debug ? "yes" : "no"},
               {"code_sha256", absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(info->code_hash.data()), info->code_hash.size()))}};
    }
  } else if (loaded.form == InputForm::kTileIr) {
    facts = {{"form", "Tile IR bytecode"},
             {"version", absl::StrCat(loaded.tileir_version / 100, ".", loaded.tileir_version % 100)}};
  } else {
    facts = {{"form", "text"}};
  }
  facts.push_back({"bytes", absl::StrCat(bytes.size())});
  if (!loaded.module->producer.empty()) facts.push_back({"producer", loaded.module->producer});
  return facts;
}

int Info(const Options& options) {
  if (options.positional().size() != 1) return Fail(kUsage, "usage", "expected one file");
  const std::string& path = options.positional()[0];
  if (path == "-") return Fail(kUsage, "usage", "info reads a file, not stdin");
  int exit = kOk;
  auto loaded = Load(path, &exit, {.warnings = false});
  if (loaded == nullptr) return exit;
  absl::StatusOr<AlignedBuffer> file = ReadWholeFile(path);
  if (!file.ok()) return FailAt(path, kRejected, "file.read", file.status());
  const auto facts = ContainerFacts(*loaded, file->span());
  const ir::Module& m = *loaded->module;
  if (options.has("json")) {
    std::string s = "{";
    for (const auto& [key, value] : facts) absl::StrAppend(&s, JsonQuote(key), ":", JsonQuote(value), ",");
    absl::StrAppend(&s, "\"name\":", JsonQuote(m.name), ",\"globals\":[");
    for (const auto& g : m.globals) absl::StrAppend(&s, g == m.globals.front() ? "" : ",", JsonQuote(g->name));
    absl::StrAppend(&s, "],\"kernels\":[");
    for (const auto& f : m.functions) {
      absl::StrAppend(&s, f == m.functions.front() ? "" : ",", "{\"name\":", JsonQuote(f->name), ",\"ops\":", CountOps(*f), ",\"parameters\":[");
      for (int i = 0; i < f->num_params(); ++i) absl::StrAppend(&s, i ? "," : "", JsonQuote(f->param(i)->type().ToString()));
      absl::StrAppend(&s, "],\"arguments\":[");
      if (f->interface) {
        bool first = true;
        for (const ir::ArrayArg& a : f->interface->arrays) {
          absl::StrAppend(&s, first ? "" : ",", "{\"name\":", JsonQuote(a.name), ",\"direction\":\"", DirectionName(a.direction),
                          "\",\"type\":", JsonQuote(ir::ToString(a.element)), ",\"rank\":", a.shape.size(), "}");
          first = false;
        }
        for (const ir::ScalarArg& a : f->interface->scalars) {
          absl::StrAppend(&s, first ? "" : ",", "{\"name\":", JsonQuote(a.name), ",\"type\":", JsonQuote(f->param(a.param)->type().ToString()), "}");
          first = false;
        }
      }
      absl::StrAppend(&s, "],\"launch_rule\":", f->interface && !f->interface->grid.empty() ? "true" : "false", "}");
    }
    absl::StrAppend(&s, "]}\n");
    std::fputs(s.c_str(), stdout);
    return kOk;
  }
  std::printf("%s: module `%s`\n", path.c_str(), m.name.c_str());
  for (const auto& [key, value] : facts) std::printf("  %s: %s\n", key.c_str(), value.c_str());
  for (const auto& g : m.globals) {
    std::printf("  global %s: %s%s\n", std::string(g->name).c_str(), g->type.ToString().c_str(), g->constant ? ", constant" : "");
  }
  for (const auto& f : m.functions) {
    std::printf("  kernel %s: %d parameters, %d operations\n", std::string(f->name).c_str(), f->num_params(), CountOps(*f));
    if (!f->interface) {
      for (int i = 0; i < f->num_params(); ++i) std::printf("    parameter %d: %s\n", i, f->param(i)->type().ToString().c_str());
      continue;
    }
    const ir::Interface& in = *f->interface;
    for (const ir::ArrayArg& a : in.arrays) std::printf("    %s\n", ArrayText(in, *f, a).c_str());
    for (const ir::ScalarArg& a : in.scalars) std::printf("    scalar %s: %s\n", a.name.c_str(), f->param(a.param)->type().ToString().c_str());
    for (const ir::Workspace& w : in.workspaces) std::printf("    workspace %s: %s elements of %s\n", w.name.c_str(), runtime::ExprToString(in, w.count).c_str(), ir::ToString(w.element).c_str());
    std::vector<std::string> grid;
    for (const ir::Expr& e : in.grid) grid.push_back(runtime::ExprToString(in, e));
    std::printf("    grid: %s\n", grid.empty() ? "none (give --grid)" : absl::StrJoin(grid, ", ").c_str());
  }
  return kOk;
}

}  // namespace

const Command kInfoCommand = {"info", "FILE", "says what a file is, and how its kernels are called",
                              {{"json", 0, nullptr, "as one JSON object"}}, "example:\n  tilevm info kernel.tbc --json\n", &Info};

}  // namespace tile::tools
