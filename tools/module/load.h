// A program from a file of any form (ir/forms/forms.h).
#ifndef TILE_TOOLS_MODULE_LOAD_H_
#define TILE_TOOLS_MODULE_LOAD_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/forms/forms.h"
#include "ir/module.h"
#include "tools/cli/options.h"
#include "tools/data/files.h"

namespace tile::tools {

struct LoadedModule {
  std::unique_ptr<ir::Module> module;
  const ir::Form* form = nullptr;
  int version = 0;     // of Tile IR bytecode, major * 100 + minor
  AlignedBuffer file;  // as it was read; the images of a .tbc are in it

  bool is_tbc() const { return form->kind == ir::FormKind::kTbc; }
  absl::Span<const uint8_t> bytes() const { return file.span(); }
};

struct LoadOptions {
  bool verify = true;
  bool warnings = true;  // print the verifier's warnings
};

// Reads and verifies; everything that is wrong is printed on stderr. Null after errors, with the exit code in *exit.
// "-" is stdin.
std::unique_ptr<LoadedModule> Load(const std::string& path, int* exit, const LoadOptions& options = {});

// What messages call a file of the command line: its name, or <stdin>.
std::string NameOf(const std::string& path);

// The kernel to work on: the one named, by symbol or as C++ calls it, or the only one. Null after an error on stderr, which begins with `file`.
const ir::Function* PickKernel(const ir::Module& module, const std::string& file, const std::string& name, int* exit);

}  // namespace tile::tools

#endif  // TILE_TOOLS_MODULE_LOAD_H_
