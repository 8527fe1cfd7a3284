// What lies in the shared memory of a block, without the data: for each range of bytes which copy wrote it last, whether all of that
// copy has landed, and who still reads it.
//
//   SharedCells memory;
//   memory.BeginWrite({0, 4096}, {.op = load, .name = 77});   // a copy begins
//   memory.Land({0, 4096}, 0);                                // it has landed
//   uint64_t name = 0;
//   memory.BeginRead({0, 4096}, {.op = product, .agent = 2}, &name);   // 77
//   memory.EndRead({0, 4096}, {.op = product, .agent = 2});
//
// A copy may have several parts, which several warps or blocks bring: the range is full when all have landed.
#ifndef TILE_CODEGEN_GPU_SCHEDULE_SHARED_CELLS_H_
#define TILE_CODEGEN_GPU_SCHEDULE_SHARED_CELLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "codegen/gpu/schedule/fault.h"
#include "ir/module.h"

namespace tile::codegen::schedule {

struct Span {
  int64_t begin = 0, bytes = 0;
  int64_t end() const { return begin + bytes; }
};

struct Write {
  const ir::Op* op = nullptr;
  uint64_t name = 0;        // of the tile (terms.h)
  int part = 0, parts = 1;  // which one of so many
  bool converts = false;    // a part counts once it has been converted where it is
  bool fences = false;      // and whoever did that has fenced it, because a product reads it as TMA would
};

struct Reader {
  const ir::Op* op = nullptr;
  int agent = 0;
  friend bool operator==(const Reader&, const Reader&) = default;
};

class SharedCells {
 public:
  SharedCells();

  Fault BeginWrite(Span span, const Write& write);
  void Land(Span span, int part);
  // Whoever copied the part converts it; it must have landed.
  Fault Convert(Span span, int part);
  // What was converted of the part is fenced.
  void FenceConverted(Span span, int part);
  // The name of the tile that lies there.
  Fault BeginRead(Span span, const Reader& reader, uint64_t* name);
  void EndRead(Span span, const Reader& reader);

 private:
  struct Cell {
    int64_t end = 0;
    Write write;
    int64_t begin_of_write = 0;
    uint32_t begun = 0, arrived = 0, converted = 0, landed = 0;  // parts; arrived: those that are to be converted, too
    std::vector<Reader> readers;
    bool full() const { return write.op != nullptr && landed == (uint64_t{1} << write.parts) - 1; }
  };

  // Of all cells in the span, which begin and end with it.
  Fault ForEach(Span span, const std::function<Fault(Cell&)>& visit);
  void Split(int64_t at);

  std::map<int64_t, Cell> cells_;  // by where they begin; they cover all of the memory
};

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_SHARED_CELLS_H_
