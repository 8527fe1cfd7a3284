// .npz and .safetensors: what other programs write, what is refused, how errors read.

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tools/data/data_test_util.h"
#include "tools/data/npy.h"
#include "tools/data/npz.h"
#include "tools/data/safetensors.h"
#include "tools/data/write.h"
#include "tools/data/zip.h"

namespace tile::tools {
namespace {

using ir::Elem;

template <class T>
std::string Le(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string NpyBytes(const Array& a) { return NpyHeader(a) + BytesText(a.bytes); }

struct Member {
  std::string name, contents;
  bool deflate = false;
  bool zip64 = false;  // sizes and offset in the extra field, as Python's zipfile may do
};

std::string Deflate(const std::string& in) {
  z_stream z = {};
  EXPECT_EQ(deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&z, in.size()), 0);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  z.avail_in = in.size();
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = out.size();
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

// An archive with all that a writer may put around the members: local extra fields, a comment at the end.
std::string Zip(const std::vector<Member>& members, const std::string& comment = "") {
  std::string file, directory;
  for (const Member& m : members) {
    const std::string data = m.deflate ? Deflate(m.contents) : m.contents;
    const uint32_t crc = crc32(0, reinterpret_cast<const Bytef*>(m.contents.data()), m.contents.size());
    const uint32_t offset = file.size(), packed = data.size(), size = m.contents.size();
    const std::string method = Le<uint16_t>(m.deflate ? 8 : 0), extra("\x34\x12\x03\0abc", 7);
    file += absl::StrCat("PK\3\4", std::string("\x14\0\0\0", 4), method, std::string(4, 0), Le(crc), Le(packed),
                         Le(size), Le<uint16_t>(m.name.size()), Le<uint16_t>(extra.size()), m.name, extra, data);
    std::string wide;
    if (m.zip64) {
      wide = absl::StrCat(Le<uint16_t>(1), Le<uint16_t>(24), Le<uint64_t>(size), Le<uint64_t>(packed),
                          Le<uint64_t>(offset));
    }
    directory +=
        absl::StrCat("PK\1\2", std::string("\x14\0\x14\0\0\0", 6), method, std::string(4, 0), Le(crc),
                     Le(m.zip64 ? UINT32_MAX : packed), Le(m.zip64 ? UINT32_MAX : size), Le<uint16_t>(m.name.size()),
                     Le<uint16_t>(wide.size()), std::string(10, 0), Le(m.zip64 ? UINT32_MAX : offset), m.name, wide);
  }
  const uint16_t n = members.size();
  const uint32_t start = file.size(), size = directory.size();
  return absl::StrCat(file, directory, "PK\5\6", std::string(4, 0), Le(n), Le(n), Le(size), Le(start),
                      Le<uint16_t>(comment.size()), comment);
}

absl::StatusOr<Array> Npz(const std::string& bytes, absl::string_view member = "") {
  return ReadNpz(Buffer(bytes), "x.npz", member);
}

TEST(NpzTest, ReadsWhatOthersWrite) {
  const std::string a = NpyBytes(Floats({2}, {1, 2})), b = NpyBytes(Floats({1}, {3}));
  for (bool deflate : {false, true}) {
    for (bool zip64 : {false, true}) {
      const std::string file = Zip({{"a.npy", a, deflate, zip64}, {"b.npy", b, !deflate, zip64}}, "a comment PK\5\6");
      const absl::StatusOr<Array> x = Npz(file, "a");
      ASSERT_TRUE(x.ok()) << x.status().message();
      EXPECT_EQ(Numbers(*x), std::vector<double>({1, 2}));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(x->bytes.data()) % kBufferAlignment, 0u);
      EXPECT_EQ(Numbers(*Npz(file, "b.npy")), std::vector<double>({3}));
    }
  }
  EXPECT_EQ(Numbers(*Npz(Zip({{"only.npy", b}}))), std::vector<double>({3}));
  EXPECT_EQ(Numbers(*Npz(Zip({{"arr_0", b}}))), std::vector<double>({3}));
}

TEST(NpzTest, Refusals) {
  const std::string a = NpyBytes(Floats({2}, {1, 2}));
  EXPECT_FAILS(Npz(Zip({{"a.npy", a}, {"b.npy", a}})).status(),
               "x.npz: has 2 arrays; choose one with x.npz:NAME of a, b");
  EXPECT_FAILS(Npz(Zip({{"a.npy", a}}), "c").status(), "x.npz: has no array 'c'; it has a");
  EXPECT_FAILS(Npz(Zip({})).status(), "x.npz: has no array at all");
  EXPECT_FAILS(Npz(Zip({{"a.npy", a}, {"a.npy", a}}), "a").status(), "x.npz:a: stands twice");
  EXPECT_FAILS(Npz(Zip({{"a.npy", "hello"}})).status(), "x.npz:a: is not a .npy file");
  EXPECT_FAILS(Npz("").status(), "too short");
  EXPECT_FAILS(Npz(std::string(100, 'x')).status(), "lacks the end record");
  std::string file = Zip({{"a.npy", a}});
  file[60] ^= 1;
  EXPECT_FAILS(Npz(file).status(), "x.npz:a: its checksum is wrong");
  file = Zip({{"a.npy", a}});
  file[file.find("PK\1\2") + 10] = 12;
  EXPECT_FAILS(Npz(file).status(), "is compressed by method 12");
  file = Zip({{"a.npy", a}});
  file[file.find("PK\1\2") + 8] = 1;
  EXPECT_FAILS(Npz(file).status(), "is encrypted");
}

// A few deflated bytes that claim to be a terabyte ask for no memory.
TEST(NpzTest, ClaimedSizes) {
  std::string file = Zip({{"a.npy", NpyBytes(Floats({2}, {1, 2})), true, true}});
  const uint64_t huge = uint64_t{1} << 40;
  std::memcpy(&file[file.rfind("a.npy") + 5 + 4], &huge, 8);
  EXPECT_FAILS(Npz(file).status(), "deflated bytes cannot hold 1099511627776");
  // Longer and shorter than it says.
  for (uint64_t size : {uint64_t{135}, uint64_t{137}}) {
    std::memcpy(&file[file.rfind("a.npy") + 5 + 4], &size, 8);
    EXPECT_FAILS(Npz(file).status(), "its deflated bytes are damaged");
  }
}

TEST(NpzTest, WritesTheSameBytesEachTime) {
  const Array a = Floats({2}, {1, 2}), b = Bits(Elem::kF8E5M2, {3}, {1, 2, 3});
  ASSERT_TRUE(WriteArrays(TestPath("1.npz"), {{"a", a}, {"b", b}}).ok());
  ASSERT_TRUE(WriteArrays(TestPath("2.npz"), {{"a", a}, {"b", b}}).ok());
  EXPECT_EQ(ReadTestFile(TestPath("1.npz")), ReadTestFile(TestPath("2.npz")));
}

// --- safetensors ----------------------------------------------------------------------------------------------------

std::string Safetensors(absl::string_view header, absl::string_view data) {
  return absl::StrCat(Le<uint64_t>(header.size()), header, data);
}

absl::StatusOr<Array> St(const std::string& bytes, absl::string_view name = "") {
  return ReadSafetensors(Buffer(bytes), "x.safetensors", name);
}

std::string OneTensor(absl::string_view dtype, absl::string_view shape, absl::string_view offsets,
                      absl::string_view data) {
  return Safetensors(
      absl::StrCat("{\"t\":{\"dtype\":\"", dtype, "\",\"shape\":[", shape, "],\"data_offsets\":[", offsets, "]}}"),
      data);
}

TEST(SafetensorsTest, Types) {
  const struct {
    const char* dtype;
    std::string data;
    const char* type;
    double value;
  } kCases[] = {{"BOOL", "\1", "i1[1]", 1},
                {"U8", "\xFF", "u8[1]", 255},
                {"I8", "\xFF", "i8[1]", -1},
                {"U16", "\xFF\xFF", "u16[1]", 65535},
                {"BF16", "\xC0\x3F", "bf16[1]", 1.5},
                {"F16", std::string("\0\x3E", 2), "f16[1]", 1.5},
                {"F32", std::string("\0\0\xC0\x3F", 4), "f32[1]", 1.5},
                {"F64", std::string("\0\0\0\0\0\0\xF8\x3F", 8), "f64[1]", 1.5},
                {"I64", std::string("\2\0\0\0\0\0\0\0", 8), "i64[1]", 2},
                {"F8_E4M3", "\x3C", "f8E4M3FN[1]", 1.5},
                {"F8_E5M2", "\x3E", "f8E5M2[1]", 1.5},
                {"F8_E8M0", "\x80", "f8E8M0FNU[1]", 2},
                {"F4", "\3", "f4E2M1FN[1]", 1.5}};
  for (const auto& c : kCases) {
    const absl::StatusOr<Array> a = St(OneTensor(c.dtype, "1", absl::StrCat("0,", c.data.size()), c.data));
    ASSERT_TRUE(a.ok()) << a.status().message();
    EXPECT_EQ(TypeText(*a), c.type);
    EXPECT_EQ(Numbers(*a)[0], c.value) << c.dtype;
    ASSERT_TRUE(WriteArray(TestPath("r.safetensors"), *a, "t").ok());
    const Array again = *St(ReadTestFile(TestPath("r.safetensors")), "t");
    EXPECT_EQ(TypeText(again), c.type);
    EXPECT_EQ(BytesText(again.bytes), c.data);
  }
}

TEST(SafetensorsTest, Headers) {
  const std::string file = Safetensors(
      "{\"__metadata__\":{\"format\":\"pt\"}, \"layer.\\u00e9\\ud83d\\ude00\" : {\"data_offsets\":[1,3],\"shape\":[2],"
      "\"dtype\":\"U8\"}, \"b\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}  \n",
      "\1\2\3");
  EXPECT_EQ(Numbers(*St(file, "layer.\xC3\xA9\xF0\x9F\x98\x80")), std::vector<double>({2, 3}));
  EXPECT_EQ(Numbers(*St(file, "b")), std::vector<double>({1}));
  EXPECT_FAILS(St(file).status(), "x.safetensors: has 2 tensors; choose one with x.safetensors:NAME of layer.");
  EXPECT_FAILS(St(file, "c").status(), "has no tensor 'c'; it has layer.");
}

TEST(SafetensorsTest, Refusals) {
  EXPECT_FAILS(St("abc").status(), "too short");
  EXPECT_FAILS(St(Le<uint64_t>(uint64_t{1} << 60) + "{}").status(), "offset 0: a header of 1152921504606846976 bytes");
  EXPECT_FAILS(St(Safetensors("{}", "")).status(), "has no tensor at all");
  EXPECT_FAILS(St(Safetensors("{\"t\":[]}", "")).status(), "offset 13: expected '{'");
  EXPECT_FAILS(St(Safetensors("{\"t\":{\"x\":1}}", "")).status(), "unknown key 'x'");
  EXPECT_FAILS(St(Safetensors("{} x", "")).status(), "offset 11: expected the end");
  EXPECT_FAILS(St(Safetensors("{\"__metadata__\":" + std::string(200, '[') + "}", "")).status(), "nested too deep");
  EXPECT_FAILS(St(OneTensor("C64", "1", "0,8", "01234567")).status(),
               "x.safetensors:t: dtype 'C64' is not supported; BOOL, I8,");
  EXPECT_FAILS(St(OneTensor("F32", "2", "0,4", "0123")).status(), "data_offsets [0,4] are 4 bytes; F32 [2] takes 8");
  EXPECT_FAILS(St(OneTensor("F32", "2", "0,8", "0123")).status(), "lie outside the file's 4 bytes of data");
  EXPECT_FAILS(St(OneTensor("U8", "0", "3,2", "0123")).status(), "lie outside");
  EXPECT_FAILS(St(OneTensor("U8", "-1", "0,1", "0")).status(), "expected an integer of 0 or more");
  EXPECT_FAILS(St(OneTensor("U8", "9999999999999999999999", "0,1", "0")).status(), "expected an integer of 0 or more");
  EXPECT_FAILS(St(OneTensor("U8", "4611686018427387904,4", "0,1", "0")).status(), "too large");
  EXPECT_FAILS(St(OneTensor("U8", "1", "0", "0")).status(), "lacks data_offsets");
  EXPECT_FAILS(St(OneTensor("U8", "1", "0,1,2", "0")).status(), "more than 2 numbers");
  EXPECT_FAILS(St(Safetensors("{\"t\":{},\"t\":{}}", "")).status(), "'t' stands twice");
  EXPECT_FAILS(WriteArray(TestPath("i4.safetensors"), Bits(Elem::kI4, {1}, {1})), "has no name for i4");
}

// Where other programs put their first tensor, ours can be mapped in place.
TEST(SafetensorsTest, DataIsAligned) {
  ASSERT_TRUE(WriteArray(TestPath("a.safetensors"), Floats({2}, {1, 2}), "a\"\n").ok());
  const std::string file = ReadTestFile(TestPath("a.safetensors"));
  uint64_t length;
  std::memcpy(&length, file.data(), 8);
  EXPECT_EQ((8 + length) % 64, 0u);
  EXPECT_EQ(Numbers(*St(file, "a\"\n")), std::vector<double>({1, 2}));
}

}  // namespace
}  // namespace tile::tools
