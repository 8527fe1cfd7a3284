// Values are numbered as the container does: parameters first, then every result in order.

#include "ir/testing/tileir_samples.h"

#include "ir/testing/tileir_encoder.h"

namespace tile::ir::tileir {
namespace {

constexpr uint64_t kDynamic = uint64_t{1} << 63;

// A file with the types that most kernels need.
struct Start {
  explicit Start(int v) : version(v), file(v) {}
  int version;
  TestFile file;
  uint64_t i1 = file.Element(0), i32 = file.Element(3), f32 = file.Element(7);
  uint64_t b = file.Tile(i1, {}), i = file.Tile(i32, {}), f = file.Tile(f32, {});
  uint64_t token = file.Token();
  uint64_t pf = file.Tile(file.Pointer(f32), {});
  uint64_t Int(int value) { return file.Constant(Bytes().U(value, 4).data); }
};

// Arithmetic whose payload changed over time, hints, debug records.
Sample Arithmetic(int version) {
  Start s(version);
  TestFile& t = s.file;
  Bytes body = Bytes().Vs({0x03, s.i, 3, 0, 1});  // 2 = addi nw
  body.Vs({0x0F, s.b, 2, 1, 2, 1});               // 3 = cmpi less_than signed
  body.Vs({0x5F, s.i, 3, 0, 2});                  // 4 = select
  body.Vs({0x50, s.i});                           // 5 = negi
  if (version >= 1302) body.V(1);
  body.V(4);
  body.Vs({0x3B, s.f, 1, 0, 5});     // 6 = itof signed
  body.Vs({0x02, s.f, 1, 0, 6, 6});  // 7 = addf flush_to_zero
  body.Vs({0x17, s.f});              // 8 = exp
  if (version >= 1303) body.V(4);
  body.V(7);
  body.Vs({0x06, s.i, 8, 16, 0, 2});       // 9 = assume div_by<16>
  body.Vs({0x06, s.i, 12, 1}).Z(-4).V(9);  // 10 = assume bounded<-4, ?>
  body.Return();
  const uint64_t arch = t.String(version >= 1303 ? "default" : "sm_90"), name = t.String("occupancy");
  const Bytes hints = Bytes().Vs({11, 1, arch, 10, 1, name, 1, s.i32, 2});

  const uint64_t file = t.String("k.py"), dir = t.String("/src"), k = t.String("arithmetic");
  std::vector<std::string> records = {Bytes().Vs({2, file, dir}).data,
                                      Bytes().Vs({1, 1}).data,
                                      Bytes().Vs({5, 1, 7, k, k, 2, 8}).data,
                                      Bytes().Vs({4, 3, file, 9, 4}).data,
                                      Bytes().Vs({3, 3, 1, 10, 2}).data,
                                      Bytes().Vs({4, 5, file, 10, 6}).data,
                                      Bytes().Vs({6, 6, 4}).data,
                                      Bytes().Vs({4, 3, file, 9, 4}).data};
  if (version >= 1305) records[2].push_back('\0');
  t.debug.V(1).Pad(4).U(0, 4).V(11).Pad(8);
  for (int id : {4, 4, 8, 6, 7, 0, 4, 4, 6, 6, 4}) t.debug.U(id, 8);
  t.debug.Add(TestFile::Table(records, 4));
  t.Kernel("arithmetic", {s.i, s.i}, body, hints, 2, 1);
  return {"arithmetic", t.Encode()};
}

// A masked load and store through pointers.
Sample Pointers(int version) {
  Start s(version);
  TestFile& t = s.file;
  const uint64_t vi = t.Tile(s.i32, {128}), vb = t.Tile(s.i1, {128}), vf = t.Tile(s.f32, {128});
  const uint64_t p = t.Pointer(s.f32), p1 = t.Tile(p, {1}), vp = t.Tile(p, {128});
  const uint64_t sm = t.String(version >= 1303 ? "default" : "sm_120"), latency = t.String("latency");
  Bytes body = Bytes().Vs({0x3A, vi});                                       // 2 = iota
  body.Vs({0x10, vi, s.Int(100)});                                           // 3 = constant
  body.Vs({0x0F, vb, 2, 1, 2, 3});                                           // 4 = cmpi
  body.Vs({0x5B, p1, 0}).Vs({0x0B, vp, 5});                                  // 5, 6 = reshape, broadcast
  body.Vs({0x51, vp, 6, 2});                                                 // 7 = offset
  body.Vs({0x10, vf, uint64_t(t.Constant(Bytes().U(0x3F800000, 4).data))});  // 8
  body.Vs({0x44, s.token});                                                  // 9
  body.Vs({0x3D, vf, s.token, 1 | 2 | 4 | 8 | 16, 1, 1});                    // 10, 11 = load_ptr_tko relaxed device
  body.Vs({1, sm, 10, 1, latency, 1, s.i32, 3}).Vs({7, 4, 8, 9});
  body.Vs({0x3C, 1, s.token, 2, 9, 11});             // 12 = join_tokens
  body.Vs({0x65, s.token, 4 | 8, 0, 7, 10, 4, 12});  // 13 = store_ptr_tko weak
  body.Return();
  t.Kernel("pointers", {s.pf, s.i}, body);
  return {"pointers", t.Encode()};
}

// Views of a matrix, with padding and a permuted dim_map.
Sample Views(int version) {
  Start s(version);
  TestFile& t = s.file;
  const uint64_t tensor = t.TensorView(s.f32, {int64_t(kDynamic), 64}, {int64_t(kDynamic), 1});
  Bytes view = Bytes().V(15);
  if (version >= 1303) view.V(1);
  view.Ints(4, {8, 16}).V(tensor).Ints(4, {1, 0});
  if (version < 1303) view.V(1);
  const uint64_t pv = t.Type(view.V(2));
  const uint64_t tile = t.Tile(s.f32, {8, 16});
  Bytes body = Bytes().Vs({0x43, 1, tensor, 0, 1, 1, 1, 2});  // 3 = make_tensor_view
  body.Vs({0x42, pv, 3});                                     // 4 = make_partition_view
  body.Vs({0x30, s.i, s.i, s.i});                             // 5, 6, 7 = get_tile_block_id
  body.Vs({0x44, s.token});                                   // 8
  body.Vs({0x3E, 2, tile, s.token, 4, 0});                    // 9, 10 = load_view_tko weak
  if (version >= 1304) body.Vs({2, 0, 1});                    // inbounds
  body.Vs({4, 2, 5, 6, 8});
  body.Vs({0x66, 1, s.token, 4 | 1, 3, 2});  // 11 = store_view_tko release sys
  if (version >= 1304) body.Vs({2, 0, 0});
  body.Vs({9, 4, 2, 5, 6, 10});
  body.Vs({0x2D, 2, s.i, s.i, 4});  // 12, 13 = get_index_space_shape
  body.Return();
  t.Kernel("views", {s.pf, s.i, s.i}, body);
  return {"views", t.Encode()};
}

// for with a carried value, if with an early end, loop with break.
Sample Control(int version) {
  Start s(version);
  TestFile& t = s.file;
  const uint64_t zero = s.Int(0), one = s.Int(1);
  Bytes body = Bytes().Vs({0x10, s.i, zero}).Vs({0x10, s.i, one});  // 1, 2
  body.Vs({0x29, 1, s.i});                                          // for; arguments 3, 4
  if (version >= 1302) body.V(1);
  body.Vs({4, 1, 0, 2, 1, 1, 1, 2, s.i, s.i, 2});
  body.Vs({0x03, s.i, 0, 3, 4}).Vs({0x11, 0, 1, 5});           // 5 = addi; continue
  body.Vs({0x0F, s.b, 0, 1, 3, 2});                            // outside: 3 = for's result, 4 = cmpi equal
  body.Vs({0x32, 1, s.i, 4, 2, 1, 0, 1}).Vs({0x6D, 0, 1, 3});  // 5 = if … yield 3
  body.Vs({1, 0, 1}).Vs({0x6D, 0, 1, 2});                      //         else yield 2
  body.Vs({0x41, 1, s.i, 1, 5, 1, 1, 1, s.i, 3});              // 6 = loop; argument 6
  body.Vs({0x0F, s.b, 4, 0, 6, 2});                            // 7 = cmpi greater unsigned
  body.Vs({0x32, 0, 7, 2, 1, 0, 1}).Vs({0x0A, 0, 1, 6}).Vs({1, 0, 1}).Vs({0x6D, 0, 0});
  body.Vs({0x11, 0, 1, 2});  // continue
  body.Vs({0x05, uint64_t(t.String("must hold")), 4});
  body.Return();
  t.Kernel("control", {s.i}, body);
  return {"control", t.Encode()};
}

// reduce and scan with their identities.
Sample Reductions(int version) {
  Start s(version);
  TestFile& t = s.file;
  const uint64_t vf = t.Tile(s.f32, {16}), vi = t.Tile(s.i32, {16});
  Bytes body = Bytes().Vs({0x3A, vi}).Vs({0x3B, vf, 1, 0, 0});  // 0 = iota, 1 = itof
  body.Vs({0x58, 1, s.f, 0, 1, 2, s.f32}).Z(0).Vs({1, 1});      // reduce f32, identity 0.0
  body.Vs({1, 1, 2, s.f, s.f, 2}).Vs({0x02, s.f, 0, 0, 2, 3}).Vs({0x6D, 0, 1, 4});
  body.Vs({0x5E, 1, vi, 0, 1, 1, 1, s.i32, 0xFFFFFFFF}).Vs({1, 0});  // 3 = scan reverse, identity -1
  body.Vs({1, 1, 2, s.i, s.i, 2}).Vs({0x04, s.i, 3, 4}).Vs({0x6D, 0, 1, 5});
  body.Return();
  t.Kernel("reductions", {}, body);
  return {"reductions", t.Encode()};
}

// Read-modify-write on pointers, and on a view since 13.3.
Sample Atomics(int version) {
  Start s(version);
  TestFile& t = s.file;
  const uint64_t pi = t.Tile(t.Pointer(s.i32), {});
  Bytes body = Bytes().Vs({0x08, s.i, s.token, 0, 1, 1, 3, 0, 1});  // 2, 3 = atomic_rmw_tko relaxed device add
  body.Vs({0x07, s.i, s.token, 2, 4, 2, 0, 1, 2, 3});               // 4, 5 = atomic_cas_tko acq_rel sys
  if (version >= 1303) {
    const uint64_t tensor = t.TensorView(s.i32, {32}, {1}), tile = t.Tile(s.i32, {8});
    const uint64_t view = t.Type(Bytes().Vs({15, 0}).Ints(4, {8}).V(tensor).Ints(4, {0}));
    body.Vs({0x43, 1, tensor, 0, 0, 0}).Vs({0x42, view, 6});  // 6, 7
    body.Vs({0x10, tile, s.Int(5)});                          // 8
    body.Vs({0x75, 1, s.token, 1, 1, 1, 5});                  // 9 = atomic_red_view_tko max
    if (version >= 1305) body.Vs({1, 1});
    body.Vs({7, 1, 1, 8, 5});
  }
  body.Return();
  t.Kernel("atomics", {pi, s.i}, body);
  return {"atomics", t.Encode()};
}

// Constants of every packing.
Sample Constants(int version) {
  Start s(version);
  TestFile& t = s.file;
  Bytes body;
  const auto add = [&](int tag, std::initializer_list<int64_t> shape, absl::string_view elements) {
    const uint64_t type = t.Tile(t.Element(tag), shape);
    body.Vs({0x10, type, uint64_t(t.Constant(elements))});
  };
  add(0, {16}, absl::string_view("\x01\x80", 2));
  add(0, {16}, "\xFF");
  add(0, {2}, "\x01");
  add(3, {2}, absl::string_view("\1\0\0\0\2\0\0\0", 8));
  add(8, {2}, absl::string_view("\x00\xFC\x01\x00\x00\x02", 6));
  add(8, {4}, absl::string_view("\x00\xFC\x01", 3));
  add(9, {}, absl::string_view("\0\0\0\0\0\0\xF0\x3F", 8));
  add(10, {2}, "\x38\x40");
  if (version >= 1302) add(18, {2}, "\x7F");
  if (version >= 1303) add(19, {4}, absl::string_view("\1\2\3\4", 4));
  if (version >= 1304) add(130, {2}, "\x70\x71");
  t.Kernel("constants", {}, body.Return());
  return {"constants", t.Encode()};
}

// A global, printing, two kernels.
Sample Globals(int version) {
  Start s(version);
  TestFile& t = s.file;
  const uint64_t vi = t.Tile(s.i32, {2});
  const uint64_t pi = t.Tile(t.Pointer(s.i32), {});
  const uint64_t name = t.String("table"), value = t.Constant(absl::string_view("\1\0\0\0\2\0\0\0", 8));
  t.globals.Vs({1, name, vi, value, 16});
  if (version >= 1303) {
    t.globals.Vs({1, 1});  // private, constant
    t.producer.V(t.String("by hand"));
  }
  Bytes body = Bytes().Vs({0x2C, pi, name});  // 0 = get_global
  const uint64_t format = t.String("%d\n");
  if (version >= 1302) {
    body.Vs({0x3D, s.i, s.token, 0, 0, 0});           // 1, 2 = load_ptr_tko
    body.Vs({0x55, 1, s.token, 1, format, 1, 1, 2});  // 3 = print_tko
  } else {
    body.Vs({0x3D, s.i, s.token, 0, 0, 0}).Vs({0x55, 0, format, 1, 1});
  }
  t.Kernel("globals", {}, body.Return());
  t.Kernel("other", {s.f}, Bytes().Return());
  return {"globals", t.Encode()};
}

// Matrix products and shape operations.
Sample Shapes(int version) {
  Start s(version);
  TestFile& t = s.file;
  const uint64_t a = t.Tile(s.f32, {4, 8}), at = t.Tile(s.f32, {8, 4}), c = t.Tile(s.f32, {4, 4}),
                 half = t.Tile(s.f32, {2, 4});
  const uint64_t one = t.Constant(Bytes().U(0x3F800000, 4).data);
  Bytes body = Bytes().Vs({0x10, a, one});   // 1
  body.Vs({0x53, at}).Ints(4, {1, 0}).V(1);  // 2 = permute
  body.Vs({0x10, c, one}).Vs({0x49, c});     // 3, 4 = mmaf
  if (version >= 1303) body.V(0);
  body.Vs({1, 2, 3});
  body.Vs({0x26, 1, half, 3, 4, 0, 0});              // 5 = extract
  body.Vs({0x0C, c, 0, 5, 5});                       // 6 = cat
  body.Vs({0x2B, uint64_t(t.Tile(s.i32, {4, 4}))});  // 7 = ftoi
  if (version >= 1304) body.V(1);
  body.Vs({1, 6, 6});
  if (version >= 1304) body.Vs({0x76, 1, c, 4, 5, 6, 0, 0});  // 8 = insert
  t.Kernel("shapes", {s.i}, body.Return());
  return {"shapes", t.Encode()};
}

// The view types that came with 13.3, and the operations on tokens of 13.4.
Sample NewViews(int version) {
  Start s(version);
  TestFile& t = s.file;
  const uint64_t tensor = t.TensorView(s.f32, {64, 16}, {16, 1});
  const uint64_t strided = t.Type(Bytes().Vs({21, 1}).Ints(4, {4, 2}).Ints(4, {4, 3}).V(tensor).Ints(4, {0, 1}).V(0));
  const uint64_t gather = t.Type(Bytes().Vs({20, 1}).Ints(4, {4, 2}).Vs({tensor, 0, 3}));
  const uint64_t tile = t.Tile(s.f32, {4, 2}), rows = t.Tile(s.i32, {4});
  Bytes body = Bytes().Vs({0x43, 1, tensor, 0, 0, 0}).Vs({0x74, strided, 2}).Vs({0x73, gather, 2});  // 2, 3, 4
  body.Vs({0x3A, rows});                                                                             // 5
  body.Vs({0x3E, 2, tile, s.token, 0, 0});                                                           // 6, 7
  if (version >= 1304) body.Vs({2, 0, 0});
  body.Vs({4, 2, 5, 1});
  body.Vs({0x66, 1, s.token, 4, 0});  // 8
  if (version >= 1304) body.Vs({2, 1, 1});
  body.Vs({6, 3, 2, 1, 1, 7});
  if (version >= 1304) body.Vs({0x77, s.token, 0}).Vs({0x78, s.token, 1, 9}).Vs({0x7A, s.token, 10});
  t.Kernel("new_views", {s.pf, s.i}, body.Return());
  return {"new_views", t.Encode()};
}

}  // namespace

std::vector<Sample> Samples(int version) {
  std::vector<Sample> samples = {Arithmetic(version), Pointers(version),   Views(version),
                                 Control(version),    Reductions(version), Atomics(version),
                                 Constants(version),  Globals(version),    Shapes(version)};
  if (version >= 1303) samples.push_back(NewViews(version));
  return samples;
}

}  // namespace tile::ir::tileir
