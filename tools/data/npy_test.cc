#include "tools/data/npy.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/data/data_test_util.h"
#include "tools/data/write.h"

namespace tile::tools {
namespace {

using ir::Elem;

// A file as NumPy writes it: the dictionary padded so that the data starts at a multiple of 64.
std::string Npy(absl::string_view dict, absl::string_view data, int major = 1) {
  const size_t prefix = major == 1 ? 10 : 12;
  std::string text(dict);
  text.resize((prefix + text.size() + 1 + 63) / 64 * 64 - prefix - 1, ' ');
  text += '\n';
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(major);
  file += '\0';
  for (size_t i = 0; i < prefix - 8; ++i) file += static_cast<char>(text.size() >> (8 * i));
  return absl::StrCat(file, text, data);
}

std::string Dict(absl::string_view descr, absl::string_view shape, bool fortran = false) {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False", ", 'shape': (", shape,
                      "), }");
}

absl::StatusOr<Array> Read(absl::string_view bytes, std::optional<Elem> raw_as = std::nullopt) {
  return ReadNpy(Buffer(bytes), "x.npy", raw_as);
}

using namespace std::string_literals;  // NOLINT: data with zero bytes

TEST(NpyTest, EveryVersion) {
  for (int major : {1, 2, 3}) {
    const absl::StatusOr<Array> a = Read(Npy(Dict("<i2", "2, 3"), "\1\0\2\0\3\0\4\0\5\0\xFF\xFF"s, major));
    ASSERT_TRUE(a.ok()) << a.status().message();
    EXPECT_EQ(TypeText(*a), "i16[2,3]");
    EXPECT_EQ(Numbers(*a), std::vector<double>({1, 2, 3, 4, 5, -1}));
  }
}

TEST(NpyTest, Types) {
  const struct {
    const char* descr;
    std::string data;
    const char* type;
    double value;
  } kCases[] = {{"|b1", "\1", "i1[]", 1},
                {"?", "\1", "i1[]", 1},
                {"|i1", "\xFF", "i8[]", -1},
                {"|u1", "\xFF", "u8[]", 255},
                {"<u2", "\xFE\xFF", "u16[]", 65534},
                {">i4", "\xFF\xFF\xFF\xFE", "i32[]", -2},
                {"<u4", "\1\0\0\x80"s, "u32[]", 2147483649.0},
                {">u8", "\0\0\0\0\0\0\1\2"s, "u64[]", 258},
                {"<i8", "\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "i64[]", -2},
                {"<f2", "\0\x3E"s, "f16[]", 1.5},
                {">f2", "\x3E\0"s, "f16[]", 1.5},
                {"<f4", "\0\0\xC0\x3F"s, "f32[]", 1.5},
                {"=f4", "\0\0\xC0\x3F"s, "f32[]", 1.5},
                {">f8", "\x3F\xF8\0\0\0\0\0\0"s, "f64[]", 1.5},
                {"<f1", "\x3E", "f8E5M2[]", 1.5},
                {"bfloat16", "\xC0\x3F", "bf16[]", 1.5},
                {"float8_e4m3fn", "\x3C", "f8E4M3FN[]", 1.5},
                {"int4", "\xFF", "i4[]", -1}};
  for (const auto& c : kCases) {
    const absl::StatusOr<Array> a = Read(Npy(Dict(c.descr, ""), c.data));
    ASSERT_TRUE(a.ok()) << a.status().message();
    EXPECT_EQ(TypeText(*a), c.type);
    EXPECT_EQ(Numbers(*a)[0], c.value) << c.descr;
  }
}

TEST(NpyTest, RawBytesNeedAType) {
  const std::string file = Npy(Dict("<V2", "1,"), "\xC0\x3F");
  EXPECT_FAILS(Read(file).status(),
               "x.npy: dtype '<V2' (raw bytes, as NumPy stores bfloat16 and float8) does not say what "
               "the elements are; add the type: FILE.npy:bf16");
  EXPECT_EQ(Numbers(*Read(file, Elem::kBF16)), std::vector<double>({1.5}));
  EXPECT_FAILS(Read(file, Elem::kF32).status(), "has 2 bytes an element; f32 has 4");
  EXPECT_EQ(Numbers(*Read(Npy(Dict("|V1", "3,"), "\1\3\7"), Elem::kF4E2M1FN)), std::vector<double>({0.5, 1.5, 6}));
}

TEST(NpyTest, FortranOrder) {
  EXPECT_EQ(Numbers(*Read(Npy(Dict("|u1", "2, 3", true), "\1\4\2\5\3\6"))), std::vector<double>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Numbers(*Read(Npy(Dict("|u1", "4,", true), "\1\2\3\4"))), std::vector<double>({1, 2, 3, 4}));
  EXPECT_EQ(Numbers(*Read(Npy(Dict(">u2", "2, 2", true), "\0\1\0\3\0\2\0\4"s))), std::vector<double>({1, 2, 3, 4}));
  EXPECT_EQ(Read(Npy(Dict("|u1", "2, 0, 3", true), ""))->count(), 0);
  // Rank 4, larger than a block of the transposition: element (i, j, k, l) is a function of its index.
  const int64_t n[] = {37, 3, 2, 65};
  std::string data(37 * 3 * 2 * 65, 0);
  const auto value = [](int64_t i, int64_t j, int64_t k, int64_t l) {
    return static_cast<char>(i + 3 * j + 5 * k + 7 * l);
  };
  for (int64_t at = 0; at < static_cast<int64_t>(data.size()); ++at) {
    data[at] = value(at % n[0], at / n[0] % n[1], at / n[0] / n[1] % n[2], at / n[0] / n[1] / n[2]);
  }
  const Array a = *Read(Npy(Dict("|i1", "37, 3, 2, 65", true), data));
  for (int64_t at = 0; at < a.count(); ++at) {
    const char expected = value(at / n[3] / n[2] / n[1], at / n[3] / n[2] % n[1], at / n[3] % n[2], at % n[3]);
    ASSERT_EQ(static_cast<char>(a.bytes.data()[at]), expected) << at;
  }
}

TEST(NpyTest, HeadersInOtherWords) {
  EXPECT_TRUE(Read(Npy("{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"|i1\"}", "\1\2")).ok());
}

TEST(NpyTest, Refusals) {
  const auto dtype = [](const char* descr) { return Read(Npy(Dict(descr, "1,"), "0123456789ABCDEF")).status(); };
  EXPECT_FAILS(dtype("<c8"), "x.npy: dtype '<c8' (complex64) is not supported; real and integer types are");
  EXPECT_FAILS(dtype("<c16"), "(complex128)");
  EXPECT_FAILS(dtype("|O"), "dtype '|O' (Python objects) is not supported");
  EXPECT_FAILS(dtype("<U4"), "(text)");
  EXPECT_FAILS(dtype("<M8[ns]"), "(dates)");
  EXPECT_FAILS(dtype("<f16"), "(a float of another width)");
  EXPECT_FAILS(dtype("<i3"), "dtype '<i3' is not supported");
  EXPECT_FAILS(dtype(""), "dtype '' is not supported");
  EXPECT_FAILS(Read(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "0123")).status(),
               "offset 20: structured types are not supported");
  EXPECT_FAILS(Read("hello world").status(), "x.npy: is not a .npy file");
  EXPECT_FAILS(Read(Npy(Dict("<f4", "1,"), "0123", 4)).status(), "offset 6: format version 4.0 is not known");
  EXPECT_FAILS(Read(Npy(Dict("<f4", "2,"), "0123")).status(),
               "has 4 bytes after its header; shape [2] of '<f4' takes 2 x 4");
  EXPECT_FAILS(Read(Npy(Dict("<f4", "1,"), "01234")).status(), "has 5 bytes after its header");
  EXPECT_FAILS(Read(Npy(Dict("<f4", "-1,"), "0123")).status(), "expected a dimension");
  EXPECT_FAILS(Read(Npy(Dict("<f4", "99999999999999999999,"), "0123")).status(), "expected a dimension");
  EXPECT_FAILS(Read(Npy(Dict("<f4", "4611686018427387904, 4"), "")).status(), "too large");
  EXPECT_FAILS(Read(Npy("{'descr': '<f4', 'shape': (1,)}", "0123")).status(), "lacks descr, fortran_order or shape");
  EXPECT_FAILS(Read(Npy("{'descr': '<f4', 'descr': '<f4'}", "0123")).status(), "stands twice");
  EXPECT_FAILS(Read(Npy("{'x': 1}", "0123")).status(), "unknown key 'x'");
  EXPECT_FAILS(Read(Npy("{'descr': '<f4}", "0123")).status(), "closing quote");
}

// The bytes that NumPy writes for numpy.arange(6, dtype='<f4').reshape(2, 3).
TEST(NpyTest, WritesWhatNumPyWrites) {
  const std::string path = TestPath("w.npy");
  ASSERT_TRUE(WriteArray(path, Floats({2, 3}, {0, 1, 2, 3, 4, 5})).ok());
  std::string expected = "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"s;
  expected.resize(127, ' ');
  expected += "\n\0\0\0\0\0\0\x80\x3F\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xA0\x40"s;
  EXPECT_EQ(ReadTestFile(path), expected);
}

TEST(NpyTest, Descriptors) {
  const auto descr = [](Elem elem, bool is_unsigned = false) {
    Array a = *Array::Make(ir::Element::Number(elem), {1});
    a.is_unsigned = is_unsigned;
    const std::string header = NpyHeader(a);
    return header.substr(21, header.find('\'', 21) - 21);
  };
  EXPECT_EQ(descr(Elem::kI1), "|b1");
  EXPECT_EQ(descr(Elem::kI8), "|i1");
  EXPECT_EQ(descr(Elem::kI32, true), "<u4");
  EXPECT_EQ(descr(Elem::kF16), "<f2");
  EXPECT_EQ(descr(Elem::kTF32), "<f4");
  EXPECT_EQ(descr(Elem::kBF16), "<V2");
  EXPECT_EQ(descr(Elem::kF8E4M3FN), "|V1");
  EXPECT_EQ(descr(Elem::kF4E2M1FN), "|V1");
  EXPECT_EQ(NpyHeader(*Array::Make(ir::Element::Number(Elem::kF32), {7})).find("(7,)"), 60u);
  EXPECT_EQ(NpyHeader(*Array::Make(ir::Element::Number(Elem::kF32), {})).find("()"), 60u);
}

// The low bits of tf32's word have no meaning; f32 readers must not see them. Bytes of i1 are 0 or 1.
TEST(NpyTest, WritesNormalForms) {
  ASSERT_TRUE(WriteArray(TestPath("t.npy"), Bits(Elem::kTF32, {1}, {0x3F801FFF})).ok());
  EXPECT_EQ(Numbers(*Read(ReadTestFile(TestPath("t.npy")))), std::vector<double>({1}));
  Array b = Bits(Elem::kI1, {1}, {1});
  b.bytes.data()[0] = 77;
  ASSERT_TRUE(WriteArray(TestPath("b.npy"), b).ok());
  EXPECT_EQ(ReadTestFile(TestPath("b.npy")).back(), '\1');
}

}  // namespace
}  // namespace tile::tools
