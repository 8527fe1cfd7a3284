// Which elements of a tensor the registers of a tile hold: addresses, tests against the
// tensor's sizes, and how many registers are neighbours in memory.
//
//   TileBox box = TileBox::OfView(e, op, layout);
//   box.At(r)               // address: one 64-bit addition per thread, then constants or constant · stride
//   box.Inside(r)           // i1; null: always
//   box.vector()            // registers r … r + vector() - 1 (r a multiple) may lie side by side,
//   box.Aligned()           // and do, at a multiple of their size, if this holds (i1, uniform; null: always)
//
// Coordinate k of the tensor is origin[k] + the tile's coordinate, or a picked one (gather, scatter).
#ifndef TILE_CODEGEN_EMIT_MEMORY_TILE_BOX_H_
#define TILE_CODEGEN_EMIT_MEMORY_TILE_BOX_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/analysis/facts.h"
#include "codegen/emit/context/convert.h"
#include "codegen/emit/context/ptx_access.h"

namespace tile::codegen {

// How many registers, from a multiple of that number on, hold neighbours along the dimension in every thread.
int NeighbouringRegisters(const Layout& layout, int dim);

// Emits `fn(vector)` for vector = `vector` where `aligned` holds (null: always), for vector = 1 elsewhere, and merges the
// registers that they give.
template <class Fn>
Registers InEitherWidth(Emitter& e, int vector, llvm::Value* aligned, Fn&& fn);

class TileBox {
 public:
  // Of an operation with `view`, `index` and perhaps `inbounds`, whose tile has this layout; or of the tile whose index number
  // `moved.index` is greater by `moved.by` (of its type).
  struct Moved {
    int index = -1;
    llvm::Value* by = nullptr;
  };
  static TileBox OfView(Emitter& e, const ir::Op& op, const Layout& layout) { return OfView(e, op, layout, {}); }
  static TileBox OfView(Emitter& e, const ir::Op& op, const Layout& layout, const Moved& moved);
  // Of an operation with `view` (a tensor), `indices`, `dim`, `check_bounds`.
  static TileBox OfScatter(Emitter& e, const ir::Op& op, const Layout& layout);

  bool shared() const { return shared_; }
  ir::Elem elem() const { return elem_; }

  Address At(int r);
  llvm::Value* Inside(int r);
  // 4-bit elements: address of the byte, and the element's place in it (i32: 0 or 4).
  Address ByteAt(int r, llvm::Value** shift);

  // What was computed so far may not be used where the program goes on now (in another branch).
  void Forget();

  // At most this many neighbours; a power of two.
  int vector() const { return vector_; }
  // Limits vector() to what one instruction moves, or less.
  void LimitVector(int most);
  llvm::Value* Aligned();
  // After these: how wide the accesses are, and why not wider, where `most` neighbours would fill an instruction.
  std::string Width(int most) const;

 private:
  struct Dim {
    int64_t tile = 1;               // its size of the tile
    llvm::Value* origin = nullptr;  // i64; null: 0
    uint64_t origin_divisor = Facts::kMax;
    llvm::Value* size = nullptr;  // i64, of the tensor
    uint64_t size_divisor = 1;
    llvm::Value* stride = nullptr;  // i64, elements
    uint64_t stride_divisor = 1;
    bool tested = true;
    Registers picked;            // i64 per register of the tile; empty: by coordinate
    bool picked_by_row = false;  // registers of one coordinate have one
    bool apart = false;          // bits of thread and register overlap: no sum of two parts
    std::map<uint32_t, llvm::Value*> tests, parts;
    llvm::Value* limit = nullptr;  // i32: coordinates of the tile below it are inside
    bool may_be_negative = false;  // the origin
    llvm::Value* first = nullptr;  // i32: coordinates from it on are inside; null: from 0 on
  };

  TileBox(Emitter& e, const ir::Value* tensor, const Layout& layout);
  Dim MakeDim(int64_t tile, int tensor_dim);
  void AddDim(Dim d, bool tested);
  void FindVector();
  bool Irrelevant(const Dim& d) const;
  int64_t VectorBytes() const { return vector_ * ir::MemoryBits(elem_) / 8; }
  llvm::Value* Test(size_t k, int r);
  uint32_t RegisterCoordinate(size_t k, int r) const;
  uint32_t Key(size_t k, int r) const;
  // A coordinate (any width) times the stride: bytes, or elements of 4 bits; of the address's width.
  llvm::Value* Along(const Dim& d, llvm::Value* coordinate);
  void MakeBase();
  std::pair<llvm::Value*, int64_t> Offset(int r);

  Emitter& e_;
  const Layout& layout_;
  Facts facts_;
  bool shared_ = false;
  ir::Elem elem_;
  int unit_ = 1;  // bytes of an element; 4-bit: 0
  llvm::Type* address_type_ = nullptr;
  llvm::Value* start_ = nullptr;  // address of the tensor
  uint64_t start_divisor_ = 1;
  const ir::Op* maker_ = nullptr;  // make_tensor_view or alloc_shared; null: unknown
  const ViewValue* tensor_ = nullptr;
  ir::Type tensor_type_;
  std::vector<Dim> dims_;
  llvm::Value* in_space_ = nullptr;  // i1: not a tile outside, of dimensions that are not tested; null: always
  llvm::Value* base_ = nullptr;      // of this thread, register part 0
  std::map<std::vector<llvm::Value*>, llvm::Value*> sums_;
  int vector_ = 1;
  int contiguous_ = -1;  // dimension
};

template <class Fn>
Registers InEitherWidth(Emitter& e, int vector, llvm::Value* aligned, Fn&& fn) {
  auto& b = e.b();
  if (const auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(aligned)) {
    if (known->isZero()) vector = 1;
    aligned = nullptr;
  }
  if (vector == 1 || aligned == nullptr) return fn(vector);
  llvm::BasicBlock *wide = e.NewBlock("wide"), *narrow = e.NewBlock("narrow"), *after = e.NewBlock("moved");
  b.CreateCondBr(aligned, wide, narrow);
  Registers values[2];
  llvm::BasicBlock* ends[2];
  for (int i = 0; i < 2; ++i) {
    b.SetInsertPoint(i == 0 ? wide : narrow);
    values[i] = fn(i == 0 ? vector : 1);
    ends[i] = b.GetInsertBlock();
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
  return Merged(e, values[0], ends[0], values[1], ends[1]);
}

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_MEMORY_TILE_BOX_H_
