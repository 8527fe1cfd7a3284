// Operations that move elements. reshape, permute and broadcast rename registers: the layouts were chosen so. cat, extract,
// insert, pack and unpack go through shared memory, where the tile is stored row-major, an element in whole bytes; slices of small tiles, which
// each warp has, come by shuffles.
#include <algorithm>
#include <utility>

#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/plan/resources/shared_use.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

int64_t BytesOf(Emitter& e, ir::Type t) { return t.num_elements() * MemoryBytes(e.RegisterType(t.element())); }

// Writes a tile to `base`; `place` maps an element (i32) to its position in elements.
template <class Place>
void WriteTile(Emitter& e, const ir::Value* v, llvm::Value* base, Place place) {
  auto& b = e.b();
  const Layout& layout = e.layout(v);
  const int bytes = MemoryBytes(e.RegisterType(v->type().element()));
  const Copies copies(layout);
  for (int r : copies.firsts()) {
    llvm::Value* at = b.CreateMul(place(r), e.I32(bytes));
    StoreVector(e, {e.regs(v)[r]}, b.CreateGEP(b.getInt8Ty(), base, at));
  }
}

void WriteRowMajor(Emitter& e, const ir::Value* v, llvm::Value* base) {
  WriteTile(e, v, base, [&](int r) { return e.threads().Element(e.layout(v), r); });
}

// The register's element from its position in elements.
llvm::Value* ReadElement(Emitter& e, llvm::Type* type, llvm::Value* base, llvm::Value* position) {
  auto& b = e.b();
  return LoadVector(e, type, 1, b.CreateGEP(b.getInt8Ty(), base, b.CreateMul(position, e.I32(MemoryBytes(type)))))[0];
}

// Row-major position of a coordinate in a shape.
llvm::Value* Position(Emitter& e, absl::Span<const int64_t> shape, absl::Span<llvm::Value* const> coordinate) {
  llvm::Value* at = e.I32(0);
  for (size_t d = 0; d < shape.size(); ++d) {
    at = e.b().CreateAdd(e.b().CreateMul(at, e.I32(shape[d])), coordinate[d]);
  }
  return at;
}

// The lane with the element at a row-major position, in a layout that IsInEachWarp.
llvm::Value* LaneOf(Emitter& e, const Layout& layout, llvm::Value* position) {
  auto& b = e.b();
  llvm::Value* lane = e.I32(0);
  const Masks& lanes = layout.bases(In::kLane);
  for (size_t bit = 0; bit < lanes.size(); ++bit) {
    if (lanes[bit] == 0) continue;
    llvm::Value* is = b.CreateAnd(b.CreateLShr(position, e.I32(__builtin_ctzll(lanes[bit]))), e.I32(1));
    lane = b.CreateOr(lane, b.CreateShl(is, e.I32(static_cast<int>(bit))));
  }
  return lane;
}

// Where slice number `indices` of a shape begins, along each dimension.
std::vector<llvm::Value*> Begin(Emitter& e, ir::OperandRange indices, absl::Span<const int64_t> slice) {
  std::vector<llvm::Value*> out;
  for (size_t d = 0; d < slice.size(); ++d) out.push_back(e.b().CreateMul(e.scalar(indices[d]), e.I32(slice[d])));
  return out;
}

}  // namespace

void LowerReshape(Emitter& e, const ir::Op& op) {
  Registers r = e.regs(op.operand(0));
  // A scalar has one register; the tile that it becomes may have copies in several.
  if (op.operand(0)->type().rank() == 0) r.resize(static_cast<size_t>(e.layout(op.result(0)).registers()), r[0]);
  e.Set(op.result(0), std::move(r));
}
void LowerPermute(Emitter& e, const ir::Op& op) { e.Set(op.result(0), e.regs(op.operand(0))); }

void LowerBroadcast(Emitter& e, const ir::Op& op) {
  // A register of the result has, in a register with the same bits but those along grown dimensions, its element.
  Layout source = e.layout(op.result(0));
  const auto shape = op.operand(0)->type().shape();
  for (int d = 0; d < source.rank(); ++d) {
    if (shape[d] == 1) source = source.Collapse(d);
  }
  const Mask repeats = source.FreeMask(In::kRegister);
  Registers out;
  for (int r = 0; r < source.registers(); ++r) {
    int from = 0, bit = 0;
    for (int i = 0; i < source.bits(In::kRegister); ++i) {
      if ((repeats >> i & 1) == 0) from |= (r >> i & 1) << bit++;
    }
    out.push_back(e.regs(op.operand(0))[from]);
  }
  e.Set(op.result(0), std::move(out));
}

void LowerCat(Emitter& e, const ir::Op& op) {
  const ir::Type type = op.result(0)->type();
  const int dim = static_cast<int>(ir::CatOp(op).dim());
  const int64_t half = op.operand(0)->type().shape()[dim];
  llvm::Value* base = e.Scratch(BytesOf(e, type));
  for (int side = 0; side < 2; ++side) {
    const ir::Value* v = op.operand(side);
    WriteTile(e, v, base, [&](int r) {
      std::vector<llvm::Value*> c;
      for (int d = 0; d < type.rank(); ++d) {
        llvm::Value* x = e.threads().Coordinate(e.layout(v), r, d);
        c.push_back(d == dim && side == 1 ? e.b().CreateAdd(x, e.I32(half)) : x);
      }
      return Position(e, type.shape(), c);
    });
  }
  e.Barrier();
  Registers out;
  const Layout& layout = e.layout(op.result(0));
  for (int r = 0; r < layout.registers(); ++r) {
    out.push_back(ReadElement(e, e.RegisterType(type.element()), base, e.threads().Element(layout, r)));
  }
  e.Set(op.result(0), std::move(out));
}

void LowerExtract(Emitter& e, const ir::Op& op) {
  const ir::ExtractOp extract(op);
  const ir::Value* source = extract.source();
  const ir::Type type = op.result(0)->type();
  // Small tiles are in every warp: no warp has to wait for another.
  const bool by_shuffles = IsInEachWarp(e.layout(source));
  llvm::Value* base = nullptr;
  if (!by_shuffles) {
    base = e.Scratch(BytesOf(e, source->type()));
    WriteRowMajor(e, source, base);
    e.Barrier();
  }
  const std::vector<llvm::Value*> begin = Begin(e, extract.indices(), type.shape());
  const Layout& layout = e.layout(op.result(0));
  Registers out;
  for (int r = 0; r < layout.registers(); ++r) {
    std::vector<llvm::Value*> c;
    for (int d = 0; d < type.rank(); ++d) c.push_back(e.b().CreateAdd(begin[d], e.threads().Coordinate(layout, r, d)));
    llvm::Value* at = Position(e, source->type().shape(), c);
    out.push_back(by_shuffles ? ShuffleFrom(e, e.regs(source)[0], LaneOf(e, e.layout(source), at))
                              : ReadElement(e, e.RegisterType(type.element()), base, at));
  }
  e.Set(op.result(0), std::move(out));
}

void LowerInsert(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::InsertOp insert(op);
  const ir::Value *source = insert.source(), *destination = insert.destination();
  const auto slice = source->type().shape();
  llvm::Value* base = e.Scratch(BytesOf(e, source->type()));
  WriteRowMajor(e, source, base);
  e.Barrier();
  const std::vector<llvm::Value*> begin = Begin(e, insert.indices(), slice);
  const Layout& layout = e.layout(op.result(0));
  Registers out;
  for (int r = 0; r < layout.registers(); ++r) {
    llvm::Value* inside = b.getTrue();
    std::vector<llvm::Value*> c;
    for (size_t d = 0; d < slice.size(); ++d) {
      llvm::Value* x = b.CreateSub(e.threads().Coordinate(layout, r, static_cast<int>(d)), begin[d]);
      inside = b.CreateAnd(inside, b.CreateICmpULT(x, e.I32(slice[d])));
      c.push_back(b.CreateAnd(x, e.I32(slice[d] - 1)));  // some valid place if it is outside
    }
    llvm::Value* x = ReadElement(e, e.RegisterType(source->type().element()), base, Position(e, slice, c));
    out.push_back(b.CreateSelect(inside, x, e.regs(destination)[r]));
  }
  e.Set(op.result(0), std::move(out));
}

// --- pack and unpack: bytes as they lie in memory, narrow elements densely, the first in the lowest bits ---------------

void LowerPack(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::Value* source = op.operand(0);
  const int bits = ir::ElemInfoOf(source->type().elem()).bits;
  llvm::Value* base = e.Scratch(BytesOf(e, source->type()));
  WriteRowMajor(e, source, base);
  e.Barrier();
  const Layout& layout = e.layout(op.result(0));
  Registers out;
  for (int r = 0; r < layout.registers(); ++r) {
    llvm::Value* at = e.threads().Element(layout, r);
    if (bits >= 8) {
      out.push_back(ReadElement(e, b.getInt8Ty(), base, at));
      continue;
    }
    llvm::Value* byte = b.getInt8(0);
    for (int i = 0; i < 8 / bits; ++i) {
      llvm::Value* x = ReadElement(e, b.getInt8Ty(), base, b.CreateAdd(b.CreateMul(at, e.I32(8 / bits)), e.I32(i)));
      byte = b.CreateOr(byte, b.CreateShl(x, i * bits));
    }
    out.push_back(byte);
  }
  e.Set(op.result(0), std::move(out));
}

void LowerUnpack(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::Type type = op.result(0)->type();
  const int bits = ir::ElemInfoOf(type.elem()).bits;
  llvm::Value* base = e.Scratch(BytesOf(e, op.operand(0)->type()));
  WriteRowMajor(e, op.operand(0), base);
  e.Barrier();
  llvm::Type* reg = e.RegisterType(type.element());
  const Layout& layout = e.layout(op.result(0));
  Registers out;
  for (int r = 0; r < layout.registers(); ++r) {
    llvm::Value* at = e.threads().Element(layout, r);
    if (bits >= 8) {
      llvm::Value* x = ReadElement(e, reg, base, at);
      if (type.elem() == ir::Elem::kTF32) x = e.FromBits(b.CreateAnd(e.ToBits(x), e.I32(0xFFFFE000)), reg);
      out.push_back(x);
      continue;
    }
    const int each = 8 / bits;
    llvm::Value* byte = ReadElement(e, b.getInt8Ty(), base, b.CreateUDiv(at, e.I32(each)));
    llvm::Value* shift = b.CreateMul(b.CreateTrunc(b.CreateAnd(at, e.I32(each - 1)), b.getInt8Ty()), b.getInt8(bits));
    llvm::Value* x = b.CreateAnd(b.CreateLShr(byte, shift), b.getInt8((1 << bits) - 1));
    out.push_back(reg->isIntegerTy(1) ? b.CreateTrunc(x, reg) : x);
  }
  e.Set(op.result(0), std::move(out));
}

}  // namespace tile::codegen
