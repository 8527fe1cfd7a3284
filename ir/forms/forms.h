// A program from a file of any form: .tbc, Tile IR bytecode, Triton's TTIR, tile text, told apart by content (forms.def).
//
//   Diagnostics diagnostics;
//   absl::StatusOr<ProgramRead> program = ReadProgram(bytes, "softmax.ttir", /*verify=*/true, &diagnostics);
//   if (!program.ok()) return program.status();    // "softmax.py:12:22: error[ttir.unsupported]: …\n  fix: …"
//   program->module, program->form->name;          // "ttir"
//
// Any bytes are safe. Pure and thread-safe.
#ifndef TILE_IR_FORMS_FORMS_H_
#define TILE_IR_FORMS_FORMS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/diagnostic.h"
#include "ir/module.h"

namespace tile::ir {

enum class FormKind : uint8_t {
#define TILE_FORM(Name, ...) k##Name,
#include "ir/forms/forms.def"
};

struct Form;

struct ProgramRead {
  std::unique_ptr<Module> module;
  const Form* form = nullptr;
  int version = 0;  // of Tile IR bytecode, major * 100 + minor
};

struct FileToRead {
  absl::Span<const uint8_t> bytes;
  std::string name;  // for messages
  bool verify = true;

  absl::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

struct Form {
  FormKind kind;
  const char* name;   // "tileir"
  const char* title;  // "Tile IR bytecode"
  const char* noun;   // in sentences
  bool imported;      // from another system
  // Whether the bytes begin as this form does. True for damaged files, too.
  bool (*is)(absl::Span<const uint8_t> bytes);
  // ReadProgram for this form.
  absl::StatusOr<ProgramRead> (*read)(const FileToRead& file, Diagnostics* diagnostics);
};

// The rows, in their order.
absl::Span<const Form> Forms();
// Null if the bytes have no form.
const Form* FormOf(absl::Span<const uint8_t> bytes);
// "Tile IR bytecode or TTIR": nouns of the forms that `tilevm import` takes.
std::string ImportedForms();

// Reads and, if `verify`, verifies. The status has all errors, each with code and place; so has `diagnostics`, where errors are of places
// in the program, with the warnings. Codes other than those of readers and verifier: file.form (no program, with what it is instead if that is known), file.read (too
// large).
absl::StatusOr<ProgramRead> ReadProgram(absl::Span<const uint8_t> bytes, const std::string& name, bool verify,
                                        Diagnostics* diagnostics);

}  // namespace tile::ir

#endif  // TILE_IR_FORMS_FORMS_H_
