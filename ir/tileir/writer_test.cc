// What is written reads back as the same program, and what a version cannot hold is refused by name.

#include "ir/tileir/writer.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/testing/tileir_encoder.h"
#include "ir/testing/tileir_samples.h"
#include "ir/tileir/reader.h"

namespace tile::ir {
namespace {

std::unique_ptr<Module> Read(const std::string& bytes) {
  auto m = ReadTileIr({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "t");
  EXPECT_TRUE(m.ok()) << m.status();
  return m.ok() ? *std::move(m) : std::make_unique<Module>();
}

std::string Write(const Module& m, int version) {
  auto bytes = WriteTileIr(m, version);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : "";
}

std::string Error(const Module& m, int version) {
  auto bytes = WriteTileIr(m, version);
  return bytes.ok() ? "no error" : std::string(bytes.status().message());
}

TEST(WriteTileIr, TheBytesOfASmallKernel) {
  for (int version : {1301, 1304, 1305}) {
    tileir::TestFile t(version);
    const uint64_t i = t.Tile(t.Element(3), {});
    t.Kernel("k", {i}, tileir::Bytes().Return());
    const std::string by_hand = t.Encode();
    EXPECT_EQ(Write(*Read(by_hand), version), by_hand) << version;
  }
}

TEST(WriteTileIr, SamplesReadBackEqualAtEveryLaterVersion) {
  for (int from = 1301; from <= 1305; ++from) {
    for (const tileir::Sample& s : tileir::Samples(from)) {
      auto m = Read(s.bytes);
      for (int to = from; to <= 1305; ++to) {
        EXPECT_EQ(FirstDifference(*m, *Read(Write(*m, to))), "") << s.name << " from " << from << " to " << to;
      }
    }
  }
}

TEST(WriteOldestTileIr, IsTheLowestVersionThatHoldsTheProgram) {
  for (int from = 1301; from <= 1305; ++from) {
    for (const tileir::Sample& s : tileir::Samples(from)) {
      auto m = Read(s.bytes);
      auto bytes = WriteOldestTileIr(*m);
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      int lowest = 1301;
      while (!WriteTileIr(*m, lowest).ok()) ++lowest;
      EXPECT_LE(lowest, from) << s.name;
      EXPECT_EQ(*bytes, Write(*m, lowest)) << s.name;
    }
  }
}

TEST(WriteTileIr, EqualModulesGiveEqualBytes) {
  for (const tileir::Sample& s : tileir::Samples(1305)) {
    const std::string once = Write(*Read(s.bytes), 1305);
    EXPECT_EQ(Write(*Read(once), 1305), once) << s.name;
  }
}

TEST(WriteTileIr, OlderVersionsRefuseWhatTheyLack) {
  const auto error = [](const char* name, int version) {
    for (const tileir::Sample& s : tileir::Samples(1305)) {
      if (s.name == name) return Error(*Read(s.bytes), version);
    }
    return std::string("no such sample");
  };
  EXPECT_EQ(error("arithmetic", 1302),
            "kernel arithmetic: the hint key `default` came with version 13.3; write that version instead of 13.2");
  EXPECT_EQ(error("atomics", 1304),
            "t: atomic_red_view_tko: `inbounds` came with version 13.5; write that version instead of 13.4");
  EXPECT_EQ(error("atomics", 1302),
            "t: atomic_red_view_tko: the operation came with version 13.3; write that version instead of 13.2");
  EXPECT_EQ(error("constants", 1301),
            "t: constant: f8E8M0FNU came with version 13.2; write that version instead of 13.1");
  EXPECT_EQ(error("control", 1301),
            "t: for: `unsigned_cmp` came with version 13.2; write that version instead of 13.1");
  EXPECT_EQ(error("globals", 1302), "global table: private came with version 13.3; write that version instead of 13.2");
  EXPECT_EQ(error("shapes", 1303), "t: ftoi: `saturating` came with version 13.4; write that version instead of 13.3");
  EXPECT_EQ(error("views", 1303),
            "t: load_view_tko: `inbounds` came with version 13.4; write that version instead of 13.3");
  EXPECT_EQ(error("globals", 1300), "version 13.0 is unknown; Tile IR 13.1 to 13.5 can be written");
}

// A kernel with one operation that Tile IR does not have, or not in this form.
struct Kernel {
  Module m;
  Function* f = m.AddFunction("k", {m.types().Scalar(Element::Pointer(Elem::kI32)), m.types().Scalar(Elem::kI32)});
  Builder b{&m, f->body()};
  Type i32 = m.types().Scalar(Elem::kI32), token = m.types().Token();
};

TEST(WriteTileIr, ExtensionsAreRefusedByName) {
  {
    Kernel k;
    k.b.Create(Opcode::kAtomicRmw, {{k.f->param(0)}, {k.f->param(1)}, {}, {}}, {k.i32, k.token},
               {{"scope", Attr::Enum(MemoryScope::kCluster)}, {"mode", Attr::Enum(RmwMode::kAdd)}});
    EXPECT_EQ(Error(k.m, 1305),
              "<unknown>: atomic_rmw_tko: scope cluster is an extension that Tile IR does not have; keep the "
              "module as .tbc or .tile");
  }
  {
    Kernel k;
    k.b.Create(Opcode::kAtomicRmw, {{k.f->param(0)}, {k.f->param(1)}, {}, {}}, {k.i32, k.token},
               {{"scope", Attr::Enum(MemoryScope::kDevice)}, {"mode", Attr::Enum(RmwMode::kInc)}});
    EXPECT_NE(Error(k.m, 1305).find("mode inc is an extension"), std::string::npos);
  }
  {
    Kernel k;
    k.b.Create(Opcode::kAllocShared, {},
               {k.m.types().TensorView(Element::Number(Elem::kF32), {4}, {1}, MemorySpace::kShared)},
               {{"alignment", Attr::Int(AttrKind::kInt, 4)}});
    EXPECT_NE(Error(k.m, 1305).find("alloc_shared: the operation is an extension"), std::string::npos);
  }
  {
    Kernel k;
    k.f->blocks_per_cluster[0] = 2;
    EXPECT_NE(Error(k.m, 1305).find("kernel k: a cluster of blocks is an extension"), std::string::npos);
  }
}

TEST(WriteTileIr, UsedTokenOfPrintNeeds13_2) {
  Kernel k;
  Op* print =
      k.b.Create(Opcode::kPrint, {{k.f->param(1)}, {}}, {k.token}, {{"format", Attr::String(AttrKind::kString, "%d")}});
  EXPECT_EQ(Read(Write(k.m, 1301))->functions[0]->body()->front()->num_results(), 0) << "an unused token is left out";
  k.b.Create(Opcode::kPrint, {{}, {print->result(0)}}, {k.token}, {{"format", Attr::String(AttrKind::kString, "x")}});
  EXPECT_NE(Error(k.m, 1301).find("print_tko: a used result came with version 13.2"), std::string::npos);
  EXPECT_EQ(FirstDifference(k.m, *Read(Write(k.m, 1302)), {}), "module name: kernels, other: t");
}

// Attribute values that no sample has.
TEST(WriteTileIr, PredicatesHintsAndIdentities) {
  Kernel k;
  k.m.name = "t";
  const Type tile = k.m.types().Tile(Element::Number(Elem::kI32), {8, 4});
  Value* v = k.b.Create(Opcode::kConstant, {}, {tile}, {{"value", Attr::Of([] {
                                                           static const uint8_t bytes[] = {7, 0, 0, 0};
                                                           static const Dense d{Elem::kI32, true, bytes};
                                                           return &d;
                                                         }())}})
                 ->result(0);
  Predicate every;
  every.divisor = uint64_t{1} << 62;
  every.every = 4;
  every.along = 1;
  v = k.b.Create(Opcode::kAssume, {{v}}, {tile}, {{"predicate", Attr::Of(&every)}})->result(0);
  Predicate same;
  same.kind = Predicate::Kind::kSameElements;
  const int64_t groups[] = {8, 1};
  same.groups = groups;
  v = k.b.Create(Opcode::kAssume, {{v}}, {tile}, {{"predicate", Attr::Of(&same)}})->result(0);
  Predicate upper;
  upper.kind = Predicate::Kind::kBounded;
  upper.upper = -1;
  k.b.Create(Opcode::kAssume, {{v}}, {tile}, {{"predicate", Attr::Of(&upper)}});

  const Scalar identities[] = {{Elem::kF16, 0xFC00},       {Elem::kTF32, 0xBF802000},       {Elem::kF8E4M3FN, 0xFF},
                               {Elem::kF64, ~uint64_t{0}}, {Elem::kI64, uint64_t{1} << 63}, {Elem::kI1, 1},
                               {Elem::kF32, 0xFF800000}};
  std::vector<Value*> operands;
  std::vector<Type> results, args;
  for (const Scalar& s : identities) {
    const Type vec = k.m.types().Tile(Element::Number(s.elem), {8});
    operands.push_back(k.b.Create(Opcode::kUnpack, {{k.f->param(1)}}, {vec})->result(0));
    results.push_back(k.m.types().Scalar(s.elem));
    args.insert(args.end(), 2, results.back());
  }
  Op* reduce = k.b.Create(Opcode::kReduce, {operands}, results,
                          {{"dim", Attr::Int(AttrKind::kInt, 0)}, {"identities", Attr::Scalars(identities)}});
  Block* body = k.b.AddRegion(reduce, 0, args);
  {
    Builder::Scope s(k.b, body);
    std::vector<Value*> values;
    for (int i = 0; i < body->num_args(); i += 2) values.push_back(body->arg(i));
    k.b.Create(Opcode::kYield, {values}, {});
  }
  Hint list[3];
  list[0].name = "allow_tma";
  list[0].kind = Hint::Kind::kBool;
  list[1].name = "text";
  list[1].kind = Hint::Kind::kString;
  list[1].text = "x y";
  list[2].name = "wide";
  list[2].number = -5;
  list[2].int_bits = 64;
  const ArchHints archs[] = {{"default", {}}, {"sm_90", {list, 3}}};
  Hints hints;
  hints.archs = archs;
  k.f->hints = &hints;
  k.b.Create(Opcode::kReturn, {{}}, {});
  for (int version = 1303; version <= 1305; ++version) EXPECT_EQ(FirstDifference(k.m, *Read(Write(k.m, version))), "");
}

// nvcc writes a truth value as an integer of one bit, whose 1 is all ones.
TEST(WriteTileIr, HintsOfOneBitAreTruthValues) {
  for (const int64_t number : {0, 1, -1}) {
    Kernel k;
    Hint hint;
    hint.name = "allow_tma";
    hint.number = number;
    hint.int_bits = 1;
    const ArchHints archs[] = {{"sm_90", {&hint, 1}}};
    Hints hints;
    hints.archs = archs;
    k.f->hints = &hints;
    k.b.Create(Opcode::kReturn, {{}}, {});
    const auto m = Read(Write(k.m, 1305));
    const Hint& read = m->functions[0]->hints->archs[0].hints[0];
    EXPECT_EQ(read.kind, Hint::Kind::kBool);
    EXPECT_EQ(read.number, number != 0);
  }
}

TEST(WriteTileIr, EmptyDefaultHintsAreLeftOutBefore13_3) {
  Kernel k;
  const ArchHints archs[] = {{"default", {}}};
  Hints hints;
  hints.archs = archs;
  k.f->hints = &hints;
  EXPECT_EQ(Read(Write(k.m, 1301))->functions[0]->hints, nullptr);
  EXPECT_NE(Read(Write(k.m, 1303))->functions[0]->hints, nullptr);
}

}  // namespace
}  // namespace tile::ir
