// TMA descriptors that the kernel makes itself (plan/made_map.h), in front of the loop whose loads use them.
//
//   MakeTensorMaps(e, copy);        // behind a barrier; from then on e.TensorMap(load)
//
// Warp 0, which starts the copies, writes the fields of each descriptor in shared memory, has it copied to the block's workspace, as TMA reads
// descriptors in global memory, and tells TMA that it may have another one of that address (fence.proxy.tensormap). Beside it stands what it was made of: a
// loop that meets the same tensor again, as blocks that walk over the tiles of a matrix do, makes nothing. No copy that reads the
// descriptor before is on its way then: every warp awaits all that its loops begin.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_MADE_MAPS_H_
#define TILE_CODEGEN_EMIT_PIPELINE_MADE_MAPS_H_

#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

void MakeTensorMaps(Emitter& e, const ir::Op& copy);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_MADE_MAPS_H_
