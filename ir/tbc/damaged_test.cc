// Damaged and hostile files: an error that says what is wrong, or a module as sound as any other
// (ir/testing/error_or_sound.h).
#include <cstring>
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/limits.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/schema.h"
#include "ir/tbc/writer.h"
#include "ir/testing/damage.h"
#include "ir/testing/error_or_sound.h"
#include "ir/testing/tbc_samples.h"

namespace tile::ir {
namespace {

using testing::HasSubstr;

absl::Span<const uint8_t> Bytes(const std::string& s) { return {reinterpret_cast<const uint8_t*>(s.data()), s.size()}; }

std::vector<std::string> Samples() {
  const Image image = SampleImage();
  return {*WriteTbc(Module()), *WriteTbc(*Typical(30)), *WriteTbc(*EverythingElse(), {.images = {&image, 1}})};
}

TEST(Damaged, EveryTruncationAndEveryByte) {
  for (const std::string& sample : Samples()) {
    ForEachDamage(sample, {0x01, 0x02, 0x10, 0x80, 0xff}, [](const Damage& d) {
      TbcErrorOrSound(d.bytes, "");
      EXPECT_FALSE(testing::Test::HasFailure()) << d.ToString();
      return !testing::Test::HasFailure();
    });
  }
}

// Pairs of 32-bit words: counts and offsets that fit each other again.
TEST(Damaged, WordsSwapped) {
  const std::string sample = *WriteTbc(*Typical(14));
  const Exact file(sample);
  uint32_t* words = reinterpret_cast<uint32_t*>(file.data());
  const size_t n = sample.size() / 4;
  for (size_t i = 0; i < n; i += 3) {
    for (size_t j = i + 1; j < n; j += 7) {
      std::swap(words[i], words[j]);
      TbcErrorOrSound(file.bytes(), absl::StrCat("words ", i, " and ", j));
      if (testing::Test::HasFailure()) return;
      std::swap(words[i], words[j]);
    }
  }
}

// Bytes of the machine code of the second image.
TEST(Damaged, MachineCode) {
  Image images[] = {SampleImage(), SampleImage()};
  images[1].kernel = 1;
  const std::string code(1000, 'c');
  images[1].payload = Bytes(code);
  const std::string sample = *WriteTbc(*EverythingElse(), {.images = images});
  const size_t begin = sample.find(code);
  ASSERT_NE(begin, std::string::npos);
  for (const size_t at : {size_t{0}, size_t{499}, size_t{999}}) {
    std::string damaged = sample;
    damaged[begin + at] ^= 0x10;
    const Exact file(damaged);
    const std::string message(ReadTbc(file.bytes(), "f").status().message());
    EXPECT_THAT(message, HasSubstr("f: error[tbc.damaged]: image 1, sm_90a code of kernel `")) << at;
    EXPECT_THAT(message, HasSubstr("\n  fix: ")) << at;
  }
  // A file of a writer that knew no checksum is read.
  const Exact file(sample);
  const fbs::Image* image = fbs::GetFile(file.bytes().data())->images()->Get(1);
  const uint16_t none = 0;
  std::memcpy(const_cast<uint8_t*>(reinterpret_cast<const flatbuffers::Table*>(image)->GetVTable()) +
                  fbs::Image::VT_PAYLOAD_CRC32,
              &none, sizeof none);
  ASSERT_FALSE(image->payload_crc32().has_value());
  EXPECT_TRUE(ReadTbc(file.bytes(), "f").ok());
}

// --- one place changed on purpose -----------------------------------------------------------------------------------

template <class T>
T* Row(const flatbuffers::Vector<const T*>* v, int i) {
  return const_cast<T*>(v->Get(static_cast<flatbuffers::uoffset_t>(i)));
}
template <class T>
void Put(const void* row, size_t offset, T value) {
  std::memcpy(static_cast<char*>(const_cast<void*>(row)) + offset, &value, sizeof(value));
}
void PutWord(const flatbuffers::Vector<uint32_t>* v, int i, uint32_t value) { Put(v->data() + i, 0, value); }

std::string ErrorAfter(const Module& m, const std::function<void(const fbs::Code&)>& change) {
  const Exact file(*WriteTbc(m));
  change(*fbs::GetFile(file.bytes().data())->code_nested_root());
  return std::string(ReadTbc(file.bytes(), "f").status().message());
}

// Offsets inside Op, as the schema has them.
constexpr size_t kNumOperands = 2, kNumResults = 4, kNumAttributes = 7, kNumRegions = 8, kFirstOperand = 12;

// if (%0) { %1 = addi %0, %0; yield %1 } with the op's index 0, addi 1, yield 2; then assert 3.
std::unique_ptr<Module> Small() {
  auto m = std::make_unique<Module>();
  const Type i32 = m->types().Scalar(Elem::kI32);
  Function* f = m->AddFunction("k", {i32});
  Builder b(m.get(), f->body());
  Op* branch = b.Create(Opcode::kIf, {{f->param(0)}}, {i32});
  {
    Builder::Scope scope(b, b.AddRegion(branch, 0, {}));
    Value* sum =
        b.Create(Opcode::kAddi, {{f->param(0)}, {f->param(0)}}, {i32}, {{"overflow", Attr::Enum(Overflow::kNoWrap)}})
            ->result(0);
    b.Create(Opcode::kYield, {{sum}}, {});
  }
  b.Create(Opcode::kAssert, {{branch->result(0)}}, {}, {{"message", Attr::String(AttrKind::kString, "m")}});
  return m;
}

TEST(Damaged, SaysWhatIsWrong) {
  const struct {
    const char* says;
    std::function<void(const fbs::Code&)> change;
  } kCases[] = {
      {"", [](auto&) {}},
      {"f: error[tbc.op]: @k, op 1: operation 7ffeh is unknown to this reader",
       [](auto& c) { Put<uint16_t>(Row(c.ops(), 1), 0, 0x7ffe); }},
      {"op 1 (subi)", [](auto& c) { Put<uint16_t>(Row(c.ops(), 1), 0, 0x68), PutWord(c.operands(), 1, 99); }},
      {"error[tbc.value]: @k, op 1 (addi): operand 1 is value 2, which is not visible here",
       [](auto& c) { PutWord(c.operands(), 2, 2); }},
      {"op 1 (addi): operand 1 is value 1, which is not visible here",  // the result of the `if` around it
       [](auto& c) { PutWord(c.operands(), 2, 1); }},
      {"op 3 (assert): operand 0 is value 2, which is not visible here",  // a value of a closed region
       [](auto& c) { PutWord(c.operands(), 4, 2); }},
      {"op 1 (addi): 1 operands, but its fields add up to 2",
       [](auto& c) { Put<uint16_t>(Row(c.ops(), 1), kNumOperands, 1); }},
      {"op 1 (addi): 0 results, it has 1 to 1", [](auto& c) { Put<uint16_t>(Row(c.ops(), 1), kNumResults, 0); }},
      {"op 1 (addi): its regions are not those", [](auto& c) { Put<uint8_t>(Row(c.ops(), 1), kNumRegions, 1); }},
      {"op 1 (addi): its operands are out of turn", [](auto& c) { Put<uint32_t>(Row(c.ops(), 1), kFirstOperand, 0); }},
      {"op 3 (assert): attribute message is missing",
       [](auto& c) { Put<uint8_t>(Row(c.ops(), 3), kNumAttributes, 0); }},
      {"error[tbc.enum]: @k, op 1 (addi): Overflow 4 is unknown to this reader",
       [](auto& c) { Put<int64_t>(Row(c.attributes(), 0), 8, 4); }},
      {"op 1 (addi): attribute number 9 is unknown to this reader",
       [](auto& c) { Put<uint16_t>(Row(c.attributes(), 0), 0, 9); }},
      {"op 1 (addi): attribute overflox is unknown to this reader",
       [](auto& c) {
         for (const flatbuffers::String* s : *c.names()) {
           if (s->str() == "overflow") Put<char>(s->c_str(), 7, 'x');
         }
       }},
      {"op 1 (addi): attribute overflow is of another kind",
       [](auto& c) { Put<uint8_t>(Row(c.attributes(), 0), 2, 2); }},
      {"op 3 (assert): attribute message refers to 77, which does not exist",
       [](auto& c) { Put<int64_t>(Row(c.attributes(), 1), 8, 77); }},
      {"error[tbc.type]: a value has type 9, which does not exist", [](auto& c) { PutWord(c.value_types(), 0, 9); }},
      {"a block has ops out of turn", [](auto& c) { Put<uint32_t>(Row(c.blocks(), 1), 4, 4); }},
      {"that belong to no kernel", [](auto& c) { Put<uint32_t>(Row(c.blocks(), 0), 4, 3); }},
  };
  const auto m = Small();
  for (const auto& c : kCases) {
    const std::string error = ErrorAfter(*m, c.change);
    if (*c.says == 0) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_THAT(error, HasSubstr(c.says));
    }
  }
}

TEST(Damaged, OtherFiles) {
  const auto error = [](absl::string_view s) { return std::string(ReadTbc(Exact(s).bytes(), "f").status().message()); };
  EXPECT_EQ(error(""), "f: error[tbc.format]: this is no .tbc file");
  EXPECT_EQ(error("module { } and some more text"), "f: error[tbc.format]: this is no .tbc file");
  EXPECT_THAT(error(absl::string_view("\x10\0\0\0TBC7\0\0\0\0\0\0\0\0\0\0\0\0", 20)),
              HasSubstr("the file is of format TBC7, this reader knows TBC0"));
  EXPECT_FALSE(LooksLikeTbc(Bytes("module { }")));
  EXPECT_FALSE(LooksLikeTbc(Bytes("")));
}

// --- small files that ask for much ----------------------------------------------------------------------------------

// A file around a code section that is built by hand.
using MakeCode = std::function<flatbuffers::Offset<fbs::Code>(flatbuffers::FlatBufferBuilder&)>;
std::string FileAround(const MakeCode& code, TbcVersion version = {0, 1}, uint64_t features = 0) {
  flatbuffers::FlatBufferBuilder inner, outer;
  inner.Finish(code(inner));
  outer.ForceVectorAlignment(inner.GetSize(), 1, 32);
  const auto bytes = outer.CreateVector(inner.GetBufferPointer(), inner.GetSize());
  fbs::FinishFileBuffer(outer, fbs::CreateFile(outer, static_cast<uint16_t>(version.major),
                                               static_cast<uint16_t>(version.minor), features, 0, 0, bytes));
  return std::string(reinterpret_cast<const char*>(outer.GetBufferPointer()), outer.GetSize());
}

std::string ErrorOf(const std::string& file) { return std::string(ReadTbc(Bytes(file), "f").status().message()); }

TEST(Damaged, OneConstantTooOften) {
  const std::string file = FileAround([](flatbuffers::FlatBufferBuilder& b) {
    const std::vector<uint8_t> zeros(1 << 16);
    const auto constant = fbs::CreateConstant(b, fbs::Element::I8, false, b.CreateVector(zeros));
    const auto list = b.CreateVector(std::vector<flatbuffers::Offset<fbs::Constant>>(10000, constant));
    return fbs::CreateCode(b, 0, 0, 0, list);
  });
  EXPECT_LT(file.size(), 120000u);  // and would take 655 MB
  EXPECT_THAT(ErrorOf(file), HasSubstr("error[tbc.limit]: the parts of this file add up to far more than its size"));
}

TEST(Damaged, OneStringTooOften) {
  const std::string file = FileAround([](flatbuffers::FlatBufferBuilder& b) {
    const auto text = b.CreateString(std::string(60000, 'x'));
    return fbs::CreateCode(b, 0, b.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(10000, text)));
  });
  EXPECT_THAT(ErrorOf(file), HasSubstr("error[tbc.limit]"));
}

TEST(Damaged, OnePredicateAndOneHintSetTooOften) {
  EXPECT_THAT(ErrorOf(FileAround([](flatbuffers::FlatBufferBuilder& b) {
                const auto p = fbs::CreatePredicate(b, fbs::PredicateKind::SameElements, 1, {}, {}, {}, {},
                                                    b.CreateVector(std::vector<int64_t>(4096)));
                const auto list = b.CreateVector(std::vector<flatbuffers::Offset<fbs::Predicate>>(20000, p));
                return fbs::CreateCode(b, 0, 0, 0, 0, 0, 0, list);
              })),
              HasSubstr("error[tbc.limit]"));
  EXPECT_THAT(ErrorOf(FileAround([](flatbuffers::FlatBufferBuilder& b) {
                const auto strings = b.CreateVectorOfStrings({"a"});
                const auto hint = fbs::CreateHint(b);
                const auto arch =
                    fbs::CreateArchHints(b, 0, b.CreateVector(std::vector<flatbuffers::Offset<fbs::Hint>>(4000, hint)));
                const auto set =
                    fbs::CreateHintSet(b, b.CreateVector(std::vector<flatbuffers::Offset<fbs::ArchHints>>(1000, arch)));
                return fbs::CreateCode(b, 0, strings, 0, 0, 0, 0, 0, b.CreateVector(&set, 1));
              })),
              HasSubstr("error[tbc."));
}

TEST(Damaged, TypesThatReferToThemselves) {
  EXPECT_THAT(ErrorOf(FileAround([](flatbuffers::FlatBufferBuilder& b) {
                const auto view = fbs::CreateType(b, fbs::TypeKind::PartitionView);
                return fbs::CreateCode(b, 0, 0, b.CreateVector(&view, 1));
              })),
              HasSubstr("error[tbc.type]: type 0: its tensor is no earlier type"));
}

TEST(Damaged, TypesOfOddSizes) {
  const auto error = [](const std::function<flatbuffers::Offset<fbs::Type>(flatbuffers::FlatBufferBuilder&)>& type) {
    return ErrorOf(FileAround([&](flatbuffers::FlatBufferBuilder& b) {
      const auto t = type(b);
      return fbs::CreateCode(b, 0, 0, b.CreateVector(&t, 1));
    }));
  };
  const auto tile = [&](std::vector<int64_t> shape) {
    return error(
        [&](auto& b) { return fbs::CreateTypeDirect(b, fbs::TypeKind::Tile, fbs::Element::F32, {}, {}, &shape); });
  };
  EXPECT_EQ(tile({1 << 12, 1 << 12}), "");
  EXPECT_THAT(tile({1 << 12, 1 << 13}), HasSubstr("more than 2^24 elements"));
  EXPECT_THAT(tile({int64_t{1} << 32, int64_t{1} << 32, 0}), HasSubstr("more than 2^24 elements"));
  EXPECT_THAT(tile({-1}), HasSubstr("a size of the tile is negative"));
  EXPECT_THAT(tile(std::vector<int64_t>(17, 1)), HasSubstr("the rank is over 16"));
  EXPECT_THAT(error([](auto& b) {
                const std::vector<int64_t> two = {4, 4}, one = {1};
                return fbs::CreateTypeDirect(b, fbs::TypeKind::TensorView, fbs::Element::F32, {}, {}, &two, &one);
              }),
              HasSubstr("a tensor_view must have a stride per dimension"));
  EXPECT_THAT(error([](auto& b) { return fbs::CreateType(b, fbs::TypeKind::Tile, static_cast<fbs::Element>(77)); }),
              HasSubstr("unknown element 77"));
  EXPECT_THAT(error([](auto& b) { return fbs::CreateType(b, static_cast<fbs::TypeKind>(9)); }),
              HasSubstr("unknown kind 9"));
}

TEST(Damaged, NestingTooDeep) {
  const int depth = 100000;
  const std::string file = FileAround([&](flatbuffers::FlatBufferBuilder& b) {
    std::vector<fbs::Op> ops;
    std::vector<fbs::Block> blocks;
    for (uint32_t i = 0; i < depth; ++i) {
      blocks.emplace_back(i, depth - i, 0, 0, true, 0);
      ops.emplace_back(static_cast<uint16_t>(Opcode::kLoop), 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, i + 1);
    }
    blocks.emplace_back(depth, 0, 0, 0, true, 0);
    const auto strings = b.CreateVectorOfStrings({"k"});
    const auto function = fbs::CreateFunction(b);
    const auto functions = b.CreateVector(&function, 1);
    const auto block_rows = b.CreateVectorOfStructs(blocks);
    const auto op_rows = b.CreateVectorOfStructs(ops);
    return fbs::CreateCode(b, 0, strings, 0, 0, 0, 0, 0, 0, 0, functions, 0, 0, 0, 0, block_rows, op_rows);
  });
  EXPECT_THAT(ErrorOf(file), HasSubstr("more than 64 regions inside each other"));
}

TEST(Damaged, VersionsAndFeatures) {
  const auto empty = [](flatbuffers::FlatBufferBuilder& b) { return fbs::CreateCode(b); };
  EXPECT_THAT(
      ErrorOf(FileAround(empty, {0, 7}, uint64_t{1} << 17)),
      HasSubstr("error[tbc.feature]: the file needs features that this reader does not know: bit 17; the file is "
                "of version 0.7, this reader of " +
                kCurrentTbcVersion.ToString()));
  EXPECT_THAT(ErrorOf(FileAround(empty, {3, 1})),
              HasSubstr("error[tbc.version]: the file is of version 3.1, this reader knows 0.1 to " +
                        kCurrentTbcVersion.ToString()));
  // A newer minor version without unknown features is welcome; what else is unknown in it is named together with it.
  EXPECT_EQ(ErrorOf(FileAround(empty, {0, 9})), "");
  EXPECT_THAT(ErrorOf(FileAround(
                  [](flatbuffers::FlatBufferBuilder& b) {
                    const auto type = fbs::CreateType(b, static_cast<fbs::TypeKind>(9));
                    return fbs::CreateCode(b, 0, 0, b.CreateVector(&type, 1));
                  },
                  {0, 9})),
              HasSubstr("unknown kind 9 or memory space 0; the file is of version 0.9, this reader of " +
                        kCurrentTbcVersion.ToString()));
  // What can be said about them, is said.
  const std::string newer = FileAround(empty, {3, 1}, uint64_t{1} << 17);
  const auto info = InspectTbc(Bytes(newer));
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_FALSE(info->readable);
  EXPECT_EQ(info->version.ToString(), "3.1");
  EXPECT_EQ(info->features, std::vector<std::string>{"bit 17"});
}

// A splat of any size stays one element.
TEST(Damaged, HugeSplatStaysSmall) {
  Module m;
  Global* g = m.AddGlobal("g", Elem::kF64, int64_t{1} << 27);
  const std::vector<uint8_t> zero(8);
  g->value.splat = true;
  g->value.bytes = m.arena().Copy(absl::MakeConstSpan(zero));
  const std::string bytes = *WriteTbc(m);
  EXPECT_LT(bytes.size(), 1000u);
  const auto read = *ReadTbc(Bytes(bytes), "");
  EXPECT_TRUE(read->globals[0]->value.splat);
  EXPECT_EQ(read->globals[0]->value.bytes.size(), 8u);
  g->count *= 2;
  EXPECT_FALSE(WriteTbc(m).ok());
}

}  // namespace
}  // namespace tile::ir
