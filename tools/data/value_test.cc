#include "tools/data/value.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/data/data_test_util.h"
#include "tools/data/write.h"

namespace tile::tools {
namespace {

using ir::Elem;

Array Take(absl::string_view text, const ValueOptions& options = {}) {
  absl::StatusOr<Value> v = ParseValue(text, options);
  EXPECT_OK(v.status());
  absl::StatusOr<Array> a = std::move(*v).TakeArray();
  EXPECT_OK(a.status());
  return *std::move(a);
}

TEST(ValueTest, Scalars) {
  for (const char* text : {"3.5", "-1", "0x10", "true", "inf", "-inf", "nan", "1e-3", ".5", "0x1.8p3"}) {
    absl::StatusOr<Value> v = ParseValue(text);
    ASSERT_TRUE(v.ok()) << text;
    ASSERT_TRUE(v->is_scalar()) << text;
    EXPECT_EQ(v->scalar(), text);
  }
  EXPECT_FAILS(std::move(*ParseValue("3.5")).TakeArray().status(), "3.5 is a scalar, not an array");
  EXPECT_FAILS(ParseValue("").status(), "an empty value");
}

TEST(ValueTest, Generators) {
  EXPECT_EQ(Numbers(Take("zeros:f32[2,2]")), std::vector<double>({0, 0, 0, 0}));
  EXPECT_EQ(Numbers(Take("ones:bf16[3]")), std::vector<double>({1, 1, 1}));
  EXPECT_EQ(Numbers(Take("arange:i32[4]")), std::vector<double>({0, 1, 2, 3}));
  EXPECT_EQ(Numbers(Take("full:f16[ 2 , 1 ]=3.5")), std::vector<double>({3.5, 3.5}));
  EXPECT_EQ(Numbers(Take("full:i4[3]=-2")), std::vector<double>({-2, -2, -2}));
  EXPECT_EQ(Numbers(Take("ones:f32[]")), std::vector<double>({1}));
  EXPECT_EQ(Numbers(Take("zeros:f32[0,5]")), std::vector<double>());
  EXPECT_EQ(TypeText(Take("ones:u8[3]")), "u8[3]");
  absl::StatusOr<Value> v = ParseValue("rand:f32[128,128]");
  ASSERT_TRUE(v.ok());
  EXPECT_EQ(v->type_text(), "f32[128,128]");
  EXPECT_EQ(v->bytes(), 65536);
}

TEST(ValueTest, GeneratorErrors) {
  EXPECT_FAILS(ParseValue("rand:f32").status(), "rand:f32: expected a type and a shape, such as rand:f32[64,64]");
  EXPECT_FAILS(ParseValue("rand:f99[4]").status(), "expected a type and a shape");
  EXPECT_FAILS(ParseValue("rand:f32[4").status(), "lacks its ']'");
  EXPECT_FAILS(ParseValue("rand:f32[4,x]").status(), "dimension 'x' is not a number");
  EXPECT_FAILS(ParseValue("rand:f32[?]").status(), "every dimension must be a number");
  EXPECT_FAILS(ParseValue("rand:f32[-1]").status(), "dimension '-1' is not a number");
  EXPECT_FAILS(ParseValue("zeros:f32[4]=1").status(), "takes no '='");
  EXPECT_FAILS(ParseValue("full:f32[4]").status(), "expected the value");
  EXPECT_FAILS(ParseValue("full:i8[4]=300").status(), "full:i8[4]=300: 300 does not fit i8 (-128 to 255)");
  EXPECT_FAILS(ParseValue("normal:i32[4]").status(), "normal: i32 has no such values");
  EXPECT_FAILS(ParseValue("arange:i8[257]").status(), "arange: 256 does not fit i8");
  EXPECT_FAILS(ParseValue("rand:i32[4]=5..5").status(), "no number is from 5 to below 5");
  EXPECT_FAILS(ParseValue("rand:i8[4]=0..300").status(), "does not fit i8");
  EXPECT_FAILS(ParseValue("rand:i8[4]=0.5..3").status(), "whole numbers");
  EXPECT_FAILS(ParseValue("zeros:f8E8M0FNU[4]").status(), "0 does not fit f8E8M0FNU");
  EXPECT_FAILS(ParseValue("zeros:f32[4611686018427387904,4611686018427387904]").status(), "too large");
  EXPECT_FAILS(ParseValue("zeros:f32[1099511627776]").status(), "are more than");
  EXPECT_FAILS(ParseValue("zeros:f32[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]").status(),
               "rank 33");
}

TEST(ValueTest, AnyFileIsItsBytes) {
  const std::string path = TestPath("README.md");
  WriteTestFile(path, "# hi\n");
  const Array a = Take(path);
  EXPECT_EQ(TypeText(a), "u8[5]");
  EXPECT_EQ(BytesText(a.bytes), "# hi\n");
  EXPECT_FAILS(ParseValue(TestPath("absent")).status(), "cannot be opened");
  EXPECT_FAILS(ParseValue(::testing::TempDir()).status(), "is a directory");
}

// Bytes are an array for who wants bytes; who wants anything else learns what the file is.
TEST(ValueTest, FilesThatAreNoArraysSayWhatTheyAre) {
  const auto raw = [](const std::string& name, const std::string& bytes) {
    const std::string path = TestPath(name);
    WriteTestFile(path, bytes);
    absl::StatusOr<Value> value = ParseValue(path);
    EXPECT_TRUE(value.ok()) << value.status();
    return value.ok() ? value->raw() : Value::Raw();
  };
  EXPECT_EQ(raw("m.pt", "PK\x03\x04 a/data.pkl").what,
            "the file is a file of torch.save, not an array that tilevm reads (.npy, .npz, .safetensors, .png)");
  EXPECT_TRUE(absl::StrContains(raw("t.csv", "1,2\n3,4\n").fix, "numpy.loadtxt('"));
  EXPECT_TRUE(absl::EndsWith(raw("t.csv", "1,2\n3,4\n").fix, "t.csv:u8"));
  EXPECT_TRUE(absl::StrContains(raw("x.dat", "\x01\x02").fix, "x.dat:f32"));
  EXPECT_EQ(Take(TestPath("t.csv") + ":u8").shape, std::vector<int64_t>{8});
  EXPECT_EQ(ParseValue(TestPath("t.csv") + ":u8")->raw().what, "") << "asked for";
  WriteTestFile(TestPath("lfs.npy"), "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_FAILS(ParseValue(TestPath("lfs.npy")).status(), "; it is a pointer of Git LFS in place of the file");
}

TEST(ValueTest, NamesOfOtherGeneratorsAndTypes) {
  EXPECT_FAILS(ParseValue("randn:f32[8]").status(), "did you mean normal:f32[8]?");
  EXPECT_FAILS(ParseValue("zeroes:f32[8]").status(), "did you mean zeros?");
  EXPECT_FAILS(ParseValue("iota:i32[8]").status(), "did you mean arange:i32[8]?");
  EXPECT_FAILS(ParseValue("arange:float32[8]").status(), "did you mean f32?");
  EXPECT_FAILS(ParseValue("ones:half[8]").status(), "did you mean f16?");
}

TEST(ValueTest, RawSpecs) {
  const std::string path = TestPath("raw.bin");
  WriteTestFile(path, std::string("\x00\x3c\x00\x40\x00\x42\x00\x44", 8));
  EXPECT_EQ(Numbers(Take(path + ":f16[2,2]")), std::vector<double>({1, 2, 3, 4}));
  EXPECT_EQ(TypeText(Take(path + ":f16")), "f16[4]");
  EXPECT_EQ(TypeText(Take(path + ":f16[?,2]")), "f16[2,2]");
  EXPECT_EQ(TypeText(Take(path + ":i4[16]")), "i4[16]");
  EXPECT_FAILS(ParseValue(path + ":f16[3]").status(), ":f16[3]: the file has 8 bytes; f16[3] takes 6");
  EXPECT_FAILS(ParseValue(path + ":f32[?,3]").status(), "the file has 8 bytes; f32[0,3] takes 0");
  EXPECT_FAILS(ParseValue(path + ":q7").status(), "'q7' is not a type and shape");
  EXPECT_FAILS(ParseValue(path + ":f32[?,?]").status(), "one may be '?'");
}

// Every form that reads back what is written.
TEST(ValueTest, RoundTrips) {
  for (const char* spec : {"rand:f32[3,4,5]", "normal:f64[7]", "rand:i8[9]", "rand:u16[2,3]", "rand:i64[]",
                           "rand:i1[6]", "rand:f16[0,3]", "normal:f16[1,1]", "rand:u32[300000]", "rand:f64[1000000]"}) {
    const Array a = Take(spec, {.seed = 5});
    for (const char* extension : {".npy", ".npz", ".safetensors", ".bin"}) {
      const std::string path = TestPath(absl::StrCat("round", extension));
      EXPECT_OK(WriteArray(path, a, "x"));
      std::string text = path;
      if (std::string(extension) == ".bin") text += ":" + TypeText(a);
      const Array b = Take(text);
      EXPECT_EQ(TypeText(b), TypeText(a)) << text;
      EXPECT_EQ(BytesText(b.bytes), BytesText(a.bytes)) << text;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(b.bytes.data()) % kBufferAlignment, 0u) << text;
    }
  }
}

// Types that NumPy lacks: .npy keeps the bits, the reader names the type.
TEST(ValueTest, RoundTripsOfNarrowFloats) {
  for (const char* type : {"bf16", "f8E4M3FN", "f8E5M2", "f8E5M3FNU", "f4E2M1FN", "f8E8M0FNU", "i4"}) {
    const Array a = Take(absl::StrCat("rand:", type, "[3,5]"), {.seed = 9});
    const std::string npy = TestPath("narrow.npy"), bin = TestPath("narrow.bin");
    EXPECT_OK(WriteArray(npy, a));
    EXPECT_OK(WriteArray(bin, a));
    EXPECT_FAILS(ParseValue(npy).status(), "does not say what the elements are");
    ir::Element element;
    bool is_unsigned;
    ASSERT_TRUE(ParseElementName(type, &element, &is_unsigned));
    for (const Array& b : {Take(absl::StrCat(npy, ":", type)), Take(npy, {.raw_as = element.kind}),
                           Take(absl::StrCat(bin, ":", type, "[3,5]"))}) {
      EXPECT_EQ(TypeText(b), TypeText(a));
      EXPECT_EQ(BytesText(b.bytes), BytesText(a.bytes)) << type;
    }
  }
  const Array tf32 = Take("rand:tf32[8]");
  EXPECT_OK(WriteArray(TestPath("tf32.npy"), tf32));
  EXPECT_EQ(Numbers(Take(TestPath("tf32.npy"))), Numbers(tf32));
}

TEST(ValueTest, NpyAsAnotherType) {
  const std::string path = TestPath("u16.npy");
  EXPECT_OK(WriteArray(path, Take("full:u16[2]=0x3F80")));
  EXPECT_EQ(Numbers(Take(path + ":bf16")), std::vector<double>({1, 1}));
  EXPECT_EQ(TypeText(Take(path + ":i16")), "i16[2]");
  EXPECT_FAILS(ParseValue(path + ":f32").status(), "the file holds u16, which is not f32");
  EXPECT_FAILS(ParseValue(path + ":bf16[2]").status(), "the shape stands in the file");
}

TEST(ValueTest, Members) {
  const Array a = Floats({2}, {1, 2}), b = Floats({1}, {3});
  for (const char* name : {"two.npz", "two.safetensors"}) {
    const std::string path = TestPath(name);
    EXPECT_OK(WriteArrays(path, {{"a", a}, {"b:c", b}}));
    EXPECT_EQ(Numbers(Take(path + ":a")), std::vector<double>({1, 2}));
    EXPECT_EQ(Numbers(Take(path + ":b:c")), std::vector<double>({3}));
    EXPECT_FAILS(ParseValue(path).status(), ":NAME of a, b:c");
    EXPECT_FAILS(ParseValue(path + ":z").status(), "'z'; it has a, b:c");
  }
  EXPECT_FAILS(WriteArrays(TestPath("two.npy"), {{"a", a}, {"b", b}}), "2 arrays, but .npy holds one");
  EXPECT_FAILS(WriteArrays(TestPath("two.npz"), {{"a", a}, {"a", b}}), "two arrays have the name a");
}

// Files that NumPy 2.4, safetensors 0.8 and Pillow wrote.
TEST(ValueTest, FilesOfOtherPrograms) {
  const std::string corpus = "tools/data/corpus/";
  const std::vector<double> a = {1.5, -2, 3, 4, 5, INFINITY};
  EXPECT_EQ(TypeText(Take(corpus + "numpy.npy")), "f64[2,3]");  // big-endian, Fortran order
  EXPECT_EQ(Numbers(Take(corpus + "numpy.npy")), a);
  EXPECT_EQ(TypeText(Take(corpus + "numpy.npz")), "f32[2,3]");
  EXPECT_EQ(Numbers(Take(corpus + "numpy.npz:a")), a);
  EXPECT_EQ(Numbers(Take(corpus + "three.safetensors:a")), a);
  EXPECT_EQ(TypeText(Take(corpus + "three.safetensors:b")), "u16[5]");
  EXPECT_EQ(TypeText(Take(corpus + "three.safetensors:c")), "bf16[2]");
  EXPECT_EQ(Numbers(Take(corpus + "three.safetensors:c")), std::vector<double>({1.5, 2.5}));
  EXPECT_EQ(Numbers(Take(corpus + "bfloat16.npy:bf16")), std::vector<double>({1.5, 2.5}));
  const Array image = Take(corpus + "pillow.png");
  EXPECT_EQ(TypeText(image), "u8[2,4,3]");
  EXPECT_EQ(Numbers(image)[23], 230);
}

TEST(ValueTest, CopyToWritesWhereTold) {
  std::vector<uint8_t> memory(16, 0xAA);
  ParseValue("arange:i32[4]")->CopyTo(absl::MakeSpan(memory));
  EXPECT_EQ(memory, std::vector<uint8_t>({0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
}

// Writes into a mapped file's array stay in this process.
TEST(ValueTest, MappingIsPrivate) {
  const std::string path = TestPath("mapped.npy");
  EXPECT_OK(WriteArray(path, Take("zeros:f32[1048576]")));
  Array a = Take(path);
  a.bytes.data()[0] = 1;
  EXPECT_EQ(Take(path).bytes.data()[0], 0);
}

}  // namespace
}  // namespace tile::tools
