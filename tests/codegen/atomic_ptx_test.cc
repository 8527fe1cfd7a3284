// Every atomic update, in every ordering, scope and space, as PTX: exactly the qualifiers that were written, in the form
// that the target has. And that ptxas, if there is one, takes them all.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/codegen/ptx_testing.h"

namespace tile::codegen {
namespace {

struct Form {
  const char* mode;  // "cas": compare-and-swap
  const char* elem;
  const char* instruction;
};

constexpr Form kForms[] = {
    {"and", "i32", "and.b32"},
    {"or", "i32", "or.b32"},
    {"xor", "i32", "xor.b32"},
    {"add", "i32", "add.u32"},
    {"sub", "i32", "add.u32"},
    {"max", "i32", "max.s32"},
    {"min", "i32", "min.s32"},
    {"umax", "i32", "max.u32"},
    {"umin", "i32", "min.u32"},
    {"xchg", "i32", "exch.b32"},
    {"inc", "i32", "inc.u32"},
    {"dec", "i32", "dec.u32"},
    {"cas", "i32", "cas.b32"},
    {"and", "i64", "and.b64"},
    {"or", "i64", "or.b64"},
    {"xor", "i64", "xor.b64"},
    {"add", "i64", "add.u64"},
    {"sub", "i64", "add.u64"},
    {"max", "i64", "max.s64"},
    {"min", "i64", "min.s64"},
    {"umax", "i64", "max.u64"},
    {"umin", "i64", "min.u64"},
    {"xchg", "i64", "exch.b64"},
    {"cas", "i64", "cas.b64"},
    {"addf", "f32", "add.f32"},
    {"sub", "f32", "add.f32"},
    {"xchg", "f32", "exch.b32"},
    {"cas", "f32", "cas.b32"},
    {"addf", "f64", "add.f64"},
    {"sub", "f64", "add.f64"},
    {"xchg", "f64", "exch.b64"},
    {"cas", "f64", "cas.b64"},
    {"addf", "f16", "add.noftz.f16"},
    {"sub", "f16", "add.noftz.f16"},
    {"addf", "bf16", "add.noftz.bf16"},
    {"sub", "bf16", "add.noftz.bf16"},
};
constexpr const char* kOrderings[] = {"relaxed", "acquire", "release", "acq_rel"};
constexpr std::pair<const char*, const char*> kScopes[] = {
    {"tl_blk", "cta"}, {"cluster", "cluster"}, {"device", "gpu"}, {"sys", "sys"}};

// The instructions that a kernel with all updates of an element type must have, in order.
struct Program {
  std::string text;
  std::vector<std::string> instructions;
};

Program AllUpdates(const std::string& elem, int sm) {
  Program p;
  p.text = R"(
entry @updates(%m: tile<ptr<E>>, %o: tile<ptr<E>>) {
  %zero = constant <i32: 0> : tile<i32>
  %m.t = make_tensor_view %m, shape = [32], strides = [1] : tensor_view<32xE, strides=[1]>
  %global = make_partition_view %m.t : partition_view<tile=(32), tensor_view<32xE, strides=[1]>>
  %o.t = make_tensor_view %o, shape = [32], strides = [1] : tensor_view<32xE, strides=[1]>
  %out = make_partition_view %o.t : partition_view<tile=(32), tensor_view<32xE, strides=[1]>>
  %s.t = alloc_shared alignment = 16 : tensor_view<32xE, strides=[1], shared>
  %shared = make_partition_view %s.t : partition_view<tile=(32), tensor_view<32xE, strides=[1], shared>>
  %v, %k = load_view_tko weak %out[%zero] -> tile<32xE>, token
)";
  int n = 0;
  for (const Form& f : kForms) {
    if (f.elem != elem) continue;
    for (const char* space : {"global", "shared"}) {
      for (const char* ordering : kOrderings) {
        for (const auto& [scope, ptx_scope] : kScopes) {
          for (const bool used : {false, true}) {
            ++n;
            const bool cas = std::string(f.mode) == "cas", exchange = std::string(f.mode) == "xchg";
            const std::string operands = cas ? "%v, %v" : absl::StrCat(f.mode, ", %v");
            absl::StrAppend(&p.text, "  %r", n, ", %t", n, " = atomic_", cas ? "cas" : "rmw", "_view_tko ", ordering,
                            " ", scope, " %", space, "[%zero], ", operands, " -> tile<32xE>, token\n");
            if (used) absl::StrAppend(&p.text, "  store_view_tko weak %r", n, ", %out[%zero] -> token\n");
            const std::string order = ordering;
            const bool red = !used && !cas && !exchange && (order == "relaxed" || order == "release");
            // Before sm_90 there are neither clusters nor additions of bf16.
            const std::string where = sm < 90 && std::string(ptx_scope) == "cluster" ? "gpu" : ptx_scope;
            const bool loop = sm < 90 && elem == "bf16";
            p.instructions.push_back(absl::StrCat(red && !loop ? "red." : "atom.", order, ".", where, ".", space, ".",
                                                  loop ? "cas.b16" : f.instruction));
          }
        }
      }
    }
  }
  absl::StrAppend(&p.text, "  return\n}\n");
  p.text = absl::StrReplaceAll(p.text, {{"E>", elem + ">"}, {"xE,", "x" + elem + ","}});
  return p;
}

// "atom.relaxed.gpu.global.add.u32" of each atomic instruction, in order.
std::vector<std::string> AtomicsIn(const std::string& ptx) {
  std::vector<std::string> out;
  for (absl::string_view statement : absl::StrSplit(ptx, absl::ByAnyChar(";\n{}"))) {
    for (absl::string_view word : absl::StrSplit(statement, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
      if (absl::StartsWith(word, "atom.") || absl::StartsWith(word, "red.")) out.emplace_back(word);
    }
  }
  return out;
}

class AtomicPtx : public testing::TestWithParam<int> {};

TEST_P(AtomicPtx, QualifiersAreThoseWritten) {
  for (const char* elem : {"i32", "i64", "f32", "f64", "f16", "bf16"}) {
    const Program p = AllUpdates(elem, GetParam());
    const CompiledText c = CompileText(p.text, GetParam());
    ASSERT_EQ(c.error, "") << elem;
    EXPECT_EQ(AtomicsIn(c.ptx), p.instructions) << elem;
    EXPECT_FALSE(absl::StrContains(c.llvm, "atomicrmw") || absl::StrContains(c.llvm, "cmpxchg")) << elem;
    EXPECT_EQ(AssemblerErrors(c, GetParam()), "") << elem;
  }
}

// Pointers with a mask, and one address of a whole view: predicated, first copies only.
TEST_P(AtomicPtx, MasksAndCopies) {
  const CompiledText c = CompileText(R"(
entry @masked(%m: tile<ptr<bf16>>, %v: tile<bf16>, %c: tile<i1>) {
  %r, %t = atomic_rmw_tko relaxed device %m, addf, %v, %c -> tile<bf16>, token
  %r2, %t2 = atomic_rmw_tko relaxed device %m, addf, %r, %c token = %t -> tile<bf16>, token
  return
}
entry @cas(%m: tile<ptr<i64>>, %v: tile<i64>, %w: tile<i64>, %c: tile<i1>) {
  %r, %t = atomic_cas_tko acq_rel sys %m, %v, %w, %c -> tile<i64>, token
  store_ptr_tko weak %m, %r token = %t -> token
  return
}
)",
                                     GetParam());
  ASSERT_EQ(c.error, "");
  EXPECT_EQ(AssemblerErrors(c, GetParam()), "");
  // The expected value is what a thread has that makes no access.
  const size_t cas = c.ptx.find("atom.acq_rel.sys.global.cas.b64");
  ASSERT_NE(cas, std::string::npos);
  const std::string before = c.ptx.substr(c.ptx.rfind('{', cas), cas - c.ptx.rfind('{', cas));
  EXPECT_TRUE(absl::StartsWith(before, "{ mov.b64 %rd")) << before;
  EXPECT_TRUE(absl::StrContains(before, "; @%p")) << before;
}

// What nobody asks for the old value of, and lies side by side from a multiple of 16 bytes on, goes together; with the old value, by elements.
constexpr char kNeighbours[] = R"(
entry @scatter(%m: tile<ptr<E>>, %v: tile<ptr<E>>) {
  %m.a = assume div_by<16>, %m
  %v.a = assume div_by<16>, %v
  %i = iota -> tile<1024xi32>
  %m.1 = reshape %m.a -> tile<1xptr<E>>
  %m.n = broadcast %m.1 -> tile<1024xptr<E>>
  %p = offset %m.n, %i
  %v.1 = reshape %v.a -> tile<1xptr<E>>
  %v.n = broadcast %v.1 -> tile<1024xptr<E>>
  %q = offset %v.n, %i
  %x, %t = load_ptr_tko weak %q
  %old, %t2 = atomic_rmw_tko relaxed device %p, addf, %x
  return
}
)";

TEST_P(AtomicPtx, NeighboursGoTogether) {
  const int sm = GetParam();
  const std::vector<std::array<std::string, 3>> rows = {
      {"f32", "red.relaxed.gpu.global.add.v4.f32", "red.relaxed.gpu.global.add.f32"},
      {"f16", "red.relaxed.gpu.global.add.noftz.v4.f16x2", "red.relaxed.gpu.global.add.noftz.f16x2"},
      {"bf16", "red.relaxed.gpu.global.add.noftz.v4.bf16x2", "atom.relaxed.gpu.global.cas.b16"}};
  for (const auto& [elem, vector, single] : rows) {
    const CompiledText c = CompileText(absl::StrReplaceAll(kNeighbours, {{"<E>", absl::StrCat("<", elem, ">")}}), sm);
    ASSERT_EQ(c.error, "") << elem;
    const std::vector<std::string> found = AtomicsIn(c.ptx);
    ASSERT_FALSE(found.empty()) << elem;
    for (const std::string& instruction : found) EXPECT_EQ(instruction, sm >= 90 ? vector : single) << elem;
    EXPECT_EQ(AssemblerErrors(c, sm), "") << elem;
  }
}

// Where later accesses must not come before, too: atom has vectors where red has, and two fences order all updates of a thread.
TEST_P(AtomicPtx, NeighboursThatAcquireGoTogether) {
  const int sm = GetParam();
  const CompiledText c =
      CompileText(absl::StrReplaceAll(kNeighbours, {{"<E>", "<f32>"}, {"relaxed device", "acq_rel device"}}), sm);
  ASSERT_EQ(c.error, "");
  const std::string one = "atom.relaxed.gpu.global.add.f32", four = "atom.relaxed.gpu.global.add.v4.f32";
  for (const std::string& instruction : AtomicsIn(c.ptx)) EXPECT_EQ(instruction, sm >= 90 ? four : one);
  EXPECT_EQ(AtomicsIn(c.ptx).size(), sm >= 90 ? 2 : 8);
  EXPECT_EQ(Count(c.ptx, "fence.acq_rel.gpu"), 2);
  EXPECT_EQ(AssemblerErrors(c, sm), "");
}

// Sums of 16 bits go in pairs, though half of the threads then have none.
TEST_P(AtomicPtx, FewHalvesGoInPairs) {
  const int sm = GetParam();
  const CompiledText c = CompileText(absl::StrReplaceAll(kNeighbours, {{"<E>", "<f16>"}, {"1024", "64"}}), sm);
  ASSERT_EQ(c.error, "");
  ASSERT_FALSE(AtomicsIn(c.ptx).empty());
  for (const std::string& instruction : AtomicsIn(c.ptx))
    EXPECT_EQ(instruction, "red.relaxed.gpu.global.add.noftz.f16x2");
  EXPECT_EQ(AssemblerErrors(c, sm), "");
}

INSTANTIATE_TEST_SUITE_P(Targets, AtomicPtx, testing::ValuesIn(AllSms()),
                         [](const auto& info) { return absl::StrCat("sm_", info.param); });

}  // namespace
}  // namespace tile::codegen
