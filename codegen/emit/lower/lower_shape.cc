// Operations that move elements. reshape, permute and broadcast rename registers: the layouts were chosen so. so do cat and
// extract of parts in registers of their own (plan/parts_of_tile.h). Others, insert, pack and unpack go through shared memory, where the tile is
// stored row-major, an element in whole bytes; slices of small tiles, which each warp has, come by shuffles.
#include <algorithm>
#include <utility>

#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/context/emitter.h"
#include "codegen/emit/context/exchange_part.h"
#include "codegen/plan/parts_of_tile.h"
#include "codegen/plan/resources/shared_use.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

int64_t BytesOf(Emitter& e, ir::Type t) { return t.num_elements() * MemoryBytes(e.RegisterType(t.element())); }

// Writes what a part has of a tile; `place` gives the position, in elements, of a register's.
template <class Place>
void WriteTile(Emitter& e, const ir::Value* v, const ExchangePart& part, Place place) {
  auto& b = e.b();
  const Layout& layout = e.layout(v);
  const int bytes = MemoryBytes(e.RegisterType(v->type().element()));
  const Copies copies(layout);
  for (int r : copies.firsts()) {
    llvm::Value* at = b.CreateMul(place(r), e.I32(bytes));
    e.When(part.Has(at), [&] { StoreVector(e, {e.regs(v)[r]}, part.Place(at)); });
  }
}

void WriteRowMajor(Emitter& e, const ir::Value* v, const ExchangePart& part) {
  WriteTile(e, v, part, [&](int r) { return e.threads().Element(e.layout(v), r); });
}

// The element at a position, in elements.
llvm::Value* ReadElement(Emitter& e, llvm::Type* type, const ExchangePart& part, llvm::Value* position) {
  return LoadVector(e, type, 1, part.Place(e.b().CreateMul(position, e.I32(MemoryBytes(type)))))[0];
}

// Whether the part has it.
llvm::Value* HasElement(Emitter& e, llvm::Type* type, const ExchangePart& part, llvm::Value* position) {
  return part.Has(e.b().CreateMul(position, e.I32(MemoryBytes(type))));
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

namespace {

// Parts lie in registers of their own.
void RenameHalves(Emitter& e, const ir::Op& op, const RegisterParts& parts) {
  Registers out(static_cast<size_t>(e.layout(op.result(0)).registers()));
  for (int side = 0; side < 2; ++side) {
    std::vector<int64_t> which(op.result(0)->type().shape().size(), 0);
    which[static_cast<size_t>(ir::CatOp(op).dim())] = side;
    const Registers& half = e.regs(op.operand(side));
    for (size_t r = 0; r < half.size(); ++r)
      out[static_cast<size_t>(parts.RegisterOf(static_cast<int>(r), which))] = half[r];
  }
  e.Set(op.result(0), std::move(out));
}

void RenamePart(Emitter& e, const ir::Op& op, const RegisterParts& parts) {
  const std::vector<int64_t> which = *ExtractedPart(op);
  Registers out(static_cast<size_t>(parts.layout().registers()));
  for (size_t r = 0; r < out.size(); ++r)
    out[r] = e.regs(op.operand(0))[static_cast<size_t>(parts.RegisterOf(static_cast<int>(r), which))];
  e.Set(op.result(0), std::move(out));
}

}  // namespace

void LowerCat(Emitter& e, const ir::Op& op) {
  if (const auto parts = PartsOfTile(op)) return RenameHalves(e, op, *parts);
  const ir::Type type = op.result(0)->type();
  const int dim = static_cast<int>(ir::CatOp(op).dim());
  const int64_t half = op.operand(0)->type().shape()[dim];
  const Layout& layout = e.layout(op.result(0));
  llvm::Type* reg = e.RegisterType(type.element());
  Registers out(static_cast<size_t>(layout.registers()));
  ForEachPart(e, BytesOf(e, type), [&](const ExchangePart& part) {
    for (int side = 0; side < 2; ++side) {
      const ir::Value* v = op.operand(side);
      WriteTile(e, v, part, [&](int r) {
        std::vector<llvm::Value*> c;
        for (int d = 0; d < type.rank(); ++d) {
          llvm::Value* x = e.threads().Coordinate(e.layout(v), r, d);
          c.push_back(d == dim && side == 1 ? e.b().CreateAdd(x, e.I32(half)) : x);
        }
        return Position(e, type.shape(), c);
      });
    }
    e.Barrier();
    for (int r = 0; r < layout.registers(); ++r) {
      llvm::Value* at = e.threads().Element(layout, r);
      llvm::Value* here = HasElement(e, reg, part, at);
      part.Keep(here, ReadElement(e, reg, part, at), &out[r]);
    }
  });
  e.Set(op.result(0), std::move(out));
}

void LowerExtract(Emitter& e, const ir::Op& op) {
  if (const auto parts = PartsOfTile(op)) return RenamePart(e, op, *parts);
  const ir::ExtractOp extract(op);
  const ir::Value* source = extract.source();
  const ir::Type type = op.result(0)->type();
  const Layout& layout = e.layout(op.result(0));
  llvm::Type* reg = e.RegisterType(type.element());
  Registers out(static_cast<size_t>(layout.registers()));
  const auto take = [&](auto each) {
    const std::vector<llvm::Value*> begin = Begin(e, extract.indices(), type.shape());
    for (int r = 0; r < layout.registers(); ++r) {
      std::vector<llvm::Value*> c;
      for (int d = 0; d < type.rank(); ++d)
        c.push_back(e.b().CreateAdd(begin[d], e.threads().Coordinate(layout, r, d)));
      each(&out[r], Position(e, source->type().shape(), c));
    }
  };
  // Small tiles are in every warp: no warp has to wait for another.
  if (IsInEachWarp(e.layout(source))) {
    take([&](llvm::Value** to, llvm::Value* at) {
      *to = ShuffleFrom(e, e.regs(source)[0], LaneOf(e, e.layout(source), at));
    });
  } else {
    ForEachPart(e, BytesOf(e, source->type()), [&](const ExchangePart& part) {
      WriteRowMajor(e, source, part);
      e.Barrier();
      take([&](llvm::Value** to, llvm::Value* at) {
        llvm::Value* here = HasElement(e, reg, part, at);
        part.Keep(here, ReadElement(e, reg, part, at), to);
      });
    });
  }
  e.Set(op.result(0), std::move(out));
}

void LowerInsert(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::InsertOp insert(op);
  const ir::Value *source = insert.source(), *destination = insert.destination();
  const auto slice = source->type().shape();
  const Layout& layout = e.layout(op.result(0));
  llvm::Type* reg = e.RegisterType(source->type().element());
  Registers out = e.regs(destination);
  ForEachPart(e, BytesOf(e, source->type()), [&](const ExchangePart& part) {
    WriteRowMajor(e, source, part);
    e.Barrier();
    const std::vector<llvm::Value*> begin = Begin(e, insert.indices(), slice);
    for (int r = 0; r < layout.registers(); ++r) {
      llvm::Value* inside = b.getTrue();
      std::vector<llvm::Value*> c;
      for (size_t d = 0; d < slice.size(); ++d) {
        llvm::Value* x = b.CreateSub(e.threads().Coordinate(layout, r, static_cast<int>(d)), begin[d]);
        inside = b.CreateAnd(inside, b.CreateICmpULT(x, e.I32(slice[d])));
        c.push_back(b.CreateAnd(x, e.I32(slice[d] - 1)));  // some valid place if it is outside
      }
      llvm::Value* at = Position(e, slice, c);
      if (llvm::Value* here = HasElement(e, reg, part, at)) inside = b.CreateAnd(inside, here);
      out[r] = b.CreateSelect(inside, ReadElement(e, reg, part, at), out[r]);
    }
  });
  e.Set(op.result(0), std::move(out));
}

// --- pack and unpack: bytes as they lie in memory, narrow elements densely, the first in the lowest bits ---------------

void LowerPack(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::Value* source = op.operand(0);
  const int bits = ir::ElemInfoOf(source->type().elem()).bits;
  const Layout& layout = e.layout(op.result(0));
  Registers out(static_cast<size_t>(layout.registers()));
  ForEachPart(e, BytesOf(e, source->type()), [&](const ExchangePart& part) {
    WriteRowMajor(e, source, part);
    e.Barrier();
    for (int r = 0; r < layout.registers(); ++r) {
      llvm::Value* at = e.threads().Element(layout, r);
      if (bits >= 8) {
        llvm::Value* here = HasElement(e, b.getInt8Ty(), part, at);
        part.Keep(here, ReadElement(e, b.getInt8Ty(), part, at), &out[r]);
        continue;
      }
      llvm::Value* byte = b.getInt8(0);
      at = b.CreateMul(at, e.I32(8 / bits));
      llvm::Value* here = HasElement(e, b.getInt8Ty(), part, at);
      for (int i = 0; i < 8 / bits; ++i) {
        llvm::Value* x = ReadElement(e, b.getInt8Ty(), part, b.CreateAdd(at, e.I32(i)));
        byte = b.CreateOr(byte, b.CreateShl(x, i * bits));
      }
      part.Keep(here, byte, &out[r]);
    }
  });
  e.Set(op.result(0), std::move(out));
}

void LowerUnpack(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::Type type = op.result(0)->type();
  const int bits = ir::ElemInfoOf(type.elem()).bits;
  llvm::Type* reg = e.RegisterType(type.element());
  const Layout& layout = e.layout(op.result(0));
  Registers out(static_cast<size_t>(layout.registers()));
  ForEachPart(e, BytesOf(e, op.operand(0)->type()), [&](const ExchangePart& part) {
    WriteRowMajor(e, op.operand(0), part);
    e.Barrier();
    for (int r = 0; r < layout.registers(); ++r) {
      llvm::Value* at = e.threads().Element(layout, r);
      if (bits >= 8) {
        llvm::Value* here = HasElement(e, reg, part, at);
        llvm::Value* x = ReadElement(e, reg, part, at);
        if (type.elem() == ir::Elem::kTF32) x = e.FromBits(b.CreateAnd(e.ToBits(x), e.I32(0xFFFFE000)), reg);
        part.Keep(here, x, &out[r]);
        continue;
      }
      const int each = 8 / bits;
      llvm::Value* place = b.CreateUDiv(at, e.I32(each));
      llvm::Value* here = HasElement(e, b.getInt8Ty(), part, place);
      llvm::Value* byte = ReadElement(e, b.getInt8Ty(), part, place);
      llvm::Value* shift = b.CreateMul(b.CreateTrunc(b.CreateAnd(at, e.I32(each - 1)), b.getInt8Ty()), b.getInt8(bits));
      llvm::Value* x = b.CreateAnd(b.CreateLShr(byte, shift), b.getInt8((1 << bits) - 1));
      part.Keep(here, reg->isIntegerTy(1) ? b.CreateTrunc(x, reg) : x, &out[r]);
    }
  });
  e.Set(op.result(0), std::move(out));
}

}  // namespace tile::codegen
