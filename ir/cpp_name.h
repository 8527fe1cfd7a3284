// What C++ calls a kernel. A frontend for C++ names a kernel by its symbol, mangled as the Itanium C++ ABI says; people
// write and want to read what stands in the source.
//
//   CppName("_Z3addPKfPfi")                 // "add(float const*, float*, int)"
//   CppName("_Z5scaleIfLi64EEvPT_")         // "scale<float, 64>(float*)": void, as of every kernel, is left out
//   ReadableName("_Z3addPKfPfi")            // "add"; of a name that is not mangled, the name itself
//   CppParameters("_Z3addPKfPfi")           // {"float const*", "float*", "int"}
//   FindKernels(module, "scale<float,64>")  // kernels that may be called so
//
// Pure and thread-safe. A symbol that claims to be mangled and is not, or whose C++ name might be very long (a few
// references to what stands before can double it again and again), is a name like any.
#ifndef TILE_IR_CPP_NAME_H_
#define TILE_IR_CPP_NAME_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace tile::ir {

// Of a symbol: its length; references (`S0_`, `T_`) in all, and those that may stand within what others refer to.
constexpr size_t kMaxMangled = 1024, kMaxReferences = 40, kMaxNestedReferences = 12;

// Empty if the symbol is not the mangled name of a function.
std::string CppName(absl::string_view symbol);

// Namespaces and template arguments, without parameters.
std::string ReadableName(absl::string_view symbol);

// What the kernel may be called, from the whole name to the shortest: without parameters, template arguments, namespaces, and
// without both. None if the symbol is not mangled.
std::vector<std::string> CppNames(absl::string_view symbol);

// Types of the parameters; none if the symbol is not mangled.
std::vector<std::string> CppParameters(absl::string_view symbol);

// `float const*`, not `float*` or `float const**`.
bool IsPointerToConst(absl::string_view cpp_type);

// The kernel of that symbol; else those one of whose CppNames is the given one, whatever the spaces: a longer one wins. More than
// one: the name is not enough to tell them apart.
std::vector<const Function*> FindKernels(const Module& module, absl::string_view name);

// Symbols of all kernels, a C++ name before its symbol: "add(float*) [_Z3addPf], other". For messages.
std::string ListKernels(const Module& module);

}  // namespace tile::ir

#endif  // TILE_IR_CPP_NAME_H_
