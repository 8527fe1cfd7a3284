// Programs from one form to another: tilevm_forms.h.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ir/debug_lines.h"
#include "ir/diagnostic.h"
#include "ir/foreign_file.h"
#include "ir/limits.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/text/check.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/tileir/reader.h"
#include "ir/tileir/writer.h"
#include "ir/ttir/reader.h"
#include "ir/verify/verify.h"
#include "runtime/forms/describe.h"
#include "runtime/forms/tilevm_forms.h"

namespace ir = tile::ir;

struct tilevm_bytes {
  std::string data, warnings;
};

namespace {

absl::Status NoProgram(absl::string_view name, absl::string_view code, absl::string_view what, absl::string_view fix) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": error[", code, "]: ", what, "\n  fix: ", fix));
}

absl::Status NoKernel(absl::Span<const uint8_t> bytes, const std::string& name) {
  const ir::ForeignFile* foreign = bytes.empty() ? nullptr : ir::FindForeignKernel(bytes, name);
  const std::string fix = foreign == nullptr ? "" : foreign->ForKernel(name);
  return NoProgram(name, "file.form",
                   foreign != nullptr ? absl::StrCat("not a kernel but ", foreign->what)
                   : bytes.empty()    ? "there are no bytes"
                                      : "not a kernel: neither .tbc, nor tile text, nor Tile IR bytecode, nor TTIR",
                   fix.empty() ? "pass what `tilevm as`, a frontend or `nvcc --tilebc` wrote" : fix);
}

// `verify`: the program, too; of a text both find all errors in one round.
absl::StatusOr<std::unique_ptr<ir::Module>> ReadAnyForm(absl::Span<const uint8_t> bytes, const std::string& name,
                                                        bool verify, ir::Diagnostics* diagnostics) {
  if (bytes.size() > ir::kMaxFileBytes) {
    return NoProgram(name, "file.read", absl::StrCat("the program has more than ", ir::kMaxFileBytes, " bytes"),
                     "split it");
  }
  if (ir::LooksLikeTbc(bytes) || ir::LooksLikeTileIr(bytes)) {
    auto module = ir::LooksLikeTbc(bytes) ? ir::ReadTbc(bytes, name) : ir::ReadTileIr(bytes, name);
    if (module.ok() && verify) ir::Verify(**module, diagnostics);
    return module;
  }
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty() || !ir::LooksLikeText(text)) return NoKernel(bytes, name);
  std::unique_ptr<ir::Module> module;
  if (ir::LooksLikeTtir(text)) {
    module = ir::ReadTtir(text, name, diagnostics);
    if (module == nullptr) return diagnostics->ToStatus();
    if (verify) ir::Verify(*module, diagnostics);
    return module;
  }
  module = verify ? ir::ParseAndVerify(text, name, diagnostics) : ir::Parse(text, name, diagnostics);
  if (module == nullptr && ir::FindForeignKernel(bytes, name) != nullptr) return NoKernel(bytes, name);
  if (module == nullptr) return diagnostics->ToStatus();
  return module;
}

absl::StatusOr<std::string> WriteForm(const ir::Module& module, absl::Span<const uint8_t> bytes,
                                      const std::string& name, const tilevm_translate_options& o) {
  switch (o.form) {
    case TILEVM_FORM_TEXT: return ir::Print(module, {.debug = o.no_debug == 0});
    case TILEVM_FORM_TILEIR: return o.version == 0 ? ir::WriteOldestTileIr(module) : ir::WriteTileIr(module, o.version);
    case TILEVM_FORM_JSON: return tile::runtime::DescribeModule(module, bytes);
    default: break;
  }
  ir::WriteOptions write;
  write.target_version = {o.version / 100, o.version % 100};
  write.strip_debug = o.no_debug != 0;
  std::vector<ir::Image> images;
  if (ir::LooksLikeTbc(bytes)) {
    absl::StatusOr<std::vector<ir::Image>> read = ir::ReadTbcImages(bytes, name);
    if (!read.ok()) return read.status();
    images = *std::move(read);
    write.images = images;
  }
  return ir::WriteTbc(module, write);
}

absl::StatusOr<tilevm_bytes> Translate(absl::Span<const uint8_t> bytes, const tilevm_translate_options& o) {
  const std::string name = o.name != nullptr ? o.name : "<memory>";
  ir::Diagnostics diagnostics;
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ReadAnyForm(bytes, name, o.no_verify == 0, &diagnostics);
  if (!module.ok()) return module.status();
  if (!diagnostics.ok()) return diagnostics.ToStatus();
  if ((*module)->source_name.empty()) (*module)->source_name = name;
  tilevm_bytes made;
  made.warnings = diagnostics.ToString();
  if (o.form == TILEVM_FORM_TBC && o.no_debug == 0) ir::AddDebugLines(module->get());
  absl::StatusOr<std::string> written = WriteForm(**module, bytes, name, o);
  if (!written.ok()) return written.status();
  made.data = *std::move(written);
  return made;
}

}  // namespace

tilevm_status tilevm_translate(const void* bytes, size_t size, const tilevm_translate_options* options,
                               tilevm_bytes** output) try {
  if (output == nullptr) return TILEVM_INVALID_ARGUMENT;
  *output = nullptr;
  auto made = std::make_unique<tilevm_bytes>();
  tilevm_translate_options o = {};
  const size_t given = options == nullptr ? sizeof o : options->struct_size;
  if (options != nullptr) std::memcpy(&o, options, std::min(given, sizeof o));  // perhaps of an older, shorter version
  const bool tileir = o.form == TILEVM_FORM_TILEIR;
  tilevm_status status = TILEVM_INVALID_ARGUMENT;
  if (bytes == nullptr && size > 0) {
    made->data = "error[forms.arguments]: `bytes` is NULL";
  } else if (given < sizeof(size_t) || given > 4096) {
    made->data = "error[forms.arguments]: struct_size of the options is not set";
  } else if (o.form < TILEVM_FORM_TBC || o.form > TILEVM_FORM_JSON) {
    made->data = absl::StrCat("error[forms.arguments]: there is no form ", o.form);
  } else if (o.version < 0 || o.version > 65535 * 100 ||
             (tileir && o.version != 0 && (o.version < 1301 || o.version > 1305))) {
    made->data = absl::StrCat("error[forms.version]: there is no version ", o.version / 100, ".", o.version % 100,
                              tileir ? " of Tile IR bytecode\n  fix: 13.1 to 13.5 can be written" : "");
  } else {
    absl::StatusOr<tilevm_bytes> translated = Translate({static_cast<const uint8_t*>(bytes), size}, o);
    status = translated.ok() ? TILEVM_OK : TILEVM_INVALID_MODULE;
    *made = translated.ok() ? *std::move(translated) : tilevm_bytes{std::string(translated.status().message()), ""};
  }
  *output = made.release();
  return status;
} catch (const std::bad_alloc&) {
  return TILEVM_OUT_OF_MEMORY;  // nothing may be thrown through C
}

const char* tilevm_bytes_data(const tilevm_bytes* bytes) { return bytes == nullptr ? nullptr : bytes->data.c_str(); }
size_t tilevm_bytes_size(const tilevm_bytes* bytes) { return bytes == nullptr ? 0 : bytes->data.size(); }
const char* tilevm_bytes_warnings(const tilevm_bytes* bytes) { return bytes == nullptr ? "" : bytes->warnings.c_str(); }
void tilevm_bytes_destroy(tilevm_bytes* bytes) { delete bytes; }
