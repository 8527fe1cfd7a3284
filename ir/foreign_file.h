// What a file is that tilevm does not read, by its contents or, where they say nothing, by the extension of its name. Readers
// ask when they cannot read a file, so that a message names it and says what to pass instead.
//
//   if (const ForeignFile* f = FindForeignFile(bytes, "model.pt")) {
//     f->what;        // "a file of torch.save"
//     f->ForArray("model.pt")   // "write the tensor as an array: numpy.save('x.npy', torch.load('model.pt').numpy()) …"
//   }
//
// Looks at the first few thousand bytes. Pure and thread-safe.
#ifndef TILE_IR_FOREIGN_FILE_H_
#define TILE_IR_FOREIGN_FILE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tile::ir {

enum class ForeignKind : uint8_t {
#define TILE_FOREIGN_FILE(Name, ...) k##Name,
#include "ir/foreign_files.def"
};

struct ForeignFile {
  ForeignKind kind;
  const char* what;
  const char* as_kernel;  // may be empty
  const char* as_array;

  // What to do, with the name of the file put in; empty if there is nothing special to say.
  std::string ForKernel(absl::string_view name) const;
  std::string ForArray(absl::string_view name) const;
};

// Null if it is nothing that is known here; then perhaps a form that tilevm reads.
const ForeignFile* FindForeignFile(absl::Span<const uint8_t> bytes, absl::string_view name);
// The same for a file that is no kernel: null for text of which only the name says that it is text. Its errors are those of tile code.
const ForeignFile* FindForeignKernel(absl::Span<const uint8_t> bytes, absl::string_view name);

}  // namespace tile::ir

#endif  // TILE_IR_FOREIGN_FILE_H_
