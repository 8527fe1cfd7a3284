// tt.map_elementwise: a function of scalars, for each element or for `pack` neighbours at a time.
//
//   %r = "tt.map_elementwise"(%x, %y) <{pack = 1 : i32}> ({
//   ^bb0(%a: f32, %b: f32):
//     %s = arith.addf %a, %b : f32
//     tt.map_elementwise.return %s : f32
//   }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
//
// A function without branches and loops is computed for all elements at once, as its operations stand; one that decides by
// its element runs in a loop over them.

#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {

// Whether tiles may stand for the scalars.
bool IsStraight(const NodeRegion& region) {
  if (region.blocks.size() != 1) return false;
  for (const Node& n : region.blocks[0].ops) {
    if (!n.regions.empty() || n.name == "tt.call") return false;
  }
  return true;
}

}  // namespace

bool Translator::MapElements(const Node& n, const OpRow&) {
  const int64_t pack = n.number("pack", 1);
  const size_t groups = in_.size(), results = n.outputs.size();
  const std::vector<Val> operands = in_;
  if (n.regions.size() != 1 || groups == 0 || results == 0 || pack < 1 ||
      n.regions[0].blocks[0].args.size() != groups * static_cast<size_t>(pack)) {
    return Fail(n, "ttir.syntax", "needs a region with `pack` arguments for each operand");
  }
  Mapping m = {&n, pack, 0, {}, {}};
  for (const Val& v : operands) {
    if (!v.is_tile() || v.type.tile.is_scalar() || v.type.tile.element().is_pointer() ||
        v.type.tile.shape() != operands[0].type.tile.shape() || v.type.tile.num_elements() % pack != 0) {
      return WrongType(n, "maps tensors of numbers of one shape");
    }
    m.count = v.type.tile.num_elements() / pack;
    m.flat.push_back(Reshape(v.tile(), {m.count, pack}));
  }
  for (const TtType& t : n.outputs) {
    if (t.kind != TtType::Kind::kTile || t.tile.element().is_pointer() ||
        t.tile.shape() != operands[0].type.tile.shape()) {
      return WrongType(n, "gives tensors of numbers of its operands' shape");
    }
    m.types.insert(m.types.end(), static_cast<size_t>(pack),
                   {TtType::Kind::kTile, b_.types().Scalar(t.tile.element())});
  }
  if (EffectOf(n.regions[0]) != kNone) return Unsupported(n, "accesses memory in its function", "do it outside");
  std::vector<Value*> columns;
  if (!(IsStraight(n.regions[0]) ? MapAll(m, &columns) : MapOneByOne(m, &columns))) return false;
  std::vector<Val> out;
  for (size_t r = 0; r < results; ++r) out.push_back(TileVal(Reshape(columns[r], n.outputs[r].tile.shape())));
  return Define(n, std::move(out));
}

// The scalars of the region, as values of exit `m.types`.
bool Translator::MapRegion(const Mapping& m, const std::vector<Value*>& args, std::vector<Val>* out) {
  const NodeRegion& region = m.node->regions[0];
  Exit exit = {"tt.map_elementwise.return", m.types, kNone, {}};
  Exit* const outer = std::exchange(exit_, &exit);
  Blocks blocks = std::move(blocks_);
  const size_t mark = OpenScope();
  for (size_t i = 0; i < args.size(); ++i) Bind(region.blocks[0].args[i].name, {TileVal(args[i])});
  SetBlocks(region);
  if (!TranslateCfg(&region.blocks[0], 0)) return false;
  CloseScope(mark);
  blocks_ = std::move(blocks);
  exit_ = outer;
  b_.set_loc(LocOf(*m.node));
  *out = std::move(exit.values);
  return true;
}

// Columns side by side: pairs, then pairs of pairs.
Value* Translator::Interleave(std::vector<Value*> parts) {
  while (parts.size() > 1) {
    std::vector<Value*> wider;
    for (size_t k = 0; k + 1 < parts.size(); k += 2) wider.push_back(ops::Cat(b_, parts[k], parts[k + 1], 1));
    parts = std::move(wider);
  }
  return parts[0];
}

// Tiles of the first, second, … element of all groups stand for the arguments.
bool Translator::MapAll(Mapping& m, std::vector<Value*>* columns) {
  const std::vector<int64_t> shape = {m.count};
  const Type i32 = b_.types().Scalar(Elem::kI32);
  std::vector<Value*> args;
  for (Value* flat : m.flat) {
    for (int64_t k = 0; k < m.pack; ++k) {
      Value* column = m.pack == 1 ? flat
                                  : ops::Extract(b_, WithShape(flat, {m.count, 1}), flat,
                                                 {ops::Integer(b_, i32, 0), ops::Integer(b_, i32, k)});
      args.push_back(Reshape(column, shape));
    }
  }
  for (TtType& t : m.types) t.tile = b_.types().Tile(t.tile.element(), shape);
  std::vector<Val> values;
  lift_ = &shape;
  const bool good = MapRegion(m, args, &values);
  lift_ = nullptr;
  for (size_t r = 0; good && r < values.size(); r += static_cast<size_t>(m.pack)) {
    std::vector<Value*> parts;
    for (int64_t k = 0; k < m.pack; ++k)
      parts.push_back(Reshape(values[r + static_cast<size_t>(k)].tile(), {m.count, 1}));
    columns->push_back(Interleave(std::move(parts)));
  }
  return good;
}

bool Translator::MapOneByOne(Mapping& m, std::vector<Value*>* columns) {
  const Type i32 = b_.types().Scalar(Elem::kI32);
  ops::Values init;
  for (size_t r = 0; r < m.types.size(); r += static_cast<size_t>(m.pack)) {
    init.push_back(ops::Integer(b_, b_.types().Tile(m.types[r].tile.element(), {m.count, m.pack}), 0));
  }
  bool good = true;
  *columns = ops::For(
      b_, ops::Integer(b_, i32, 0), ops::Integer(b_, i32, m.count), ops::Integer(b_, i32, 1), init,
      [&](Value* i, const ops::Values& carried) -> ops::Values {
        std::vector<Value*> args;
        const auto at = [&](int64_t k) -> ops::Values { return {i, ops::Integer(b_, i32, k)}; };
        for (Value* flat : m.flat) {
          for (int64_t k = 0; k < m.pack; ++k) {
            args.push_back(Reshape(ops::Extract(b_, WithShape(flat, {1, 1}), flat, at(k)), {}));
          }
        }
        std::vector<Val> values;
        good = MapRegion(m, args, &values);
        ops::Values next = carried;
        for (size_t k = 0; good && k < values.size(); ++k) {
          Value*& into = next[k / static_cast<size_t>(m.pack)];
          into = ops::Insert(b_, Reshape(values[k].tile(), {1, 1}), into, at(static_cast<int64_t>(k) % m.pack));
        }
        return next;
      });
  return good;
}

}  // namespace tile::ir::ttir
