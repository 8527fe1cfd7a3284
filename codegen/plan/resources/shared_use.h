// What a kernel needs of shared memory, from its layouts and from what is decided about it, before any machine code is made.
//
//   SharedAccount account = DecideParts(target, schedule, module, function);
//   if (absl::Status s = account.Check(*function); !s.ok()) …        // fewer stages, or another way
//   SharedAccount account = AccountOf(target, schedule, *function);  // of the last program: where each operation has its memory
//
// Before loops are written out as operations of the GPU level (passes/expand), what those will allocate is foreseen: both accounts
// of a program come to the same bytes (EmitLlvm compares). Pure functions, except DecideParts.
//
// Where a kernel does not fit, the kernel may be told how much its threads exchange at a time (Decision::kExchangeBytes, by the pass
// `memory`). Every exchange that is larger then goes through that memory in parts, one after the other, with barriers in between:
// products along K as long as instructions take that, all others by the high bits of elements' places (PartBytes).
#ifndef TILE_CODEGEN_PLAN_RESOURCES_SHARED_USE_H_
#define TILE_CODEGEN_PLAN_RESOURCES_SHARED_USE_H_

#include <cstdint>

#include "codegen/layout/layout.h"
#include "codegen/plan/schedule.h"
#include "codegen/plan/staging/shared_account.h"
#include "ir/module.h"

namespace tile::codegen {

// Of a program with layouts, in which all is decided.
SharedAccount AccountOf(const Target& target, const Schedule& schedule, const ir::Function& function);
// Decides what depends on the memory that is left: parts of products (Decision::kParts). Gives the account with them.
SharedAccount DecideParts(const Target& target, const Schedule& schedule, ir::Module* module, ir::Function* function);

// The most that an exchange takes at a time, as was decided; undecided: any size. Decided is no less than kLeastExchange.
inline constexpr uint64_t kLeastExchange = 1 << 10;
uint64_t MostExchange(const ir::Function& function);
// Of an exchange of so many bytes, a power of two: the bytes of a part, if it may take `most`.
uint64_t PartBytes(uint64_t total, uint64_t most);

// Bytes of an element in a register, and in scratch memory.
int RegisterBytes(ir::Element e);
// Scratch memory of a conversion; 0: it goes by shuffles, or by nothing. More than kMostConversion goes through in parts in any case, so
// that large tiles fit.
inline constexpr uint64_t kMostConversion = 64 << 10;
uint64_t ConversionBytes(const Layout& from, const Layout& to, int bytes, uint64_t most);
// Threads that hold copies of an element get it from the first one: by shuffles if each copy is a lane away, else through memory.
bool CopiesAreLanes(const Layout& layout);
// Each warp has the whole tile, a lane one element or a copy, so that a slice comes by shuffles.
bool IsInEachWarp(const Layout& layout);
// Of overlay_stages: where they begin in the memory of copies.
int64_t BeginInOverlay(const ir::Op& overlay_stages);
// Of alloc_shared. Whole words, because halves of bytes are stored by updates of words.
uint64_t SharedArrayBytes(ir::Type type);
// Fragments that go through memory of the product, or one of so many parts of them along K.
uint64_t FragmentBytes(const Layout& source, int bytes, int64_t parts = 1);
// Of both operands of a product that takes fragments; 0: none goes through memory. More than MostExchange that cannot come in parts along K
// comes to registers, by conversions of layouts.
uint64_t MmaExchangeBytes(const ir::Op& mma, int64_t parts = 1);

// Products by fma: operands are widened, and come in equal parts along K where memory does not hold them at once. A part has at
// least the K that the loop unrolls, unless it has to be smaller.
inline constexpr int64_t kFmaUnroll = 4;
int FmaBytes(ir::Elem e);
uint64_t FmaTableBytes(const ir::Value* operand, int64_t parts);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PLAN_RESOURCES_SHARED_USE_H_
