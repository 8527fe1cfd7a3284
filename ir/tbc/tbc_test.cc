// Writing and reading back: every operation of the table, every part of a module, byte for byte.
#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/compare.h"
#include "ir/limits.h"
#include "ir/tbc/crc32.h"
#include "ir/tbc/mapped_file.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/testing/tbc_samples.h"

namespace tile::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::Span<const uint8_t> Bytes(const std::string& s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

// Writes, reads, compares, writes again: the bytes must be the same.
void RoundTrip(const Module& module) {
  const absl::StatusOr<std::string> bytes = WriteTbc(module);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_TRUE(LooksLikeTbc(Bytes(*bytes)));
  const absl::StatusOr<std::unique_ptr<Module>> read = ReadTbc(Bytes(*bytes), "test.tbc");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FirstDifference(module, **read), "");
  EXPECT_EQ((*read)->source_name, "test.tbc");
  const absl::StatusOr<std::string> again = WriteTbc(**read);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(*bytes == *again) << "the bytes differ";
}

TEST(Tbc, EmptyModule) { RoundTrip(Module()); }
TEST(Tbc, EveryOpInFull) { RoundTrip(*EveryOp(true)); }
TEST(Tbc, EveryOpAtItsLeast) { RoundTrip(*EveryOp(false)); }
TEST(Tbc, EverythingElse) { RoundTrip(*EverythingElse()); }
TEST(Tbc, Typical) { RoundTrip(*Typical(2000)); }

TEST(Tbc, EqualModulesGiveEqualBytes) {
  EXPECT_TRUE(*WriteTbc(*EverythingElse()) == *WriteTbc(*EverythingElse()));
  EXPECT_TRUE(*WriteTbc(*EveryOp(true)) == *WriteTbc(*EveryOp(true)));
}

// Names of values are the text's own; two texts that differ in them are one program.
TEST(Tbc, NamesOfValuesAreNotStored) {
  const auto a = EverythingElse(), b = EverythingElse();
  b->functions[0]->param(0)->name = "x";
  b->functions[0]->body()->front()->pos = {3, 4};
  EXPECT_TRUE(*WriteTbc(*a) == *WriteTbc(*b));
}

TEST(Tbc, StripDebug) {
  const auto m = EverythingElse();
  const std::string bytes = *WriteTbc(*m), stripped = *WriteTbc(*m, {.strip_debug = true});
  const auto bare = *ReadTbc(Bytes(stripped), "");
  EXPECT_TRUE(bare->debug.empty());
  EXPECT_EQ(bare->functions[0]->loc, 0u);
  EXPECT_EQ(FirstDifference(*m, *bare, {.debug = false}), "");
  EXPECT_LT(stripped.size(), bytes.size());
  EXPECT_FALSE(InspectTbc(Bytes(stripped))->has_debug);
}

TEST(Tbc, HashCoversTheCodeOnly) {
  const auto a = EverythingElse(), b = EverythingElse();
  b->debug[0].line = 99;
  b->producer = "another";
  b->functions[0]->interface = nullptr;
  EXPECT_EQ(*HashCode(*a), *HashCode(*b));
  EXPECT_EQ(*HashCode(*a), InspectTbc(Bytes(*WriteTbc(*b)))->code_hash);
  b->functions[0]->hints = nullptr;
  EXPECT_NE(*HashCode(*a), *HashCode(*b));
}

TEST(Crc32, IsTheOneOfZlib) {
  EXPECT_EQ(Crc32({}), 0u);
  EXPECT_EQ(Crc32(Bytes("123456789")), 0xCBF43926u);
  EXPECT_EQ(Crc32(Bytes(std::string(1000, 'a'))), 0x9A38DA03u);
  EXPECT_EQ(Crc32(Bytes("the quick brown fox jumps over the lazy dog")), 0xCE0C5114u);
}

TEST(Tbc, EqualConstantsAreStoredOnce) {
  Module m;
  const std::vector<uint8_t> data(4096, 7);
  const Type tile = m.types().Tile(Element::Number(Elem::kI8), {4096});
  Builder b(&m, m.AddFunction("k", {})->body());
  for (int i = 0; i < 100; ++i) {
    Dense* d = m.arena().New<Dense>();
    d->elem = Elem::kI8;
    d->bytes = m.arena().Copy(absl::MakeConstSpan(data));
    b.Create(Opcode::kConstant, {}, {tile}, {{"value", Attr::Of(d)}});
  }
  const std::string bytes = *WriteTbc(m);
  EXPECT_LT(bytes.size(), 16 << 10);
  RoundTrip(m);
}

TEST(Tbc, AnyBaseWillDo) {
  const auto m = EverythingElse();
  const std::string bytes = *WriteTbc(*m);
  for (int shift = 0; shift < 32; ++shift) {
    const std::string moved = std::string(shift, 'x') + bytes;
    const auto read = ReadTbc(Bytes(moved).subspan(shift), "");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(FirstDifference(*m, **read), "");
  }
}

TEST(Tbc, Images) {
  const auto m = EverythingElse();
  Image second = SampleImage();
  second.kernel = 1;
  second.code_hash = *HashCode(*m);
  const Image images[] = {SampleImage(), second};
  const std::string bytes = *WriteTbc(*m, {.images = images});
  EXPECT_EQ(FirstDifference(*m, **ReadTbc(Bytes(bytes), "")), "");
  for (int shift : {0, 3}) {  // aligned and not
    const std::string moved = std::string(shift, 'x') + bytes;
    const auto span = Bytes(moved).subspan(shift);
    const auto read = ReadTbcImages(span, "");
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->size(), 2u);
    const Image &a = images[0], &b = (*read)[0];
    EXPECT_EQ(std::tie(a.kind, a.arch, a.kernel, a.symbol, a.threads, a.shared_bytes, a.cluster, a.driver_floor),
              std::tie(b.kind, b.arch, b.kernel, b.symbol, b.threads, b.shared_bytes, b.cluster, b.driver_floor));
    EXPECT_EQ(std::tie(a.grid, a.flags, a.registers, a.code_hash), std::tie(b.grid, b.flags, b.registers, b.code_hash));
    EXPECT_TRUE(a.requirements == b.requirements && a.params == b.params && a.workspaces == b.workspaces);
    EXPECT_TRUE(a.tma == b.tma && a.sites == b.sites);
    EXPECT_EQ(a.static_shared_bytes, b.static_shared_bytes);
    EXPECT_EQ(a.payload, b.payload);
    EXPECT_TRUE(b.payload.data() > span.data() && b.payload.data() < span.data() + span.size());
  }
  // Written again with what was read: the same file.
  const auto read = *ReadTbcImages(Bytes(bytes), "");
  EXPECT_TRUE(bytes == *WriteTbc(*m, {.images = read}));
  Image wrong = SampleImage();
  wrong.kernel = 2;
  EXPECT_THAT(std::string(WriteTbc(*m, {.images = {&wrong, 1}}).status().message()), HasSubstr("image of kernel 2"));
}

TEST(Tbc, Inspect) {
  const auto m = EverythingElse();
  Image image = SampleImage();
  image.code_hash = *HashCode(*m);
  const std::string bytes = *WriteTbc(*m, {.images = {&image, 1}});
  const auto info = InspectTbc(Bytes(bytes));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->version.ToString(), "0.1");
  EXPECT_THAT(info->features, ElementsAre("tile_ir_13.3", "tile_ir_13.4", "extensions"));
  EXPECT_TRUE(info->readable);
  EXPECT_EQ(info->name, "everything");
  EXPECT_EQ(info->producer, "test");
  ASSERT_EQ(info->kernels.size(), 2u);
  EXPECT_EQ(info->kernels[0].name, "k");
  EXPECT_TRUE(info->kernels[0].has_interface);
  EXPECT_FALSE(info->kernels[1].has_interface);
  EXPECT_THAT(info->globals, ElementsAre("g", "zeros"));
  ASSERT_EQ(info->images.size(), 1u);
  EXPECT_EQ(info->images[0].arch, "sm_90a");
  EXPECT_TRUE(info->images[0].current);
  EXPECT_EQ(info->image_bytes, 13u);
  EXPECT_EQ(info->constant_bytes, 16u);
  EXPECT_EQ(info->file_bytes, bytes.size());
  EXPECT_TRUE(info->has_debug);
  EXPECT_GT(info->num_ops, 20u);
}

TEST(Tbc, WriterNamesWhatItCantHold) {
  const auto message = [](const Module& m) { return std::string(WriteTbc(m).status().message()); };
  {
    Module m;
    const Type i32 = m.types().Scalar(Elem::kI32);
    Function* f = m.AddFunction("k", {i32});
    Builder b(&m, f->body());
    Op* branch = b.Create(Opcode::kIf, {{f->param(0)}}, {i32});
    {
      Builder::Scope scope(b, b.AddRegion(branch, 0, {i32}));
      b.Create(Opcode::kYield, {{branch->result(0)}}, {});
    }
    EXPECT_THAT(message(m), HasSubstr("@k, op 1 (yield): operand 0 is not visible here"));
    branch->region(0)->front()->set_operand(0, branch->region(0)->arg(0));
    EXPECT_EQ(message(m), "");
    b.Create(Opcode::kYield, {{branch->region(0)->arg(0)}}, {});
    EXPECT_THAT(message(m), HasSubstr("@k, op 2 (yield): operand 0 is not visible here"));
  }
  {
    Module m;
    Builder b(&m, m.AddFunction("k", {})->body());
    b.Create(Opcode::kConstant, {}, {m.types().Scalar(Elem::kI32)});
    EXPECT_THAT(message(m), HasSubstr("@k, op 0 (constant): attribute value is missing"));
  }
  {
    const AttrInfo note{.name = "note", .kind = AttrKind::kInt};
    Module m;
    Builder b(&m, m.AddFunction("k", {})->body());
    m.Annotate(b.Create(Opcode::kReturn, {}, {}), note, Attr::Int(AttrKind::kInt, 1));
    EXPECT_THAT(message(m), HasSubstr("@k, op 0 (return): has annotations, which are not stored"));
    m.functions[0]->body()->front()->DropAnnotations();
    EXPECT_EQ(message(m), "");
  }
  {
    Module m;
    m.AddFunction("k", {m.types().Function({}, {})});
    EXPECT_THAT(message(m), HasSubstr("a function type is no type of a value"));
  }
  {
    Module m;
    m.AddGlobal("g", Elem::kF32, 3);
    EXPECT_THAT(message(m), HasSubstr("@g: 0 bytes of elements do not fill 3 elements"));
  }
  {
    Module m;
    Builder b(&m, m.AddFunction("k", {})->body());
    for (int i = 0; i < kMaxNesting + 2; ++i) {
      Op* loop = b.Create(Opcode::kLoop, {}, {});
      b.set_block(b.AddRegion(loop, 0, {}));
    }
    EXPECT_THAT(message(m), HasSubstr("more than 64 regions inside each other"));
  }
}

TEST(Tbc, DeepestNesting) {
  Module m;
  Builder b(&m, m.AddFunction("k", {})->body());
  for (int i = 0; i < kMaxNesting; ++i) b.set_block(b.AddRegion(b.Create(Opcode::kLoop, {}, {}), 0, {}));
  RoundTrip(m);
}

TEST(Tbc, DebugRecordsInACircle) {
  Module m;
  m.debug.resize(2);
  m.debug[0].scope = 2;
  m.debug[1].scope = 1;
  EXPECT_THAT(std::string(WriteTbc(m).status().message()), HasSubstr("in a circle"));
  m.debug[1].scope = 3;
  EXPECT_THAT(std::string(WriteTbc(m).status().message()), HasSubstr("refers to 3, which does not exist"));
}

// The seeds of the fuzzer are still files of this format.
TEST(Tbc, CorpusCanBeRead) {
  for (const char* name : {"empty", "least", "full", "else", "typical"}) {
    const std::string path = absl::StrCat("ir/tbc/corpus/", name, ".tbc");
    const absl::StatusOr<MappedFile> file = MappedFile::Open(path);
    ASSERT_TRUE(file.ok()) << file.status();
    const auto read = ReadTbc(file->bytes(), path);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(WriteTbc(**read).ok());
  }
}

TEST(Sha256, KnownAnswers) {
  const auto hex = [](absl::string_view s) {
    const Sha256Digest d = Sha256({reinterpret_cast<const uint8_t*>(s.data()), s.size()});
    return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(d.data()), d.size()));
  };
  EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(MappedFile, FilesAndErrors) {
  const std::string path = testing::TempDir() + "/mapped_file_test";
  FILE* f = std::fopen(path.c_str(), "w");
  std::fputs("bytes", f);
  std::fclose(f);
  {
    absl::StatusOr<MappedFile> file = MappedFile::Open(path);
    ASSERT_TRUE(file.ok()) << file.status();
    const MappedFile moved = std::move(*file);
    EXPECT_EQ(std::string(moved.bytes().begin(), moved.bytes().end()), "bytes");
  }
  EXPECT_TRUE(MappedFile::Open("/dev/null")->bytes().empty());
  EXPECT_EQ(MappedFile::Open("/no/such/file").status().message(), "/no/such/file: No such file or directory");
  EXPECT_THAT(std::string(MappedFile::Open("/").status().message()), HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace tile::ir
