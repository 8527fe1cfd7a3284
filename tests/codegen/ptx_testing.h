// For tests: a few lines of tile code to PTX.
//
//   CompiledText c = CompileText("entry @k(…) { … }", 90);
//   c.error, c.ptx, c.llvm; AssemblerErrors(c, 90) == "";
#ifndef TILE_TESTS_CODEGEN_PTX_TESTING_H_
#define TILE_TESTS_CODEGEN_PTX_TESTING_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/assemble/ptxas.h"
#include "codegen/build_image.h"
#include "codegen/compile.h"
#include "codegen/target/target.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "ir/verify/verify.h"

namespace tile::codegen {

struct CompiledText {
  std::string error;                 // empty: all kernels compiled
  std::string ptx;                   // of all kernels, one after another
  std::string llvm;                  // as emitted
  std::vector<std::string> kernels;  // PTX of each
  std::vector<std::string> remarks;
  bool persistent = false;  // hardware blocks of a kernel go through the grid
};

// One GPU of each kind in the table: what differs in nothing that codegen asks gets the same code (targets_ptx_test.cc has them all). A number is
// there once: it stands for the first of its rows.
inline std::vector<int> AllSms() {
  std::vector<int> sms;
  std::set<std::pair<uint32_t, uint32_t>> kinds;
  for (const Target& target : AllTargets()) {
    const bool is_new = kinds.insert({target.features, target.shared_bytes}).second;
    if (is_new && (sms.empty() || sms.back() != target.sm)) sms.push_back(target.sm);
  }
  return sms;
}

// All kernels of the text, or the one of this name. `descriptors`, `aligned`: as in CompileOptions.
inline CompiledText CompileText(const std::string& text, const Target& target, const std::string& kernel = "",
                                bool descriptors = false, bool aligned = false) {
  CompiledText out;
  ir::Diagnostics diags;
  std::unique_ptr<ir::Module> m = ir::Parse(text, "test.tile", &diags);
  if (m != nullptr) ir::Verify(*m, &diags);
  if (m == nullptr || !diags.ok()) {
    out.error = absl::StrCat("bad text: ", diags.ToString());
    return out;
  }
  for (const auto& f : m->functions) {
    if (!kernel.empty() && absl::string_view(kernel) != f->name) continue;
    CompileOptions options;
    options.target = &target;
    options.permissions.Allow(May::kTakeDescriptors, descriptors);
    options.permissions.Allow(May::kAssumeAligned, aligned);
    options.verify_each = true;
    Trace trace;
    trace.wants_text = [](absl::string_view pass) { return pass == "emit-llvm"; };
    trace.on_text = [&](absl::string_view, absl::string_view printed) { absl::StrAppend(&out.llvm, printed); };
    trace.on_remark = [&](const std::string& line) { out.remarks.push_back(line); };
    options.trace = &trace;
    absl::StatusOr<Compiled> c = Compile(*m, *f, options);
    if (!c.ok()) {
      absl::StrAppend(&out.error, c.status().message(), "\n");
      continue;
    }
    absl::StrAppend(&out.ptx, c->ptx);
    out.persistent = out.persistent || c->persistent;
    out.kernels.push_back(c->ptx);
  }
  return out;
}

// The images of the first kernel for sm_90, as PTX.
inline std::vector<BuiltImage> Images(const std::string& text) {
  ir::Diagnostics diags;
  const auto m = ir::Parse(text, "test.tile", &diags);
  EXPECT_NE(m, nullptr) << diags.ToString();
  if (m == nullptr) return {};
  CompileOptions options;
  options.target = FindTarget(90);
  options.verify_each = true;
  auto images = BuildImages(*m, *m->functions[0], options, ir::ImageKind::kPtx);
  EXPECT_TRUE(images.ok()) << images.status();
  return images.ok() ? *std::move(images) : std::vector<BuiltImage>();
}

inline CompiledText CompileText(const std::string& text, int sm, const std::string& kernel = "",
                                bool descriptors = false, bool aligned = false) {
  return CompileText(text, *FindTarget(sm), kernel, descriptors, aligned);
}

inline int Count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// c = a * b of bf16 matrices, in tiles of m x n, k at a time.
inline std::string ProductText(int m, int n, int k) {
  return absl::StrReplaceAll(
      R"(
entry @product(%a: tile<ptr<bf16>>, %b: tile<ptr<bf16>>, %c: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %k: tile<i32>) {
  %j, %i, %z = get_tile_block_id
  %at = make_tensor_view %a, shape = [%m, %k], strides = [%k, 1] : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>
  %bt = make_tensor_view %b, shape = [%k, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xbf16, strides=[?,1]>
  %ct = make_tensor_view %c, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %av = make_partition_view %at : partition_view<tile=(MxK), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>
  %bv = make_partition_view %bt : partition_view<tile=(KxN), padding_value = zero, tensor_view<?x?xbf16, strides=[?,1]>>
  %cv = make_partition_view %ct : partition_view<tile=(MxN), tensor_view<?x?xf32, strides=[?,1]>>
  %first = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0> : tile<MxNxf32>
  %sum = for %step in (%first to %k, step %one) : tile<i32> iter_values(%acc = %zero) -> (tile<MxNxf32>) {
    %x, %t1 = load_view_tko weak %av[%i, %step] -> tile<MxKxbf16>, token
    %y, %t2 = load_view_tko weak %bv[%step, %j] -> tile<KxNxbf16>, token
    %next = mmaf %x, %y, %acc
    continue %next : tile<MxNxf32>
  }
  store_view_tko weak %sum, %cv[%i, %j] -> token
  return
}
)",
      {{"MxN", absl::StrCat(m, "x", n)}, {"MxK", absl::StrCat(m, "x", k)}, {"KxN", absl::StrCat(k, "x", n)}});
}

// Lines that fill the tile `to` with one value.
inline std::string SplatLines(const std::string& to, const std::string& from, int elements, const std::string& elem) {
  return absl::StrCat("  ", to, ".1 = reshape ", from, " -> tile<1x", elem, ">\n  ", to, " = broadcast ", to,
                      ".1 -> tile<", elements, "x", elem, ">\n");
}

// Lines that load elements of %x.a at offsets and store them to %y.a at others, both under a mask if there is one, and return.
inline std::string CopyLines(int elements, const std::string& elem, const std::string& from, const std::string& to,
                             const std::string& mask = "") {
  const std::string pointer = absl::StrCat("ptr<", elem, ">"), masked = mask.empty() ? "" : ", " + mask;
  return absl::StrCat(SplatLines("%x.n", "%x.a", elements, pointer), "  %x.p = offset %x.n, ", from, "\n",
                      SplatLines("%y.n", "%y.a", elements, pointer), "  %y.p = offset %y.n, ", to, "\n",
                      "  %v, %t = load_ptr_tko weak %x.p", masked, " -> tile<", elements, "x", elem, ">, token\n",
                      "  store_ptr_tko weak %y.p, %v", masked, " -> token\n  return\n}\n");
}

// What ptxas has against the kernels; nothing if there is no ptxas.
inline std::string AssemblerErrors(const CompiledText& c, const Target& target) {
  std::string errors;
  if (FindPtxas().empty()) return errors;
  for (const std::string& ptx : c.kernels) {
    AssembleOptions options;
    options.opt_level = 0;
    absl::StatusOr<Assembled> a = Assemble(ptx, target.arch, options);
    if (!a.ok()) absl::StrAppend(&errors, a.status().message(), "\n");
  }
  return errors;
}

inline std::string AssemblerErrors(const CompiledText& c, int sm) { return AssemblerErrors(c, *FindTarget(sm)); }

}  // namespace tile::codegen

#endif  // TILE_TESTS_CODEGEN_PTX_TESTING_H_
