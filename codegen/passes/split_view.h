// Parts of what an access by a partition view touches: the tile of the view becomes a part of what it was, and its index picks
// one. Internal to codegen/passes.
//
//   if (CanSplitAccess(*load, /*dim=*/0, /*parts=*/2)) SplitAccess(module, load, 0, 2, part);   // part: a scalar integer
#ifndef TILE_CODEGEN_PASSES_SPLIT_VIEW_H_
#define TILE_CODEGEN_PASSES_SPLIT_VIEW_H_

#include <utility>
#include <vector>

#include "ir/module.h"

namespace tile::codegen {

// New operations in front of another one.
class OpWriter {
 public:
  OpWriter(ir::Module* module, ir::Op* where) : module_(module), where_(where) {}

  ir::Type Scalar(ir::Elem e) const { return module_->types().Scalar(e); }
  // One operand for each field of the format, as far as they go.
  ir::Value* Make(ir::Opcode code, std::vector<ir::Value*> operands, ir::Type result,
                  std::vector<std::pair<absl::string_view, ir::Attr>> attrs = {});
  ir::Value* Number(int64_t n, ir::Type type);
  // As an integer of another width.
  ir::Value* Resized(ir::Value* v, ir::Elem to, ir::Signedness sign);

 private:
  ir::Module* module_;
  ir::Op* where_;
};

// True for an access by a partition view whose indices do not overflow. Elements of a part that begins beyond the
// tensor's end, where the whole tile sticks out, must be tested one by one. Code generation must not take such a part
// as inside because the whole tile's index is inside the index space (emit/memory/tile_box.cc: where sizes are
// multiples of the tile's).
bool CanSplitAccess(const ir::Op& access, int dim, int64_t parts);
// The type of a load's tile changes, too.
void SplitAccess(ir::Module* module, ir::Op* access, int dim, int64_t parts, ir::Value* part);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_SPLIT_VIEW_H_
