#include "runtime/forms/describe.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ir/cpp_name.h"
#include "ir/tbc/reader.h"
#include "runtime/launch_rule.h"

namespace tile::runtime {
namespace {

std::string Quote(absl::string_view text) {
  std::string s = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&s, absl::StrFormat("\\u%04x", c));
      continue;
    }
    if (c == '"' || c == '\\') s += '\\';
    s += c;
  }
  return s + "\"";
}

// The values are JSON already.
class Object {
 public:
  Object& Add(absl::string_view key, absl::string_view value) {
    absl::StrAppend(&text_, text_.empty() ? "" : ", ", "\"", key, "\": ", value);
    return *this;
  }
  Object& Text(absl::string_view key, absl::string_view value) { return Add(key, Quote(value)); }
  Object& Bool(absl::string_view key, bool value) { return Add(key, value ? "true" : "false"); }
  Object& Number(absl::string_view key, int64_t value) { return Add(key, absl::StrCat(value)); }
  std::string End() const { return absl::StrCat("{", text_, "}"); }

 private:
  std::string text_;
};

template <class T, class Fn>
std::string Array(const T& items, Fn&& item) {
  return absl::StrCat("[", absl::StrJoin(items, ", ", [&](std::string* out, const auto& x) { *out += item(x); }), "]");
}

const char* NameOf(ir::Direction d) {
  return d == ir::Direction::kIn ? "in" : d == ir::Direction::kOut ? "out" : "inout";
}

std::string Dim(const ir::Interface& in, const ir::DimBinding& d) {
  Object o;
  if (d.param >= 0) o.Number("parameter", d.param);
  if (d.constant) o.Number("constant", *d.constant);
  if (!d.size.empty()) o.Text("size", ExprToString(in, d.size));
  return o.End();
}

std::string ArrayJson(const ir::Interface& in, const ir::ArrayArg& a) {
  const auto dim = [&](const ir::DimBinding& d) { return Dim(in, d); };
  Object o;
  o.Text("name", a.name).Text("direction", NameOf(a.direction)).Text("element", ir::ToString(a.element));
  o.Number("parameter", a.pointer_param).Add("shape", Array(a.shape, dim));
  if (!a.strides.empty()) o.Add("strides", Array(a.strides, dim));
  if (a.init == ir::InitKind::kZero) o.Text("init_bits", "0");
  if (a.init == ir::InitKind::kValue) o.Text("init_bits", absl::StrCat(a.init_bits));
  return o.End();
}

std::string ScalarJson(const ir::Function& f, const ir::Interface& in, const ir::ScalarArg& a) {
  Object o;
  o.Text("name", a.name).Text("element", ir::ToString(f.param(a.param)->type().element())).Number("parameter", a.param);
  if (!a.value.empty()) o.Text("value", ExprToString(in, a.value));
  if (a.default_bits) o.Text("default_bits", absl::StrCat(*a.default_bits));
  return o.End();
}

std::string KernelJson(const ir::Function& f) {
  Object o;
  o.Text("name", f.name);
  o.Add("cpp_names", Array(ir::CppNames(f.name), [](const std::string& name) { return Quote(name); }));
  std::vector<std::string> parameters;
  for (int i = 0; i < f.num_params(); ++i) {
    const ir::Value& p = *f.param(i);
    const ir::Element element = p.type().element();
    parameters.push_back(Object()
                             .Text("name", p.name)
                             .Text("type", p.type().ToString())
                             .Text("element", element.is_pointer() ? ir::ToString(ir::Element::Number(element.pointee))
                                                                   : ir::ToString(element))
                             .Bool("pointer", element.is_pointer())
                             .End());
  }
  o.Add("parameters", absl::StrCat("[", absl::StrJoin(parameters, ", "), "]"));
  if (f.interface == nullptr)
    return o.Add("arrays", "null").Add("scalars", "null").Add("workspaces", "[]").Add("grid", "[]").End();
  const ir::Interface& in = *f.interface;
  o.Add("arrays", Array(in.arrays, [&](const ir::ArrayArg& a) { return ArrayJson(in, a); }));
  o.Add("scalars", Array(in.scalars, [&](const ir::ScalarArg& a) { return ScalarJson(f, in, a); }));
  o.Add("workspaces", Array(in.workspaces, [&](const ir::Workspace& w) {
          return Object()
              .Text("name", w.name)
              .Text("element", ir::ToString(w.element))
              .Text("count", ExprToString(in, w.count))
              .End();
        }));
  o.Add("grid", Array(in.grid, [&](const ir::Expr& e) { return Quote(ExprToString(in, e)); }));
  return o.End();
}

}  // namespace

std::string DescribeModule(const ir::ProgramRead& program, absl::Span<const uint8_t> bytes) {
  const ir::Module& module = *program.module;
  Object o;
  o.Text("form", program.form->name);
  std::string images = "[]";
  if (program.form->kind == ir::FormKind::kTbc) {
    if (absl::StatusOr<ir::TbcInfo> info = ir::InspectTbc(bytes); info.ok()) {
      o.Text("version", info->version.ToString());
      images = Array(info->images, [&](const ir::TbcInfo::ImageInfo& i) {
        return Object()
            .Text("kernel", i.kernel < info->kernels.size() ? info->kernels[i.kernel].name : "")
            .Text("arch", i.arch)
            .Text("kind", i.kind == ir::ImageKind::kCubin ? "cubin" : "ptx")
            .Text("symbol", i.symbol)
            .Number("bytes", static_cast<int64_t>(i.bytes))
            .Bool("current", i.current)
            .End();
      });
    }
  } else {
    o.Text("version", program.version == 0 ? "" : absl::StrCat(program.version / 100, ".", program.version % 100));
  }
  o.Text("producer", module.producer).Text("name", module.name);
  o.Add("kernels", Array(module.functions, [](const auto& f) { return KernelJson(*f); })).Add("images", images);
  return o.End();
}

}  // namespace tile::runtime
