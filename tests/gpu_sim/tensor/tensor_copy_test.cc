#include "tests/gpu_sim/tensor/tensor_copy.h"

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace tile::gpu_sim {
namespace {

constexpr uint64_t kBase = 1 << 20;  // of global memory
constexpr int kFloat16 = 6, kFloat32 = 7, kTFloat32 = 11, kUint8 = 0;

struct Global {
  std::vector<uint8_t> bytes;

  auto memory() {
    return [this](uint64_t address, uint64_t length) -> absl::StatusOr<uint8_t*> {
      if (address < kBase || address - kBase > bytes.size() || bytes.size() - (address - kBase) < length)
        return absl::OutOfRangeError(absl::StrCat("no memory at ", address));
      return bytes.data() + (address - kBase);
    };
  }
};

TensorMap Map(int type, std::vector<uint64_t> sizes, std::vector<uint64_t> strides, std::vector<uint32_t> box,
              int swizzle) {
  TensorMap m;
  m.type = type;
  m.rank = static_cast<int>(sizes.size());
  m.address = kBase;
  for (size_t d = 0; d < sizes.size(); ++d) {
    m.sizes[d] = sizes[d];
    m.box[d] = box[d];
    if (d > 0) m.strides[d - 1] = strides[d - 1];
  }
  m.swizzle = swizzle;
  return m;
}

// Byte by byte: calls for each byte of the box with its place in the box and in global memory (-1: outside of the tensor).
void ForEachByte(const TensorMap& m, const std::vector<int32_t>& at,
                 const std::function<void(uint32_t in_box, int64_t in_global)>& visit) {
  const auto bytes = static_cast<uint32_t>(m.element_bytes());
  for (uint32_t in_box = 0; in_box < m.box_bytes(); ++in_box) {
    uint32_t rest = in_box / bytes;
    int64_t place = in_box % bytes;
    bool inside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t x = at[d] + static_cast<int64_t>(rest % m.box[d]);
      rest /= m.box[d];
      inside = inside && x >= 0 && x < static_cast<int64_t>(m.sizes[d]);
      place += x * static_cast<int64_t>(d == 0 ? bytes : m.strides[d - 1]);
    }
    visit(in_box, inside ? place : -1);
  }
}

// Where TMA puts a byte of a box that begins at a multiple of 1024: the row's number permutes 16-byte chunks, at 128 bytes each row,
// at 64 each second, at 32 each fourth.
uint32_t Swizzled(const TensorMap& m, uint32_t in_box) {
  const auto span = static_cast<uint32_t>(m.swizzle_bytes());
  if (span == 16) return in_box;
  const uint32_t row = in_box / span, chunk = in_box % span / 16;
  return row * span + (chunk ^ row * span / 128 % (span / 16)) * 16 + in_box % 16;
}

struct Case {
  TensorMap map;
  std::vector<std::vector<int32_t>> at;
};
std::vector<Case> Cases() {
  return {
      {Map(kFloat16, {200, 40}, {512}, {64, 16}, 3),
       {{0, 0}, {64, 24}, {192, 32}, {-8, -3}, {-64, 0}, {1000, 5}, {3, 7}}},
      {Map(kFloat32, {24, 9, 5}, {96, 1008}, {16, 4, 3}, 2), {{0, 0, 0}, {16, 8, 3}, {-4, -1, -1}, {0, 100, 0}}},
      {Map(kUint8, {80, 30}, {96}, {32, 20}, 1), {{0, 0}, {64, 16}, {-16, -19}}},
      {Map(kFloat16, {128}, {}, {128}, 0), {{0}, {8}, {-120}}},
      {Map(kFloat16, {16, 3, 4, 2, 2}, {32, 96, 384, 768}, {8, 2, 3, 2, 1}, 0), {{0, 0, 0, 0, 0}, {8, 2, -1, 1, 1}}},
  };
}

TEST(TensorCopy, LoadsSwizzledAndFillsWithZeros) {
  std::mt19937 random(1);
  for (const Case& c : Cases()) {
    ASSERT_TRUE(CheckTensorMap(c.map).ok()) << CheckTensorMap(c.map);
    Global global;
    global.bytes.resize(64 << 10);
    for (uint8_t& b : global.bytes) b = static_cast<uint8_t>(random() % 255 + 1);
    for (const auto& at : c.at) {
      if (at[0] * c.map.element_bytes() % 16 != 0) continue;
      std::vector<uint8_t> shared(16 << 10, 0), expected(16 << 10, 0);
      constexpr uint32_t kOffset = 2048;
      ForEachByte(c.map, at, [&](uint32_t in_box, int64_t place) {
        expected[kOffset + Swizzled(c.map, in_box)] = place < 0 ? 0 : global.bytes[static_cast<size_t>(place)];
      });
      for (uint32_t i = 0; i < c.map.box_bytes(); ++i) shared[kOffset + i] = 0xEE;
      const absl::Status s = LoadBox(c.map, at, kOffset, absl::MakeSpan(shared), global.memory());
      ASSERT_TRUE(s.ok()) << s;
      EXPECT_EQ(shared, expected);
    }
  }
}

TEST(TensorCopy, StoresWhatIsInside) {
  std::mt19937 random(2);
  for (const Case& c : Cases()) {
    std::vector<uint8_t> shared(16 << 10);
    for (uint8_t& b : shared) b = static_cast<uint8_t>(random());
    for (const auto& at : c.at) {
      if (at[0] * c.map.element_bytes() % 16 != 0) continue;
      Global global{std::vector<uint8_t>(64 << 10, 0x55)}, expected = global;
      constexpr uint32_t kOffset = 4096;
      ForEachByte(c.map, at, [&](uint32_t in_box, int64_t place) {
        if (place >= 0) expected.bytes[static_cast<size_t>(place)] = shared[kOffset + Swizzled(c.map, in_box)];
      });
      const absl::Status s = StoreBox(c.map, at, kOffset, shared, global.memory());
      ASSERT_TRUE(s.ok()) << s;
      EXPECT_EQ(global.bytes, expected.bytes);
    }
  }
}

TEST(TensorCopy, StoresBy16Bytes) {
  const TensorMap map = Map(kFloat16, {12, 2}, {64}, {16, 2}, 1);
  const std::vector<uint8_t> shared(1024, 7);
  Global global{std::vector<uint8_t>(128, 0)};
  ASSERT_TRUE(StoreBox(map, {0, 0}, 0, shared, global.memory()).ok());
  EXPECT_EQ(global.bytes[31], 7);
  EXPECT_EQ(global.bytes[32], 0);
  EXPECT_EQ(global.bytes[64 + 31], 7);
  // So it may leave the allocation.
  global.bytes.resize(64 + 24);
  EXPECT_FALSE(StoreBox(map, {0, 0}, 0, shared, global.memory()).ok());
}

TEST(TensorCopy, SwizzlesByAddressAndNotByPlaceInTheBox) {
  const TensorMap map = Map(kFloat16, {64, 1}, {128}, {64, 1}, 3);
  Global global{std::vector<uint8_t>(128)};
  for (size_t i = 0; i < 128; ++i) global.bytes[i] = static_cast<uint8_t>(i / 16);
  std::vector<uint8_t> shared(2048);
  ASSERT_TRUE(LoadBox(map, {0, 0}, 3 * 128, absl::MakeSpan(shared), global.memory()).ok());
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(shared[3 * 128 + 16 * i], i ^ 3);
}

TEST(TensorCopy, RoundsToTf32) {
  constexpr uint32_t kIn[] = {0x3F801000, 0x3F803000, 0x3F800FFF, 0xBF801001,
                              0x7F7FF000, 0x7F7FEFFF, 0x7F800001, 0x80000000};
  constexpr uint32_t kOut[] = {0x3F800000, 0x3F804000, 0x3F800000, 0xBF802000,
                               0x7F800000, 0x7F7FE000, 0x7FFFFFFF, 0x80000000};
  Global global{std::vector<uint8_t>(sizeof kIn)};
  std::memcpy(global.bytes.data(), kIn, sizeof kIn);
  for (const bool rounds : {true, false}) {
    std::vector<uint8_t> shared(sizeof kIn);
    const TensorMap map = Map(rounds ? kTFloat32 : kFloat32, {8}, {}, {8}, 0);
    ASSERT_TRUE(LoadBox(map, {0}, 0, absl::MakeSpan(shared), global.memory()).ok());
    EXPECT_EQ(std::memcmp(shared.data(), rounds ? kOut : kIn, sizeof kIn), 0) << rounds;
  }
}

TEST(TensorCopy, Errors) {
  const TensorMap map = Map(kFloat16, {64, 8}, {128}, {64, 8}, 3);
  Global global{std::vector<uint8_t>(1024)};
  std::vector<uint8_t> shared(2048);
  const auto load = [&](std::vector<int32_t> at, uint32_t offset) {
    return LoadBox(map, at, offset, absl::MakeSpan(shared), global.memory());
  };
  EXPECT_TRUE(load({0, 0}, 1024).ok());
  EXPECT_FALSE(load({0, 0}, 1024 + 64).ok());
  EXPECT_FALSE(load({0, 0}, 1024 + 128).ok());
  EXPECT_FALSE(load({0, 0}, 1u << 31).ok());
  EXPECT_FALSE(load({0}, 0).ok());
  EXPECT_TRUE(absl::StrContains(load({3, 0}, 0).message(), "at column 3"));
  EXPECT_TRUE(absl::StrContains(StoreBox(map, {3, 0}, 0, shared, global.memory()).message(), "at column 3"));
  global.bytes.resize(1000);
  EXPECT_TRUE(absl::StrContains(load({0, 0}, 0).message(), "no memory at"));
}

TEST(TensorMap, Encodes) {
  TensorMap map = Map(kFloat32, {uint64_t{1} << 32, 5, 1}, {uint64_t{1} << 39, 16}, {32, 256, 1}, 3);
  alignas(64) uint8_t bytes[kTensorMapBytes];
  EncodeTensorMap(map, bytes);
  const absl::StatusOr<TensorMap> back = DecodeTensorMap(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->type, map.type);
  EXPECT_EQ(back->rank, map.rank);
  EXPECT_EQ(back->address, map.address);
  EXPECT_EQ(back->sizes, map.sizes);
  EXPECT_EQ(back->strides, map.strides);
  EXPECT_EQ(back->box, map.box);
  EXPECT_EQ(back->swizzle, map.swizzle);
  EXPECT_EQ(back->box_bytes(), 32u * 256 * 4);
  std::memset(bytes, 0, sizeof bytes);
  EXPECT_FALSE(DecodeTensorMap(bytes).ok());
}

TEST(TensorMap, Refuses) {
  const TensorMap good = Map(kFloat16, {64, 8}, {128}, {64, 8}, 3);
  ASSERT_TRUE(CheckTensorMap(good).ok());
  const auto refuses = [&](const std::function<void(TensorMap&)>& change) {
    TensorMap m = good;
    change(m);
    return !CheckTensorMap(m).ok();
  };
  EXPECT_TRUE(refuses([](TensorMap& m) { m.address += 8; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.rank = 6; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.rank = 0; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.type = 13; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.sizes[1] = 0; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.strides[0] = 136; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.strides[0] = uint64_t{1} << 40; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.box[1] = 257; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.box[0] = 72; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.box[0] = 32; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.box[0] = 4, m.swizzle = 0; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.element_strides[0] = 2; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.interleave = 1; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.swizzle = 4; }));
  EXPECT_TRUE(refuses([](TensorMap& m) { m.fill = 1; }));
}

TEST(TensorCopy, Forms) {
  const auto parse = [](absl::string_view opcode) {
    const std::vector<absl::string_view> parts = absl::StrSplit(opcode, '.');
    return ParseTensorCopy(parts);
  };
  auto kind =
      parse("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster");
  ASSERT_TRUE(kind.ok()) << kind.status();
  EXPECT_TRUE(kind->rank == 3 && kind->to_shared && kind->multicast);
  kind = parse("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group");
  ASSERT_TRUE(kind.ok()) << kind.status();
  EXPECT_TRUE(kind->rank == 2 && !kind->to_shared && !kind->multicast);
  EXPECT_FALSE(kind->has_hint);
  for (const char* order : {"cta_group::2.L2::cache_hint", "L2::cache_hint.cta_group::2"}) {
    const std::string opcode =
        absl::StrCat("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.", order);
    kind = parse(opcode);
    ASSERT_TRUE(kind.ok()) << kind.status();
    EXPECT_TRUE(kind->of_pair && kind->has_hint && !kind->multicast);
  }
  for (absl::string_view opcode :
       {"cp.async.bulk.tensor.6d.global.shared::cta.tile.bulk_group", "cp.async.bulk.tensor.2d.global.shared::cta",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.bulk_group",
        "cp.async.bulk.tensor.2d.global.shared::cta.im2col.bulk_group",
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.cta_group::2",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group"}) {
    EXPECT_FALSE(parse(opcode).ok()) << opcode;
  }
}

}  // namespace
}  // namespace tile::gpu_sim
