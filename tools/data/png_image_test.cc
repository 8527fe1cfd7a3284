#include "tools/data/png_image.h"

#include <png.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/data/data_test_util.h"
#include "tools/data/write.h"

namespace tile::tools {
namespace {

using ir::Elem;

absl::StatusOr<Array> Read(const std::string& bytes) { return ReadPng(Buffer(bytes).span(), "x.png"); }

// An image of any kind, written by libpng's own interface.
std::string Png(uint32_t width, uint32_t height, int depth, int color, int interlace,
                const std::vector<std::string>& rows, bool palette_alpha = false) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep bytes, size_t size) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(bytes), size);
      },
      nullptr);
  png_set_IHDR(png, info, width, height, depth, color, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[] = {{10, 20, 30}, {40, 50, 60}};
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
  const png_byte alpha[] = {7, 255};
  if (palette_alpha) png_set_tRNS(png, info, alpha, 2, nullptr);
  png_set_gAMA(png, info, 1.0);  // must not change samples
  std::vector<png_bytep> pointers;
  for (const std::string& row : rows) pointers.push_back(reinterpret_cast<png_bytep>(const_cast<char*>(row.data())));
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

TEST(PngTest, RoundTrips) {
  for (const std::vector<int64_t>& shape :
       std::vector<std::vector<int64_t>>{{5, 7}, {5, 7, 1}, {5, 7, 2}, {5, 7, 3}, {1, 1, 4}}) {
    Array a = *Array::Make(ir::Element::Number(Elem::kI8), shape);
    for (int64_t i = 0; i < a.count(); ++i) a.bytes.data()[i] = static_cast<uint8_t>(i * 37);
    ASSERT_TRUE(WriteArray(TestPath("r.png"), a).ok());
    const absl::StatusOr<Array> b = Read(ReadTestFile(TestPath("r.png")));
    ASSERT_TRUE(b.ok()) << b.status().message();
    EXPECT_TRUE(b->is_unsigned);
    EXPECT_EQ(b->shape, shape.back() == 1 && shape.size() == 3 ? std::vector<int64_t>({5, 7}) : shape);
    EXPECT_EQ(BytesText(b->bytes), BytesText(a.bytes));
  }
}

TEST(PngTest, KindsOfImages) {
  const Array grey = *Read(Png(3, 1, 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, {"\xA0"}));
  EXPECT_EQ(Numbers(grey), std::vector<double>({255, 0, 255}));
  const Array palette = *Read(Png(2, 1, 1, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, {"\x40"}));
  EXPECT_EQ(TypeText(palette), "u8[1,2,3]");
  EXPECT_EQ(Numbers(palette), std::vector<double>({10, 20, 30, 40, 50, 60}));
  const Array alpha = *Read(Png(2, 1, 1, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, {"\x40"}, true));
  EXPECT_EQ(Numbers(alpha), std::vector<double>({10, 20, 30, 7, 40, 50, 60, 255}));
  const Array interlaced = *Read(Png(3, 2, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, {"\1\2\3", "\4\5\6"}));
  EXPECT_EQ(Numbers(interlaced), std::vector<double>({1, 2, 3, 4, 5, 6}));
}

TEST(PngTest, Refusals) {
  EXPECT_FAILS(Read(Png(1, 1, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, {"ab"})).status(),
               "x.png: has 16 bits a sample");
  EXPECT_FAILS(Read("hello").status(), "x.png: is not a PNG image");
  const std::string good = Png(2, 1, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, {"ab"});
  EXPECT_FAILS(Read(good.substr(0, good.size() - 1)).status(), "the file is cut off");
  // A header of 16 million pixels squared over no data. Its checksum is right, as an attacker's would be.
  std::string huge = good;
  const unsigned char side[] = {0, 0xFF, 0xFF, 0xFF, 0, 0xFF, 0xFF, 0xFF};
  std::memcpy(&huge[16], side, 8);
  uint32_t crc = ~0u;
  for (size_t i = 12; i < 29; ++i) {
    crc ^= static_cast<unsigned char>(huge[i]);
    for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  for (int i = 0; i < 4; ++i) huge[29 + i] = static_cast<char>(~crc >> (24 - 8 * i));
  EXPECT_FAILS(Read(huge).status(), "bytes cannot hold 16777215 x 16777215 pixels");
}

TEST(PngTest, WhatCannotBeWritten) {
  const std::string path = TestPath("bad.png");
  EXPECT_FAILS(WriteArray(path, Floats({2, 2}, {0, 0, 0, 0})),
               "f32[2,2] is not an image; .png takes i8 [height,width]");
  EXPECT_FAILS(WriteArray(path, *Array::Make(ir::Element::Number(Elem::kI8), {2, 2, 5})), "i8[2,2,5] is not an image");
  EXPECT_FAILS(WriteArray(path, *Array::Make(ir::Element::Number(Elem::kI8), {4})), "i8[4] is not an image");
  EXPECT_FAILS(WriteArray(path, *Array::Make(ir::Element::Number(Elem::kI8), {0, 4})), "an image of 4 x 0 pixels");
  EXPECT_EQ(ReadTestFile(path), "");  // nothing was left behind
}

}  // namespace
}  // namespace tile::tools
