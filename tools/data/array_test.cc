#include "tools/data/array.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "gtest/gtest.h"
#include "tools/data/data_test_util.h"

namespace tile::tools {
namespace {

using ir::Elem;
using ir::Element;

TEST(AlignedBufferTest, AlignsAndMoves) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{4} << 20, (size_t{5} << 20) + 3}) {
    AlignedBuffer a = *AlignedBuffer::Uninitialized(size);
    ASSERT_EQ(a.size(), size);
    ASSERT_NE(a.data(), nullptr);
    const size_t alignment = size >= size_t{4} << 20 ? size_t{2} << 20 : kBufferAlignment;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % alignment, 0u);
    std::memset(a.data(), 7, size);
    const uint8_t* where = a.data();
    AlignedBuffer b = std::move(a);
    EXPECT_EQ(b.data(), where);
    EXPECT_EQ(a.size(), 0u);  // NOLINT: what a move leaves is promised
    b = std::move(b);
    EXPECT_EQ(b.size(), size);
    const AlignedBuffer zero = *AlignedBuffer::Zeroed(size);
    for (size_t i = 0; i < size; i += 4093) ASSERT_EQ(zero.data()[i], 0);
  }
  EXPECT_FAILS(AlignedBuffer::Uninitialized(size_t{1} << 60).status(), "no memory");
}

TEST(AlignedBufferTest, ResizeKeepsContents) {
  AlignedBuffer a;
  size_t written = 0;
  for (size_t size : {size_t{10}, size_t{3000000}, size_t{9000000}, size_t{30000000}, size_t{100}}) {
    ASSERT_TRUE(a.Resize(size).ok());
    ASSERT_EQ(a.size(), size);
    for (size_t i = 0; i < std::min(written, size); ++i) ASSERT_EQ(a.data()[i], static_cast<uint8_t>(i * 7));
    for (size_t i = 0; i < size; ++i) a.data()[i] = static_cast<uint8_t>(i * 7);
    written = size;
  }
}

TEST(AlignedBufferTest, TakePartIsAligned) {
  for (size_t offset : {0, 1, 64, 100}) {
    AlignedBuffer a = *AlignedBuffer::Uninitialized(300);
    for (int i = 0; i < 300; ++i) a.data()[i] = static_cast<uint8_t>(i);
    const AlignedBuffer part = *AlignedBuffer::TakePart(std::move(a), offset, 150);
    ASSERT_EQ(part.size(), 150u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(part.data()) % kBufferAlignment, 0u);
    for (size_t i = 0; i < 150; ++i) ASSERT_EQ(part.data()[i], static_cast<uint8_t>(i + offset));
  }
}

TEST(ArrayTest, CountsAndLimits) {
  EXPECT_EQ(*CountElements({}), 1);
  EXPECT_EQ(*CountElements({3, 4}), 12);
  EXPECT_EQ(*CountElements({3, 0, 4}), 0);
  EXPECT_FAILS(CountElements({-1}).status(), "dimension -1 is negative");
  EXPECT_FAILS(CountElements({int64_t{1} << 40, 0, int64_t{1} << 40}).status(), "too large");
  EXPECT_FAILS(CountElements(std::vector<int64_t>(33, 1)).status(), "rank 33 is above 32");
  EXPECT_EQ(*BytesOf(Element::Number(Elem::kI1), 5), 5);
  EXPECT_EQ(*BytesOf(Element::Number(Elem::kI4), 5), 3);
  EXPECT_EQ(*BytesOf(Element::Number(Elem::kTF32), 5), 20);
  EXPECT_EQ(*BytesOf(Element::Number(Elem::kF64), kMaxBytes / 8), kMaxBytes);
  EXPECT_FAILS(BytesOf(Element::Number(Elem::kF64), kMaxBytes / 8 + 1).status(), "more than");
  EXPECT_FAILS(BytesOf(Element::Pointer(Elem::kF32), 1).status(), "pointers are not elements");
  EXPECT_FAILS(Array::Make(Element::Number(Elem::kF64), {int64_t{1} << 39}).status(), "more than");
}

// The example of semantics 1.2: 0.5 and 1.5 are 0x31.
TEST(ArrayTest, NibblesStartLow) {
  const Array a = Bits(Elem::kF4E2M1FN, {3}, {1, 3, 7});
  EXPECT_EQ(a.bytes.size(), 2u);
  EXPECT_EQ(a.bytes.data()[0], 0x31);
  EXPECT_EQ(a.bytes.data()[1], 0x07);
  EXPECT_EQ(Numbers(a), std::vector<double>({0.5, 1.5, 6}));
  EXPECT_EQ(Numbers(Bits(Elem::kI4, {2}, {15, 7})), std::vector<double>({-1, 7}));
}

TEST(ArrayTest, BitsOfEveryType) {
  for (int e = 0; e < ir::kNumElems; ++e) {
    const Elem elem = static_cast<Elem>(e);
    if (elem == Elem::kPtr) continue;
    const uint64_t mask = ~uint64_t{0} >> (64 - (elem == Elem::kI1 ? 1 : ir::MemoryBits(elem)));
    uint8_t bytes[80] = {};
    for (int i = 0; i < 9; ++i) StoreBits(elem, bytes, i, 0x9E3779B97F4A7C15 * (i + 1) & mask);
    for (int i = 0; i < 9; ++i) EXPECT_EQ(LoadBits(elem, bytes, i), 0x9E3779B97F4A7C15 * (i + 1) & mask) << e;
  }
  const uint8_t two = 2;
  EXPECT_EQ(LoadBits(Elem::kI1, &two, 0), 1u);  // any byte but 0 is true
}

TEST(ArrayTest, Signedness) {
  Array a = Bits(Elem::kI8, {2}, {255, 1});
  EXPECT_EQ(LoadInt(a, 0), -1);
  EXPECT_EQ(TypeText(a), "i8[2]");
  a.is_unsigned = true;
  EXPECT_EQ(LoadInt(a, 0), 255);
  EXPECT_EQ(Numbers(a), std::vector<double>({255, 1}));
  EXPECT_EQ(TypeText(a), "u8[2]");
}

// Long arrays of narrow floats are converted by a table: the same values.
TEST(ArrayTest, TablesAgree) {
  for (Elem elem : {Elem::kF16, Elem::kBF16, Elem::kF8E4M3FN, Elem::kF4E2M1FN}) {
    Array a = *Array::Make(Element::Number(elem), {70000});
    for (int64_t i = 0; i < a.count(); ++i) StoreBits(elem, a.bytes.data(), i, i);
    Array head = *Array::Make(Element::Number(elem), {2});
    const std::vector<double> values = Numbers(a);
    for (int64_t i = 0; i < a.count(); i += 37) {
      StoreBits(elem, head.bytes.data(), 0, i);
      const double alone = Numbers(head)[0];
      ASSERT_EQ(std::memcmp(&alone, &values[i], 8), 0) << i;
    }
  }
}

TEST(ArrayTest, ElementNames) {
  Element element;
  bool is_unsigned;
  EXPECT_TRUE(ParseElementName("F8E4M3fn", &element, &is_unsigned));
  EXPECT_EQ(element.kind, Elem::kF8E4M3FN);
  EXPECT_TRUE(ParseElementName("u16", &element, &is_unsigned));
  EXPECT_EQ(element.kind, Elem::kI16);
  EXPECT_TRUE(is_unsigned);
  EXPECT_TRUE(ParseElementName("bool", &element, &is_unsigned));
  EXPECT_EQ(element.kind, Elem::kI1);
  EXPECT_FALSE(ParseElementName("ptr", &element, &is_unsigned));
  EXPECT_FALSE(ParseElementName("", &element, &is_unsigned));
}

}  // namespace
}  // namespace tile::tools
