#include "ir/forms/forms.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/foreign_file.h"
#include "ir/limits.h"
#include "ir/tbc/reader.h"
#include "ir/text/check.h"
#include "ir/text/parser.h"
#include "ir/tileir/reader.h"
#include "ir/ttir/reader.h"
#include "ir/verify/verify.h"

namespace tile::ir {
namespace {

absl::Status Refuse(const std::string& name, absl::string_view code, absl::string_view what, absl::string_view fix) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": error[", code, "]: ", what, "\n  fix: ", fix));
}

std::string Nouns(absl::string_view between, bool imported_only) {
  std::vector<absl::string_view> nouns;
  for (const Form& form : Forms()) {
    if (form.imported || !imported_only) nouns.push_back(form.noun);
  }
  return absl::StrJoin(nouns, between);
}

absl::Status NoProgram(const FileToRead& file, const ForeignFile* foreign) {
  const std::string fix = foreign == nullptr ? "" : foreign->ForKernel(file.name);
  return Refuse(file.name, "file.form",
                foreign != nullptr   ? absl::StrCat("not a kernel but ", foreign->what)
                : file.bytes.empty() ? "the file is empty"
                                     : absl::StrCat("not a kernel: neither ", Nouns(", nor ", false)),
                fix.empty() ? "pass what `tilevm as`, a frontend or `nvcc --tilebc` wrote" : fix);
}

absl::StatusOr<ProgramRead> Verified(ProgramRead program, const FileToRead& file, Diagnostics* diagnostics) {
  if (file.verify) Verify(*program.module, diagnostics);
  if (!diagnostics->ok()) return diagnostics->ToStatus();
  return program;
}

bool IsTbcForm(absl::Span<const uint8_t> bytes) { return LooksLikeTbc(bytes); }
absl::StatusOr<ProgramRead> ReadTbcForm(const FileToRead& file, Diagnostics* diagnostics) {
  absl::StatusOr<std::unique_ptr<Module>> module = ReadTbc(file.bytes, file.name);
  if (!module.ok()) return module.status();
  return Verified({.module = *std::move(module)}, file, diagnostics);
}

bool IsTileIrForm(absl::Span<const uint8_t> bytes) { return LooksLikeTileIr(bytes); }
absl::StatusOr<ProgramRead> ReadTileIrForm(const FileToRead& file, Diagnostics* diagnostics) {
  TileIrInfo info;
  absl::StatusOr<std::unique_ptr<Module>> module = ReadTileIr(file.bytes, file.name, &info);
  if (!module.ok()) {
    absl::string_view what = module.status().message();
    if (absl::StartsWith(what, absl::StrCat(file.name, ": "))) what.remove_prefix(file.name.size() + 2);
    return absl::InvalidArgumentError(absl::StrCat(file.name, ": error[tileir.read]: ", what));
  }
  return Verified({.module = *std::move(module), .version = info.version}, file, diagnostics);
}

bool IsTtirForm(absl::Span<const uint8_t> bytes) {
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return LooksLikeText(text) && LooksLikeTtir(text);
}
absl::StatusOr<ProgramRead> ReadTtirForm(const FileToRead& file, Diagnostics* diagnostics) {
  std::unique_ptr<Module> module = ReadTtir(file.text(), file.name, diagnostics);
  if (module == nullptr) return diagnostics->ToStatus();
  return Verified({.module = std::move(module)}, file, diagnostics);
}

bool IsTextForm(absl::Span<const uint8_t> bytes) {
  return !bytes.empty() && LooksLikeText({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}
absl::StatusOr<ProgramRead> ReadTextForm(const FileToRead& file, Diagnostics* diagnostics) {
  Diagnostics found;
  std::unique_ptr<Module> module =
      file.verify ? ParseAndVerify(file.text(), file.name, &found) : Parse(file.text(), file.name, &found);
  if (module == nullptr) {
    const ForeignFile* foreign = FindForeignKernel(file.bytes, file.name);
    if (foreign != nullptr) return NoProgram(file, foreign);
  }
  *diagnostics = std::move(found);
  if (module == nullptr) return diagnostics->ToStatus();
  return ProgramRead{.module = std::move(module)};
}

constexpr Form kForms[] = {
#define TILE_FORM(Name, name, title, noun, imported) \
  {FormKind::k##Name, name, title, noun, imported, Is##Name##Form, Read##Name##Form},
#include "ir/forms/forms.def"
};

}  // namespace

absl::Span<const Form> Forms() { return kForms; }

const Form* FormOf(absl::Span<const uint8_t> bytes) {
  for (const Form& form : kForms) {
    if (form.is(bytes)) return &form;
  }
  return nullptr;
}

std::string ImportedForms() { return Nouns(" or ", true); }

absl::StatusOr<ProgramRead> ReadProgram(absl::Span<const uint8_t> bytes, const std::string& name, bool verify,
                                        Diagnostics* diagnostics) {
  const FileToRead file = {bytes, name, verify};
  if (bytes.size() > kMaxFileBytes) {
    return Refuse(name, "file.read", absl::StrCat("the program has more than ", kMaxFileBytes, " bytes"), "split it");
  }
  const Form* form = FormOf(bytes);
  if (form == nullptr) return NoProgram(file, bytes.empty() ? nullptr : FindForeignKernel(bytes, name));
  absl::StatusOr<ProgramRead> program = form->read(file, diagnostics);
  if (!program.ok()) return program;
  program->form = form;
  if (program->module->source_name.empty()) program->module->source_name = name;
  return program;
}

}  // namespace tile::ir
