// What is wrong with a schedule (the table faults.def), at the operation where a run found it.
//
//   if (Fault f = barrier.Arrive(); f.found()) return f.At(op);
#ifndef TILE_CODEGEN_GPU_SCHEDULE_FAULT_H_
#define TILE_CODEGEN_GPU_SCHEDULE_FAULT_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace tile::codegen::schedule {

enum class FaultKind : uint8_t {
  kNone,
#define TILE_SCHEDULE_FAULT(Name, ...) k##Name,
#include "codegen/gpu/schedule/faults.def"
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  std::string what;            // "overwrites what mmaf of line 12 still reads"
  const ir::Op* op = nullptr;  // that does it

  bool found() const { return kind != FaultKind::kNone; }
  Fault At(const ir::Op& where) && {
    if (op == nullptr) op = &where;
    return std::move(*this);
  }
};

absl::string_view CodeOf(FaultKind kind);  // "schedule.overwritten"
// A complete message, with place, code and fix.
std::string ToString(const Fault& fault);
// "tma_load of line 12".
std::string NameOf(const ir::Op& op);

}  // namespace tile::codegen::schedule

#endif  // TILE_CODEGEN_GPU_SCHEDULE_FAULT_H_
