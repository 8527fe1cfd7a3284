// Device images for people and for other programs.
//
//   ImageText(image)             // "sm_90a cubin, 128 threads, 40 registers, 98304 bytes of shared memory, 21480 bytes"
//   ImageJson(image, kernel)     // {"kernel":"matmul","arch":"sm_90a","kind":"cubin","symbol":"matmul","threads":128,
//                                //  "registers":40,"shared_bytes":98304,"cluster":[1,1,1],"requires":["…"],"descriptors":0,
//                                //  "workspaces":0,"bytes":21480,"driver":12080}
//
// threads null: the code says; registers null: not known (PTX). shared_bytes is all that a block takes, as far as it is
// known. driver: the oldest CUDA version whose driver loads it, 12080 for 12.8, 0 for any. Pure.
#ifndef TILE_TOOLS_MODULE_IMAGE_TEXT_H_
#define TILE_TOOLS_MODULE_IMAGE_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "ir/tbc/image.h"

namespace tile::tools {

std::string ImageText(const ir::Image& image);

// What an image requires, in the words of the kernel's interface: "x.shape[1] is a multiple of 16" for "parameter 3 is a multiple of 16".
std::string RequirementText(const ir::ImageRequirement& requirement, const ir::Function& kernel);

// `more`: members to add, such as `,"spill_bytes":0`.
std::string ImageJson(const ir::Image& image, const ir::Function& kernel, absl::string_view more = "");

}  // namespace tile::tools

#endif  // TILE_TOOLS_MODULE_IMAGE_TEXT_H_
