// Products that run while the warp goes on: their registers belong to the hardware until they are waited for.
#ifndef TILE_CODEGEN_EMIT_PIPELINE_ASYNC_PRODUCTS_H_
#define TILE_CODEGEN_EMIT_PIPELINE_ASYNC_PRODUCTS_H_

#include "absl/strings/string_view.h"
#include "codegen/emit/context/emitter.h"

namespace tile::codegen {

// PTX with effects that all lanes execute together, and through which these values go: nothing that makes them comes after
// it, nothing that uses them before. `read`: words of 32 bits whose registers it reads, too.
Registers Through(Emitter& e, absl::string_view text, Registers values, const Registers& read = {});
// The same values in registers of their own. What a wait gives is in the registers of the product that it waits for: handed on by a branch
// (HandsOnElsewhere), LLVM would copy those in front of the wait, where they are not valid yet.
Registers InRegistersOfTheirOwn(Emitter& e, Registers sums);
// Waits until at most `pending` groups of products run; the registers are valid in what it returns. `words`: of left operands of these products.
// LLVM sees no reader of them behind the product's begin, and would give their registers to the words of the next one.
Registers WaitForProducts(Emitter& e, int pending, Registers acc, const Registers& words = {});

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_PIPELINE_ASYNC_PRODUCTS_H_
