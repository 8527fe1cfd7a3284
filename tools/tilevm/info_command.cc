// tilevm info: what a file is and what is in it.
#include <cstdio>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "ir/escape.h"
#include "ir/tbc/reader.h"
#include "runtime/launch_rule.h"
#include "tools/cli/report.h"
#include "tools/data/json.h"
#include "tools/module/image_text.h"
#include "tools/module/load.h"
#include "tools/tilevm/commands.h"

namespace tile::tools {
namespace {

std::string Quote(absl::string_view text) { return JsonQuote(ir::Escaped(text)); }

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
  return absl::StrCat(DirectionName(a.direction), " ", a.name, ": ", ir::ToString(a.element), "[",
                      absl::StrJoin(dims, ", "), "]");
}

int CountOps(const ir::Function& f) {
  int n = 0;
  ir::Walk(f.body(), [&](ir::Op*) { ++n; });
  return n;
}

// A fact of the container. Numbers and truth values are JSON already, the rest is text.
struct Fact {
  const char* key;
  std::string value;
  bool is_json = false;

  std::string json() const { return is_json ? value : Quote(value); }
  // The form for people.
  std::string text() const { return value == "true" ? "yes" : value == "false" ? "no" : ir::Escaped(value); }
};

std::vector<Fact> ContainerFacts(const LoadedModule& loaded) {
  std::vector<Fact> facts;
  if (loaded.is_tbc()) {
    if (absl::StatusOr<ir::TbcInfo> info = ir::InspectTbc(loaded.bytes()); info.ok()) {
      const absl::string_view hash(reinterpret_cast<const char*>(info->code_hash.data()), info->code_hash.size());
      facts = {{"form", loaded.form->title},
               {"version", info->version.ToString()},
               {"features", absl::StrJoin(info->features, ", ")},
               {"code_bytes", absl::StrCat(info->code_bytes), true},
               {"debug", info->has_debug ? "true" : "false", true},
               {"code_sha256", absl::BytesToHexString(hash)}};
    }
  } else {
    facts = {{"form", loaded.form->title}};
    if (loaded.version != 0) {
      facts.push_back({"version", absl::StrCat(loaded.version / 100, ".", loaded.version % 100)});
    }
  }
  facts.push_back({"bytes", absl::StrCat(loaded.bytes().size()), true});
  if (!loaded.module->producer.empty()) facts.push_back({"producer", loaded.module->producer});
  return facts;
}

std::string ArgumentsJson(const ir::Function& f) {
  std::vector<std::string> all;
  if (f.interface == nullptr) return "";
  for (const ir::ArrayArg& a : f.interface->arrays) {
    all.push_back(absl::StrCat("{\"name\":", Quote(a.name), ",\"direction\":\"", DirectionName(a.direction),
                               "\",\"type\":", Quote(ir::ToString(a.element)), ",\"rank\":", a.shape.size(), "}"));
  }
  for (const ir::ScalarArg& a : f.interface->scalars) {
    all.push_back(
        absl::StrCat("{\"name\":", Quote(a.name), ",\"type\":", Quote(f.param(a.param)->type().ToString()), "}"));
  }
  return absl::StrJoin(all, ",");
}

std::string KernelJson(const ir::Function& f) {
  std::vector<std::string> parameters;
  for (int i = 0; i < f.num_params(); ++i) parameters.push_back(Quote(f.param(i)->type().ToString()));
  const std::string cpp_name = ir::CppName(f.name);
  return absl::StrCat("{\"name\":", Quote(f.name),
                      cpp_name.empty() ? "" : absl::StrCat(",\"cpp_name\":", Quote(cpp_name)), ",\"ops\":", CountOps(f),
                      ",\"parameters\":[", absl::StrJoin(parameters, ","), "],\"arguments\":[", ArgumentsJson(f),
                      "],\"launch_rule\":", f.interface && !f.interface->grid.empty() ? "true" : "false", "}");
}

std::string ModuleJson(const ir::Module& m, const std::vector<Fact>& facts, const std::vector<ir::Image>& images) {
  std::string s = "{";
  for (const Fact& fact : facts) absl::StrAppend(&s, "\"", fact.key, "\":", fact.json(), ",");
  std::vector<std::string> globals, kernels, described;
  for (const auto& g : m.globals) globals.push_back(Quote(g->name));
  for (const auto& f : m.functions) kernels.push_back(KernelJson(*f));
  for (const ir::Image& i : images) described.push_back(ImageJson(i, *m.functions[i.kernel]));
  return absl::StrCat(s, "\"name\":", Quote(m.name), ",\"globals\":[", absl::StrJoin(globals, ","), "],\"kernels\":[",
                      absl::StrJoin(kernels, ","), "],\"images\":[", absl::StrJoin(described, ","), "]}");
}

std::string KernelText(const ir::Function& f) {
  const std::string cpp_name = ir::CppName(f.name);
  const std::vector<std::string> cpp = ir::CppParameters(f.name);
  std::string s = absl::StrCat("  kernel ", ir::ReadableName(f.name), ": ", f.num_params(), " parameters, ",
                               CountOps(f), " operations\n");
  if (!cpp_name.empty()) absl::StrAppend(&s, "    symbol ", f.name, "\n");
  if (f.interface == nullptr) {
    for (int i = 0; i < f.num_params(); ++i) {
      absl::StrAppend(&s, "    parameter ", i, ": ", f.param(i)->type().ToString());
      if (cpp.size() == static_cast<size_t>(f.num_params())) absl::StrAppend(&s, ", ", cpp[static_cast<size_t>(i)]);
      absl::StrAppend(&s, "\n");
    }
    return s;
  }
  const ir::Interface& in = *f.interface;
  for (const ir::ArrayArg& a : in.arrays) absl::StrAppend(&s, "    ", ArrayText(in, f, a), "\n");
  for (const ir::ScalarArg& a : in.scalars)
    absl::StrAppend(&s, "    scalar ", a.name, ": ", f.param(a.param)->type().ToString(), "\n");
  for (const ir::Workspace& w : in.workspaces) {
    absl::StrAppend(&s, "    workspace ", w.name, ": ", runtime::ExprToString(in, w.count), " elements of ",
                    ir::ToString(w.element), "\n");
  }
  std::vector<std::string> grid;
  for (const ir::Expr& e : in.grid) grid.push_back(runtime::ExprToString(in, e));
  absl::StrAppend(&s, "    grid: ", grid.empty() ? "none (give --grid)" : absl::StrJoin(grid, ", "), "\n");
  return s;
}

std::string ModuleText(const std::string& file, const ir::Module& m, const std::vector<Fact>& facts,
                       const std::vector<ir::Image>& images) {
  std::string s = absl::StrCat(file, ": module `", m.name, "`\n");
  for (const Fact& fact : facts) {
    if (!fact.value.empty()) absl::StrAppend(&s, "  ", fact.key, ": ", fact.text(), "\n");
  }
  for (const auto& g : m.globals) {
    absl::StrAppend(&s, "  global ", g->name, ": ", g->type.ToString(), g->constant ? ", constant" : "", "\n");
  }
  for (const auto& f : m.functions) {
    absl::StrAppend(&s, KernelText(*f));
    for (const ir::Image& i : images) {
      if (m.functions[i.kernel].get() != f.get()) continue;
      absl::StrAppend(&s, "    image ", ImageText(i), "\n");
      for (const ir::ImageRequirement& r : i.requirements)
        absl::StrAppend(&s, "      requires ", RequirementText(r, *f), "\n");
    }
  }
  return s;
}

int Info(const Options& options) {
  if (options.positional().size() != 1) return Fail(kUsage, "usage", "expected one file");
  const std::string& path = options.positional()[0];
  int exit = kOk;
  auto loaded = Load(path, &exit, {.warnings = false});
  if (loaded == nullptr) return exit;
  std::vector<ir::Image> images;
  if (loaded->is_tbc()) {
    absl::StatusOr<std::vector<ir::Image>> read = ir::ReadTbcImages(loaded->bytes(), NameOf(path));
    if (!read.ok()) return FailAt(NameOf(path), kRejected, "tbc.read", read.status());
    images = *std::move(read);
  }
  const std::vector<Fact> facts = ContainerFacts(*loaded);
  if (options.has("json")) {
    PrintJson(ModuleJson(*loaded->module, facts, images));
  } else {
    std::fputs(ir::Escaped(ModuleText(NameOf(path), *loaded->module, facts, images)).c_str(), stdout);
  }
  return kOk;
}

}  // namespace

const Command kInfoCommand = {"info",
                              "FILE",
                              "says what a file is, how its kernels are called, and what machine code it carries",
                              {{"json", 0, nullptr, "as one JSON object, see below"}},
                              R"(--json prints one object on stdout:
  form ("tbc", "text", "Tile IR bytecode", "TTIR"), bytes; of a .tbc: version, features, code_bytes, debug, code_sha256
  name, producer (if it has one), globals
  kernels: a list of name (the symbol), cpp_name (what C++ calls it, if it comes from there), ops, parameters, arguments (name, type; of arrays direction, rank), launch_rule
  images: a list of kernel, arch, kind ("cubin", "ptx"), symbol, threads, registers (null: not known), shared_bytes, cluster,
    requires (what the arguments must be), descriptors, workspaces, bytes, driver (CUDA version: 12080 for 12.8; 0: any)

examples:
  tilevm info kernel.tbc
  tilec kernel.tile --sm=80,90 -o - --emit=tbc | tilevm info - --json
)",
                              &Info};

}  // namespace tile::tools
