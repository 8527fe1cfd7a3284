// What kernels and globals are called in PTX and machine code. The format takes any name; PTX takes letters, digits, _
// and $, and keeps some names for itself.
//
//   KernelSymbol("vector_add")   "vector_add": an identifier of C is its own symbol
//   KernelSymbol("a.b")          "tile$a$2eb": other bytes are $ and two hexadecimal digits
//   KernelSymbol("1a")           "tile$1a"
//   GlobalSymbol("table")        "global$table"
//
// Different names have different symbols, today and in later releases. No identifier of C has a $. Everything else in
// the machine code (our own variables, CUDA's device library) has a $ or begins with __. Names that begin so are
// written as tile$__… PTX promises 1,024 characters of a name, so a longer symbol keeps its beginning and ends in $$
// and the SHA-256 of the name.
#ifndef TILE_CODEGEN_EMIT_CONTEXT_SYMBOL_H_
#define TILE_CODEGEN_EMIT_CONTEXT_SYMBOL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tile::codegen {

std::string KernelSymbol(absl::string_view name);
std::string GlobalSymbol(absl::string_view name);

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_EMIT_CONTEXT_SYMBOL_H_
