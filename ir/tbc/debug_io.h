// The debug section, both ways: debug records and the locations of ops, kernels and globals. Internal to ir/tbc.
#ifndef TILE_IR_TBC_DEBUG_IO_H_
#define TILE_IR_TBC_DEBUG_IO_H_

#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "ir/tbc/read_context.h"
#include "ir/tbc/schema.h"

namespace tile::ir {

// Records refer to records that exist, never in a circle. `ops`: all of the module in the order of the file.
bool ReadDebug(const fbs::Debug& from, const std::vector<Op*>& ops, Module* module, ReadContext* context);

// 0 if there is nothing to write.
absl::StatusOr<flatbuffers::Offset<fbs::Debug>> WriteDebug(const Module& module, const std::vector<const Op*>& ops,
                                                           flatbuffers::FlatBufferBuilder* fbb);

}  // namespace tile::ir

#endif  // TILE_IR_TBC_DEBUG_IO_H_
