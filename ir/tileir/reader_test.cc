// What the reader makes of files written by hand: every kind of field, and every byte whose meaning changed
// between 13.1 and 13.5.

#include "ir/tileir/reader.h"

#include <gtest/gtest.h>

#include "ir/testing/tileir_encoder.h"
#include "ir/testing/tileir_samples.h"

namespace tile::ir {
namespace {

using tileir::Bytes;
using tileir::Sample;
using tileir::Samples;
using tileir::TestFile;

absl::Span<const uint8_t> Span(const std::string& s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

std::unique_ptr<Module> Read(const std::string& bytes) {
  auto m = ReadTileIr(Span(bytes), "t.tilebc");
  EXPECT_TRUE(m.ok()) << m.status();
  return m.ok() ? *std::move(m) : std::make_unique<Module>();
}

std::unique_ptr<Module> ReadSample(const std::string& name, int version) {
  for (const Sample& s : Samples(version)) {
    if (s.name == name) return Read(s.bytes);
  }
  ADD_FAILURE() << "no sample " << name;
  return nullptr;
}

// The i-th operation with this mnemonic, in textual order.
Op* FindOpIn(const Module& m, absl::string_view mnemonic, int i = 0) {
  Op* found = nullptr;
  for (const auto& f : m.functions) {
    Walk(f->body(), [&](Op* op) {
      if (op->info()->mnemonic == mnemonic && i-- == 0) found = op;
    });
  }
  EXPECT_NE(found, nullptr) << mnemonic;
  return found;
}

TEST(LooksLikeTileIr, TellsByTheMagic) {
  EXPECT_TRUE(LooksLikeTileIr(Span(TestFile(1301).Encode())));
  EXPECT_FALSE(
      LooksLikeTileIr(Span("\x7F"
                           "ELF")));
  EXPECT_FALSE(LooksLikeTileIr({}));
}

TEST(ReadTileIr, EmptyModuleOfEveryVersion) {
  for (int version = 1301; version <= 1305; ++version) {
    TileIrInfo info;
    const std::string bytes = TestFile(version).Encode();
    auto m = ReadTileIr(Span(bytes), "dir/empty.tilebc", &info);
    ASSERT_TRUE(m.ok()) << m.status();
    EXPECT_EQ((*m)->name, "empty");
    EXPECT_EQ((*m)->source_name, "dir/empty.tilebc");
    EXPECT_TRUE((*m)->functions.empty());
    EXPECT_EQ(info.version, version);
    EXPECT_TRUE(info.sections[1].present && info.sections[2].present);
    EXPECT_FALSE(info.sections[5].present);
    EXPECT_EQ(info.sections[2].size, 1u);
  }
}

TEST(ReadTileIr, ArithmeticAcrossVersions) {
  for (int version = 1301; version <= 1305; ++version) {
    SCOPED_TRACE(version);
    auto m = ReadSample("arithmetic", version);
    EXPECT_EQ(FindOpIn(*m, "addi")->attr("overflow").as_enum<Overflow>(), Overflow::kNoWrap);
    EXPECT_EQ(FindOpIn(*m, "cmpi")->attr("predicate").as_enum<ComparisonPredicate>(), ComparisonPredicate::kLessThan);
    EXPECT_EQ(FindOpIn(*m, "cmpi")->attr("signedness").as_enum<Signedness>(), Signedness::kSigned);
    EXPECT_EQ(FindOpIn(*m, "negi")->attr("overflow").as_enum<Overflow>(),
              version >= 1302 ? Overflow::kNoSignedWrap : Overflow::kNone);
    EXPECT_EQ(FindOpIn(*m, "exp")->attr("rounding").as_enum<Rounding>(),
              version >= 1303 ? Rounding::kApprox : Rounding::kFull);
    EXPECT_TRUE(FindOpIn(*m, "addf")->attr("flush_to_zero").as_bool());
    EXPECT_EQ(FindOpIn(*m, "select")->operand("val_if_false"), FindOpIn(*m, "addi")->result(0));
    const Predicate& div_by = FindOpIn(*m, "assume")->attr("predicate").predicate();
    EXPECT_EQ(div_by.divisor, 16u);
    EXPECT_FALSE(div_by.every || div_by.along);
    const Predicate& bounded = FindOpIn(*m, "assume", 1)->attr("predicate").predicate();
    EXPECT_EQ(bounded.lower, -4);
    EXPECT_FALSE(bounded.upper);
    const Hints& hints = *m->functions[0]->hints;
    ASSERT_EQ(hints.archs.size(), 1u);
    EXPECT_EQ(hints.archs[0].arch, version >= 1303 ? "default" : "sm_90");
    EXPECT_EQ(hints.archs[0].hints[0].name, "occupancy");
    EXPECT_EQ(hints.archs[0].hints[0].number, 2);
    EXPECT_EQ(hints.archs[0].hints[0].int_bits, 32);
  }
}

TEST(ReadTileIr, DebugRecordsAreKeptOnceAndInOrder) {
  auto m = ReadSample("arithmetic", 1305);
  // file, compile unit, subprogram, location, block, location, call site; the eighth equals the fourth.
  ASSERT_EQ(m->debug.size(), 7u);
  const LocId where = m->functions[0]->loc;
  EXPECT_EQ(m->Where(where, {}), "k.py:9:4");
  EXPECT_EQ(FindOpIn(*m, "addi")->loc, where);
  EXPECT_EQ(FindOpIn(*m, "cmpi")->loc, where);
  EXPECT_EQ(m->Where(FindOpIn(*m, "select")->loc, {}), "k.py:10:6");
  EXPECT_EQ(FindOpIn(*m, "itof")->loc, 0u);
  const DebugRecord* call = m->FindDebug(FindOpIn(*m, "negi")->loc);
  ASSERT_EQ(call->kind, DebugRecord::Kind::kCallSite);
  EXPECT_EQ(call->caller, where);
  const DebugRecord* block = m->FindDebug(m->FindDebug(call->callee)->scope);
  ASSERT_EQ(block->kind, DebugRecord::Kind::kLexicalBlock);
  const DebugRecord* subprogram = m->FindDebug(block->scope);
  EXPECT_EQ(subprogram->linkage_name, "arithmetic");
  EXPECT_EQ(subprogram->scope_line, 8u);
  EXPECT_EQ(m->FindDebug(m->FindDebug(subprogram->scope)->file)->directory, "/src");
}

TEST(ReadTileIr, OptionalOperandsAndHintsOfMemoryOperations) {
  auto m = ReadSample("pointers", 1304);
  Op* load = FindOpIn(*m, "load_ptr_tko");
  EXPECT_EQ(load->attr("ordering").as_enum<MemoryOrdering>(), MemoryOrdering::kRelaxed);
  EXPECT_EQ(load->attr("scope").as_enum<MemoryScope>(), MemoryScope::kDevice);
  EXPECT_EQ(load->attr("hints").hints().archs[0].hints[0].name, "latency");
  EXPECT_EQ(load->operand("mask"), FindOpIn(*m, "cmpi")->result(0));
  EXPECT_EQ(load->operand("padding_value"), FindOpIn(*m, "constant", 1)->result(0));
  EXPECT_EQ(load->operand("token"), FindOpIn(*m, "make_token")->result(0));
  Op* store = FindOpIn(*m, "store_ptr_tko");
  EXPECT_FALSE(store->attr("scope").present());
  EXPECT_FALSE(store->attr("hints").present());
  EXPECT_EQ(store->operand("value"), load->result(0));
  EXPECT_EQ(store->operand("token"), FindOpIn(*m, "join_tokens")->result(0));
  const Dense& splat = FindOpIn(*m, "constant")->attr("value").dense();
  EXPECT_TRUE(splat.splat);
  EXPECT_EQ(splat.bytes.size(), 4u);
}

TEST(ReadTileIr, ViewsAcrossVersions) {
  for (int version = 1301; version <= 1305; ++version) {
    SCOPED_TRACE(version);
    auto m = ReadSample("views", version);
    EXPECT_EQ(FindOpIn(*m, "make_partition_view")->result(0)->type().ToString(),
              "partition_view<tile=(8x16), padding_value = nan, tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>");
    Op* load = FindOpIn(*m, "load_view_tko");
    EXPECT_EQ(load->group("index").size(), 2u);
    EXPECT_EQ(load->attr("inbounds").bools().size(), version >= 1304 ? 2u : 0u);
    Op* store = FindOpIn(*m, "store_view_tko");
    EXPECT_EQ(store->attr("scope").as_enum<MemoryScope>(), MemoryScope::kSys);
    EXPECT_TRUE(store->attr("inbounds").bools().empty()) << "all false is written as empty";
    EXPECT_EQ(store->operand("tile"), load->result(0));
    EXPECT_EQ(FindOpIn(*m, "get_index_space_shape")->num_results(), 2);
    EXPECT_EQ(FindOpIn(*m, "make_tensor_view")->group("dynamic_strides").size(), 1u);
  }
}

TEST(ReadTileIr, RegionsNestAndForgetTheirValues) {
  for (int version = 1301; version <= 1305; ++version) {
    auto m = ReadSample("control", version);
    Op* loop = FindOpIn(*m, "for");
    EXPECT_EQ(loop->attr("unsigned_cmp").as_bool(), version >= 1302);
    EXPECT_EQ(loop->region(0)->num_args(), 2);
    EXPECT_EQ(loop->region(0)->terminator()->operand(0), FindOpIn(*m, "addi")->result(0));
    EXPECT_EQ(FindOpIn(*m, "cmpi")->operand("lhs"), loop->result(0));
    EXPECT_EQ(FindOpIn(*m, "break")->operand(0), FindOpIn(*m, "loop")->region(0)->arg(0));
    EXPECT_EQ(FindOpIn(*m, "assert")->attr("message").as_string(), "must hold");
    EXPECT_EQ(FindOpIn(*m, "if", 1)->region(1)->terminator()->num_operands(), 0);
  }
}

TEST(ReadTileIr, IdentitiesKeepTheirBits) {
  auto m = ReadSample("reductions", 1301);
  EXPECT_EQ(FindOpIn(*m, "reduce")->attr("identities").scalars()[0], (Scalar{Elem::kF32, 0}));
  Op* scan = FindOpIn(*m, "scan");
  EXPECT_EQ(scan->attr("identities").scalars()[0], (Scalar{Elem::kI32, 0xFFFFFFFF}));
  EXPECT_TRUE(scan->attr("reverse").as_bool());
}

TEST(ReadTileIr, Atomics) {
  EXPECT_EQ(FindOpIn(*ReadSample("atomics", 1301), "atomic_cas_tko")->attr("scope").as_enum<MemoryScope>(),
            MemoryScope::kSys);
  for (int version = 1303; version <= 1305; ++version) {
    auto m = ReadSample("atomics", version);
    Op* red = FindOpIn(*m, "atomic_red_view_tko");
    EXPECT_EQ(red->attr("mode").as_enum<RmwMode>(), RmwMode::kMax);
    EXPECT_EQ(red->attr("inbounds").bools().size(), version >= 1305 ? 1u : 0u);
    EXPECT_EQ(red->operand("value"), FindOpIn(*m, "constant")->result(0));
    EXPECT_EQ(red->operand("token"), FindOpIn(*m, "atomic_cas_tko")->result(1));
  }
}

TEST(ReadTileIr, ConstantsOfEveryPacking) {
  auto m = ReadSample("constants", 1304);
  const auto dense = [&](int i) -> const Dense& { return FindOpIn(*m, "constant", i)->attr("value").dense(); };
  const auto bytes = [&](int i) { return std::vector<uint8_t>(dense(i).bytes.begin(), dense(i).bytes.end()); };
  EXPECT_EQ(bytes(0), (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_TRUE(dense(1).splat);
  EXPECT_EQ(bytes(1), std::vector<uint8_t>{1});
  EXPECT_FALSE(dense(2).splat);
  EXPECT_EQ(bytes(2), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(bytes(3), (std::vector<uint8_t>{1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(bytes(4), (std::vector<uint8_t>{0, 0, 0x80, 0x3F, 0, 0, 0, 0x40}));  // tf32 1, 2 as f32 words
  EXPECT_TRUE(dense(5).splat);
  EXPECT_EQ(bytes(5), (std::vector<uint8_t>{0, 0, 0x80, 0x3F}));
  EXPECT_EQ(bytes(6).size(), 8u);
  EXPECT_EQ(bytes(7), (std::vector<uint8_t>{0x38, 0x40}));
  EXPECT_EQ(dense(8).elem, Elem::kF8E8M0FNU);
  EXPECT_EQ(bytes(9), (std::vector<uint8_t>{1, 2, 3, 4}));  // f4: a byte each
  EXPECT_EQ(dense(10).elem, Elem::kF8E5M3FNU);
}

TEST(ReadTileIr, GlobalsPrintAndProducer) {
  for (int version = 1301; version <= 1305; ++version) {
    auto m = ReadSample("globals", version);
    const Global* g = m->FindGlobal("table");
    ASSERT_NE(g, nullptr);
    EXPECT_EQ(g->count, 2);
    EXPECT_EQ(g->alignment, 16u);
    EXPECT_EQ(g->constant, version >= 1303);
    EXPECT_EQ(g->visibility, version >= 1303 ? Visibility::kPrivate : Visibility::kPublic);
    EXPECT_EQ(g->value.bytes[4], 2);
    EXPECT_EQ(m->producer, version >= 1303 ? "by hand" : "");
    EXPECT_EQ(FindOpIn(*m, "get_global")->attr("name").as_string(), "table");
    Op* print = FindOpIn(*m, "print_tko");
    EXPECT_EQ(print->num_results(), version >= 1302 ? 1 : 0);
    EXPECT_EQ(print->operand("token") != nullptr, version >= 1302);
    EXPECT_EQ(print->attr("format").as_string(), "%d\n");
    EXPECT_EQ(m->functions.size(), 2u);
  }
}

TEST(ReadTileIr, ShapesAndFlagsOf13_4) {
  for (int version = 1301; version <= 1305; ++version) {
    auto m = ReadSample("shapes", version);
    EXPECT_EQ(FindOpIn(*m, "permute")->attr("permutation").ints()[0], 1);
    EXPECT_EQ(FindOpIn(*m, "extract")->group("indices").size(), 2u);
    EXPECT_EQ(FindOpIn(*m, "ftoi")->attr("saturating").as_bool(), version >= 1304);
    EXPECT_EQ(FindOpIn(*m, "ftoi")->attr("rounding").as_enum<Rounding>(), Rounding::kNearestIntToZero);
  }
  EXPECT_EQ(FindOpIn(*ReadSample("shapes", 1304), "insert")->group("indices").size(), 2u);
}

TEST(ReadTileIr, ViewsOf13_3AndTokensOf13_4) {
  auto m = ReadSample("new_views", 1304);
  EXPECT_EQ(FindOpIn(*m, "make_strided_view")->result(0)->type().ToString(),
            "strided_view<tile=(4x2), traversal_strides=[4,3], padding_value = zero, tensor_view<64x16xf32, "
            "strides=[16,1]>>");
  EXPECT_EQ(
      FindOpIn(*m, "make_gather_scatter_view")->result(0)->type().ToString(),
      "gather_scatter_view<tile=(4x2), padding_value = pos_inf, tensor_view<64x16xf32, strides=[16,1]>, sparse_dim=0>");
  EXPECT_EQ(FindOpIn(*m, "gdc_launch_dependents_tko")->operand("token"), nullptr);
  EXPECT_EQ(FindOpIn(*m, "gdc_wait_tko")->operand("token"), FindOpIn(*m, "gdc_launch_dependents_tko")->result(0));
}

TEST(ReadTileIr, HintsAreSortedByKey) {
  TestFile t(1305);
  const uint64_t i32 = t.Element(3), sm = t.String("sm_90"), any = t.String("default");
  const uint64_t occupancy = t.String("occupancy"), cga = t.String("num_cta_in_cga");
  t.Kernel("k", {}, Bytes().Return(), Bytes().Vs({11, 2, sm, 10, 2, occupancy, 1, i32, 2, cga, 1, i32, 1, any, 10, 0}));
  auto m = Read(t.Encode());
  const Hints& hints = *m->functions[0]->hints;
  EXPECT_EQ(hints.archs[0].arch, "default");
  EXPECT_EQ(hints.archs[1].hints[0].name, "num_cta_in_cga");
  EXPECT_EQ(hints.archs[1].hints[1].number, 2);
}

TEST(ReadTileIr, PrivateKernel) {
  TestFile t(1303);
  t.Kernel("k", {}, Bytes().Return(), {}, 3);
  EXPECT_EQ(Read(t.Encode())->functions[0]->visibility, Visibility::kPrivate);
}

TEST(ReadTileIr, TheBytesMayGoAfterwards) {
  auto bytes = std::make_unique<std::string>(Samples(1305)[0].bytes);
  auto m = Read(*bytes);
  bytes.reset();
  EXPECT_EQ(m->functions[0]->name, "arithmetic");
  EXPECT_EQ(m->Where(m->functions[0]->loc, {}), "k.py:9:4");
}

}  // namespace
}  // namespace tile::ir
