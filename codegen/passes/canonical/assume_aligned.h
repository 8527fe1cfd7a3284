// Code for the common case: arrays begin at multiples of 16 bytes, and the sizes and strides that decide how wide an access may
// be are multiples of 16. Where that is assumed, the test at run time and the narrow alternative of each wide access are
// omitted, which also saves registers. The result is an image with requirements; another image covers the other launches.
//
//   AssumeAligned(&module, function);
//   std::vector<ir::ImageRequirement> needs = AlignmentRequirements(*function);
//   // {"parameter 0 is a multiple of 16 bytes", "parameter 3 is a multiple of 16"}; empty: nothing was assumed
//
// Pointer parameters under views and pointer tiles; integer parameters that strides, the size of the dimension of stride 1, and
// the pointers and masks of pointer accesses follow from, where their own values do not say enough already. The function gets
// `assume div_by<16>` operations at its front; everything after them relies on these.
#ifndef TILE_CODEGEN_PASSES_CANONICAL_ASSUME_ALIGNED_H_
#define TILE_CODEGEN_PASSES_CANONICAL_ASSUME_ALIGNED_H_

#include <vector>

#include "absl/status/status.h"
#include "codegen/passes/program.h"
#include "ir/module.h"
#include "ir/tbc/image.h"

namespace tile::codegen {

void AssumeAligned(ir::Module* module, ir::Function* function);
// The pass: where the program's options say so.
absl::Status AssumeAligned(Program& p);
// What a launch must keep for the code to be right: one for each parameter that something was assumed of.
std::vector<ir::ImageRequirement> AlignmentRequirements(const ir::Function& function);
// That an integer is one.
ir::ImageRequirement MultipleOf(int param, int64_t n);
// Whether it would assume anything.
bool DependsOnAlignment(const ir::Function& function);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_PASSES_CANONICAL_ASSUME_ALIGNED_H_
