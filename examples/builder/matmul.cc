// A tiled matrix product, built in C++ and stored as a file that any engine runs:
//
//   bazel run //examples/builder:matmul -- /tmp/matmul.tbc
//   tilevm run /tmp/matmul.tbc a.npy b.npy -o c.npy
//
// Each block of the grid computes one 64x64 tile of C = A * B and walks along K in steps of 32. Sizes need not be multiples
// of the tile: loads outside of a matrix give zero, stores outside are skipped.

#include <fstream>
#include <iostream>
#include <utility>

#include "ir/ops.h"
#include "ir/tbc/writer.h"
#include "ir/verify/verify.h"

namespace {

using namespace tile::ir;
namespace op = tile::ir::ops;

constexpr int kM = 64, kN = 64, kK = 32;  // of one tile

// A row-major matrix of rows x columns elements at `base`, cut into tiles.
Value* Tiles(Builder& b, Value* base, Value* rows, Value* columns, int tile_rows, int tile_columns) {
  const Element element = Element::Number(base->type().element().pointee);
  const Type matrix = b.types().TensorView(element, {kDynamic, kDynamic}, {kDynamic, 1});
  Value* tensor = op::MakeTensorView(b, matrix, base, {rows, columns}, {columns});
  return op::MakePartitionView(b, b.types().PartitionView({tile_rows, tile_columns}, matrix, {}, Padding::kZero),
                               tensor);
}

void BuildBody(Builder& b, Function* f) {
  Value *a = f->param(0), *bb = f->param(1), *c = f->param(2), *m = f->param(3), *n = f->param(4), *k = f->param(5);
  const Type i64 = b.types().Scalar(Elem::kI64);
  const auto block = op::GetTileBlockId(b);
  Value* row = op::Exti(b, i64, block[0], Signedness::kUnsigned);
  Value* column = op::Exti(b, i64, block[1], Signedness::kUnsigned);

  Value* a_tiles = Tiles(b, a, m, k, kM, kK);
  Value* b_tiles = Tiles(b, bb, k, n, kK, kN);
  Value* c_tiles = Tiles(b, c, m, n, kM, kN);

  Value* steps = op::GetIndexSpaceShape(b, a_tiles, Elem::kI64)[1];
  Value* zeros = op::Splat(b, b.types().Tile(Element::Number(Elem::kF32), {kM, kN}), 0);
  const op::Values sum = op::For(b, op::Integer(b, i64, 0), steps, op::Integer(b, i64, 1), {zeros},
                                 [&](Value* step, const op::Values& carried) -> op::Values {
                                   Value* x = op::LoadView(b, a_tiles, {row, step}).value;
                                   Value* y = op::LoadView(b, b_tiles, {step, column}).value;
                                   return {op::MmaF(b, x, y, carried[0])};
                                 });
  op::StoreView(b, sum[0], c_tiles, {row, column});
  op::Return(b);
}

// Who calls the kernel sees two matrices and gets a third; sizes that name the same parameter must be equal.
std::unique_ptr<Interface> CallingIt() {
  const auto matrix = [](const char* name, Direction direction, int pointer, int rows, int columns) {
    ArrayArg arg;
    arg.name = name;
    arg.direction = direction;
    arg.element = Element::Number(Elem::kF32);
    arg.pointer_param = pointer;
    arg.shape.resize(2);
    arg.shape[0].param = rows;
    arg.shape[1].param = columns;
    return arg;
  };
  auto interface = std::make_unique<Interface>();
  interface->arrays = {matrix("a", Direction::kIn, 0, 3, 5), matrix("b", Direction::kIn, 1, 5, 4),
                       matrix("c", Direction::kOut, 2, 3, 4)};
  // The output has the rows of a and the columns of b; the grid has a block for each of its tiles.
  const ExprNode rows{ExprOp::kShape, 0, 0}, columns{ExprOp::kShape, 1, 1};
  interface->arrays[2].shape[0].size = {rows};
  interface->arrays[2].shape[1].size = {columns};
  const auto tiles = [](ExprNode size, int tile) -> Expr {
    return {size, {ExprOp::kConst, 0, 0, tile}, {ExprOp::kCeilDiv}};
  };
  interface->grid = {tiles(rows, kM), tiles(columns, kN)};
  return interface;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: matmul FILE.tbc\n";
    return 2;
  }
  Module module;
  const Type pointer = module.types().Scalar(Element::Pointer(Elem::kF32)), i64 = module.types().Scalar(Elem::kI64);
  Function* f = module.AddFunction("matmul", {pointer, pointer, pointer, i64, i64, i64});
  Builder b(&module, f->body());
  BuildBody(b, f);
  f->interface = CallingIt();

  Diagnostics diagnostics;
  Verify(module, &diagnostics);
  if (!diagnostics.ok()) {
    std::cerr << diagnostics.ToString();
    return 1;
  }
  const absl::StatusOr<std::string> bytes = WriteTbc(module);
  if (!bytes.ok()) {
    std::cerr << bytes.status().message() << "\n";
    return 1;
  }
  std::ofstream out(argv[1], std::ios::binary);
  out << *bytes;
  out.close();
  if (!out) {
    std::cerr << argv[1] << ": error: cannot be written\n";
    return 5;
  }
  return 0;
}
