// What a program offers, as JSON, for programs in other languages: kernels, their raw parameters, the arguments of
// their interfaces, launch rules as expressions of the text form (docs/text.md), machine code.
//
//   {"form": "tbc", "version": "0.3", "producer": "…", "name": "…",
//    "kernels": [{"name": "scale", "parameters": [{"name": "x", "type": "tile<ptr<f32>>", "element": "f32", "pointer":
//    true}],
//                 "arrays": [{"name": "x", "direction": "in", "element": "f32", "parameter": 0, "shape": [{"parameter":
//                 1}]}], "scalars": [{"name": "f", "element": "f32", "parameter": 2, "default_bits": "1065353216"}],
//                 "workspaces": [], "grid": ["ceildiv(x.shape[0], 1024)"]}],
//    "images": [{"kernel": "scale", "arch": "sm_90a", "kind": "cubin", "bytes": 4960, "current": true}]}
//
// "parameters" of `arrays` and `scalars` count from 0. A dimension has "parameter", "constant" and "size" (an
// expression) as far as they apply. Without interface, "arrays" is null. Pure; never fails on a module.
#ifndef TILE_RUNTIME_FORMS_DESCRIBE_H_
#define TILE_RUNTIME_FORMS_DESCRIBE_H_

#include <string>

#include "absl/types/span.h"
#include "ir/forms/forms.h"

namespace tile::runtime {

// `bytes`: the file that the program was read from, for the version and images of a .tbc.
std::string DescribeModule(const ir::ProgramRead& program, absl::Span<const uint8_t> bytes);

}  // namespace tile::runtime

#endif  // TILE_RUNTIME_FORMS_DESCRIBE_H_
