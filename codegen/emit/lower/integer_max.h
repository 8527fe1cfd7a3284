// Greatest numbers of rows as greatest integers (codegen/plan/mma/integer_max.h).
#ifndef TILE_CODEGEN_EMIT_LOWER_INTEGER_MAX_H_
#define TILE_CODEGEN_EMIT_LOWER_INTEGER_MAX_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// `rows`: of each row what this thread has, f32. `exchanges`: the lanes that have the rest of the same rows, one bit each. `old`: a number for each
// row, which its maximum will be compared with, and which the result may be instead; or none. `as_floats` emits the maxima of the rows in the usual way.
Registers MaximaAsIntegers(Emitter& e, const std::vector<Registers>& rows, absl::Span<const uint32_t> exchanges,
                           const Registers& old, const std::function<Registers()>& as_floats);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_LOWER_INTEGER_MAX_H_
