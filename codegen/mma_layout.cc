#include "codegen/mma_layout.h"

namespace tile::codegen {

std::optional<Layout> MmaResultLayout(const Target&, const Plan&, const ir::Op&) { return std::nullopt; }

}  // namespace tile::codegen
