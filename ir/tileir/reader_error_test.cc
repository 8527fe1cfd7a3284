// What the reader refuses, and how it says so. The message is what a user has to go by, so its text is compared.

#include <gtest/gtest.h>

#include <functional>

#include "ir/testing/tileir_encoder.h"
#include "ir/tileir/reader.h"

namespace tile::ir {
namespace {

using tileir::Bytes;
using tileir::TestFile;

std::string Error(const std::string& bytes) {
  auto m = ReadTileIr({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "t.tilebc");
  if (m.ok()) return "no error";
  EXPECT_EQ(m.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(m.status().message());
}

// A kernel @k(i32, f32) with this body; t.Tile(…) may be used by `fill`.
std::string Kernel(int version, const std::function<Bytes(TestFile&, uint64_t i, uint64_t f)>& fill) {
  TestFile t(version);
  const uint64_t i = t.Tile(t.Element(3), {}), f = t.Tile(t.Element(7), {});
  const Bytes body = fill(t, i, f);
  t.Kernel("k", {i, f}, body);
  return t.Encode();
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
#define EXPECT_ERROR(bytes, part)                              \
  do {                                                         \
    const std::string e = Error(bytes);                        \
    EXPECT_TRUE(Contains(e, part)) << e << "\nlacks " << part; \
  } while (false)

TEST(Errors, NameFileOffsetKernelAndOperation) {
  EXPECT_EQ(
      Error(Kernel(1305, [](auto&, auto, auto) { return Bytes().V(0x4002); })),
      "t.tilebc: preview$call at offset 0x1a in kernel `k`: calls into SIMT libraries are not supported; export the "
      "kernel without them (and without --preview=simt)");
}

TEST(Errors, PreviewCallNamesItsFunctionAndPlace) {
  TestFile t(1305);
  t.tag = 1;  // the file says that it has preview operations
  const uint64_t i = t.Tile(t.Element(3), {});
  const uint64_t callee = t.String("simt_sine"), file = t.String("k.py"), dir = t.String("/src"), k = t.String("k");
  // A file, its compile unit, a subprogram, a place in it; the kernel and its first operation are there.
  const std::vector<std::string> records = {Bytes().Vs({2, file, dir}).data, Bytes().Vs({1, 1}).data,
                                            Bytes().Vs({5, 1, 7, k, k, 2, 8, 0}).data,
                                            Bytes().Vs({4, 3, file, 9, 4}).data};
  t.debug.V(1).Pad(4).U(0, 4).V(2).Pad(8);
  for (int id : {4, 4}) t.debug.U(id, 8);
  t.debug.Add(TestFile::Table(records, 4));
  // One result, no flags, the callee, then what is not looked at.
  t.Kernel("k", {i}, Bytes().Vs({0x4002, 1, i, 0, callee, 0, 1, 0}), {}, 2, 1);
  const std::string error = Error(t.Encode());
  EXPECT_TRUE(Contains(error, "t.tilebc: preview$call of `simt_sine` at offset 0x")) << error;
  EXPECT_TRUE(Contains(error, "in kernel `k`: k.py:9:4: calls into SIMT libraries are not supported")) << error;
}

TEST(Errors, Operations) {
  EXPECT_ERROR(Kernel(1305, [](auto&, auto, auto) { return Bytes().V(0x4003); }), "preview operation 0x4003");
  EXPECT_ERROR(Kernel(1305, [](auto&, auto, auto) { return Bytes().V(0x19); }), "operation 0x19 at offset");
  EXPECT_ERROR(Kernel(1305, [](auto&, auto, auto) { return Bytes().V(0x8000); }), "operation 0x8000 at offset");
  EXPECT_ERROR(Kernel(1305, [](auto&, auto, auto) { return Bytes().V(~0ull); }), "no operation has this number");
  EXPECT_ERROR(Kernel(1305,
                      [](auto&, auto i, auto) {
                        return Bytes().Vs({0x03, i, 0, 0, 2});
                      }),
               "value at offset 0x1e in kernel `k`: has number 2, but there are only 2");
  EXPECT_ERROR(Kernel(1305, [](auto&, auto i, auto) { return Bytes().Vs({0x03, i, 4, 0, 0}); }), "Overflow");
  EXPECT_ERROR(Kernel(1305, [](auto&, auto i, auto) { return Bytes().Vs({0x03, i + 50, 0, 0, 0}); }), "type at offset");
  EXPECT_ERROR(Kernel(1305,
                      [](auto&, auto i, auto) {
                        return Bytes().Vs({0x03, i - 1, 0, 0, 0});
                      }),
               "is an element type; expected the type of a value");
  EXPECT_ERROR(Kernel(1305,
                      [](auto&, auto, auto f) {
                        return Bytes().Vs({0x02, f, 2, 0, 1, 1});
                      }),
               "flags 0x2 of addf");
  EXPECT_ERROR(Kernel(1305,
                      [](auto&, auto i, auto) {
                        return Bytes().Vs({0x32, 0, 0, 1, i});
                      }),
               "has 1 regions, expected 2");
  EXPECT_ERROR(Kernel(1305,
                      [](auto&, auto, auto) {
                        return Bytes().Vs({0x32, 0, 0, 2, 2});
                      }),
               "has 2 blocks, expected 1");
  EXPECT_ERROR(Kernel(1305, [](auto&, auto, auto) { return Bytes().Vs({0x26, 0, 1, 0}); }), "cannot have 0 results");
  EXPECT_ERROR(Kernel(1305,
                      [](auto&, auto i, auto) {
                        return Bytes().Vs({0x29, 1, i, 0, 2, 0, 0, 0});
                      }),
               "lacks its operand `step`");
  EXPECT_ERROR(Kernel(1305,
                      [](auto& t, auto, auto) {
                        return Bytes().Vs({0x77, uint64_t(t.Token()), 2, 0, 0});
                      }),
               "has 1 operands too many");
  EXPECT_ERROR(Kernel(1305,
                      [](auto&, auto, auto) {
                        return Bytes().Vs({0x5C, 0, 100, 0});
                      }),
               "counts 100, but only 1 bytes follow");
}

TEST(Errors, ValuesOfARegionAreNotVisibleOutside) {
  EXPECT_ERROR(Kernel(1301,
                      [](auto&, auto i, auto) {
                        Bytes b = Bytes().Vs({0x32, 0, 0, 2, 1, 0, 2}).Vs({0x03, i, 0, 0, 0}).Vs({0x6D, 0, 0});
                        return b.Vs({1, 0, 1}).Vs({0x03, i, 0, 0, 2});  // 2 was the addi of the other branch
                      }),
               "value at offset");
}

TEST(Errors, NewerThanTheFile) {
  EXPECT_ERROR(Kernel(1301,
                      [](auto&, auto, auto f) {
                        return Bytes().Vs({0x6E, f, 1, 1});
                      }),
               "atan2 at offset 0x16 in kernel `k`: came with version 13.2, but the file says 13.1");
  EXPECT_ERROR(Kernel(1303,
                      [](auto&, auto, auto f) {
                        return Bytes().Vs({0x2A, f, 7, 1});
                      }),
               "Rounding nearest_away at offset");
  EXPECT_ERROR(Kernel(1301, [](auto& t, auto, auto) { return t.Element(18), Bytes(); }), "type with tag 18");
  EXPECT_ERROR(Kernel(1302, [](auto& t, auto, auto) { return t.Element(19), Bytes(); }), "type with tag 19");
  EXPECT_ERROR(Kernel(1303, [](auto& t, auto, auto) { return t.Element(130), Bytes(); }), "type with tag 130");
  EXPECT_ERROR(Kernel(1302, [](auto& t, auto, auto) { return t.Element(21), Bytes(); }), "type with tag 21");
  TestFile hints(1302);
  const uint64_t key = hints.String("default");
  hints.Kernel("k", {}, Bytes().Return(), Bytes().Vs({11, 1, key, 10, 0}));
  EXPECT_ERROR(hints.Encode(), "hints for `default` at offset");
  TestFile producer(1302);
  producer.producer.V(0);
  EXPECT_ERROR(producer.Encode(), "producer section at offset");
  EXPECT_ERROR(TestFile(1306).Encode(), "version 13.6 at offset 0x8: known are 13.1 to 13.5");
  EXPECT_ERROR(TestFile(1401).Encode(), "version 14.1");
}

TEST(Errors, Types) {
  const auto with = [](int version, const Bytes& type) {
    TestFile t(version);
    t.Element(3);
    t.Type(type);
    return Error(t.Encode());
  };
  EXPECT_TRUE(
      Contains(with(1304, Bytes().Vs({12, 1, 0})), "pointer attributes (peer and multicast memory) are not supported"));
  EXPECT_TRUE(Contains(with(1303, Bytes().Vs({13, 1})), "contains itself"));
  EXPECT_TRUE(Contains(with(1303, Bytes().Vs({99})), "no type has this tag"));
  EXPECT_TRUE(Contains(with(1303, Bytes().Vs({13, 0}).Ints(8, {4, 0})), "has the size 0"));
  EXPECT_TRUE(Contains(with(1303, Bytes().Vs({14, 0}).Ints(8, {4}).Ints(8, {})), "1 sizes but 0 strides"));
  EXPECT_TRUE(Contains(with(1303, Bytes().Vs({3, 0})), "has bytes after its last field"));
  EXPECT_TRUE(Contains(with(1303, Bytes().Vs({16, 1, 0, 0})), "is an element type"));
  EXPECT_TRUE(Contains(with(1303, Bytes().Vs({15, 2})), "flags 0x2"));
  EXPECT_TRUE(Contains(with(1303, Bytes().V(13).V(0).V(17).Add(std::string(17 * 8, '\1'))), "the limit is 16"));
}

TEST(Errors, EndlessNesting) {
  TestFile types(1303);
  for (int i = 1; i < 100000; ++i) types.Type(Bytes().Vs({12, uint64_t(i)}));
  types.Element(3);
  EXPECT_ERROR(types.Encode(), "nested too deeply");
  EXPECT_ERROR(Kernel(1301,
                      [](auto&, auto, auto) {
                        Bytes b;
                        for (int i = 0; i < 100000; ++i) b.Vs({0x41, 0, 0, 1, 1, 0, 1});
                        return b;
                      }),
               "nested more than 64 deep");
  TestFile debug(1301);
  std::vector<std::string> records;
  for (uint64_t i = 1; i < 100000; ++i) records.push_back(Bytes().Vs({6, i + 1, 0}).data);
  records.push_back(Bytes().Vs({1, 0}).data);
  debug.debug.V(1).Pad(4).U(0, 4).V(1).Pad(8).U(1, 8).Add(TestFile::Table(records, 4));
  debug.Kernel("k", {}, Bytes().Return(), {}, 2, 1);
  EXPECT_ERROR(debug.Encode(), "nested too deeply");
}

TEST(Errors, Structure) {
  EXPECT_ERROR("", "not a Tile IR bytecode file");
  EXPECT_ERROR(TestFile(1305).Encode() + "x", "1 bytes follow");
  TestFile twice(1305);
  TestFile::Section(twice.more_sections, 2, 1, std::string(1, '\0'));
  EXPECT_ERROR(twice.Encode(), "function section at offset");
  TestFile unknown(1305);
  TestFile::Section(unknown.more_sections, 8, 1, "");
  EXPECT_ERROR(unknown.Encode(), "no section has this number");
  TestFile same(1305);
  same.Kernel("k", {}, Bytes().Return());
  same.Kernel("k", {}, Bytes().Return());
  EXPECT_ERROR(same.Encode(), "this name is taken");
  TestFile callee(1301);
  callee.Kernel("f", {}, Bytes().Return(), {}, 0);
  EXPECT_ERROR(callee.Encode(), "is no kernel");
  TestFile flags(1301);
  flags.Kernel("f", {}, Bytes().Return(), {}, 10);
  EXPECT_ERROR(flags.Encode(), "flags 0xa of a kernel");
  TestFile debug(1301);
  debug.Kernel("f", {}, Bytes().Return(), {}, 2, 1);
  EXPECT_ERROR(debug.Encode(), "debug information of a kernel");
  std::string no_sections = TestFile(1301).Encode().substr(0, 12) + std::string(1, '\0');
  EXPECT_ERROR(no_sections, "string section at offset");
}

TEST(Errors, Constants) {
  const auto constant = [](int tag, std::initializer_list<int64_t> shape, absl::string_view elements) {
    TestFile t(1305);
    const uint64_t type = t.Tile(t.Element(tag), shape);
    t.Kernel("k", {}, Bytes().Vs({0x10, type, uint64_t(t.Constant(elements))}).Return());
    return Error(t.Encode());
  };
  EXPECT_TRUE(
      Contains(constant(3, {4}, "12345678"), "has 8 bytes, which is neither one element nor 4 elements of i32"));
  EXPECT_TRUE(Contains(constant(3, {4}, ""), "has 0 bytes"));
  EXPECT_TRUE(Contains(constant(0, {16}, "\x01"), "has 1 bytes"));
  EXPECT_TRUE(Contains(constant(22, {2}, "\x01"), "cannot have the type tile<2xi4>"));
  // A splat stays one element, however large its tile claims to be.
  EXPECT_EQ(constant(3, {1 << 30, 1 << 30, 1 << 30}, "1234"), "no error");
}

TEST(Errors, CountsLargerThanTheFile) {
  EXPECT_ERROR(Kernel(1305,
                      [](auto& t, auto, auto) {
                        return Bytes().Vs({0x3C, 1, uint64_t(t.Token()), uint64_t{1} << 62});
                      }),
               "operands of join_tokens at offset");
  TestFile t(1305);
  t.debug.V(uint64_t{1} << 40);
  EXPECT_ERROR(t.Encode(), "functions of the debug section at offset");
  TestFile globals(1305);
  globals.globals.V(uint64_t{1} << 60);
  EXPECT_ERROR(globals.Encode(), "globals at offset");
}

}  // namespace
}  // namespace tile::ir
