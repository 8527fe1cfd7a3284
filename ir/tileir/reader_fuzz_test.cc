// Any bytes give a module or a status.

#include <cstddef>
#include <cstdint>

#include "ir/tileir/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto m = tile::ir::ReadTileIr({data, size}, "fuzz");
  if (m.ok()) {
    for (const auto& f : (*m)->functions) {
      tile::ir::Walk(f->body(), [&](tile::ir::Op* op) { (*m)->Where(op->loc, op->pos); });
    }
  }
  return 0;
}
