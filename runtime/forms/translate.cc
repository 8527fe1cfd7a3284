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
#include "ir/forms/forms.h"
#include "ir/tbc/reader.h"
#include "ir/tbc/writer.h"
#include "ir/text/printer.h"
#include "ir/tileir/writer.h"
#include "runtime/forms/describe.h"
#include "runtime/forms/tilevm_forms.h"

namespace ir = tile::ir;

struct tilevm_bytes {
  std::string data, warnings;
};

namespace {

absl::StatusOr<std::string> WriteForm(const ir::ProgramRead& program, absl::Span<const uint8_t> bytes,
                                      const std::string& name, const tilevm_translate_options& o) {
  const ir::Module& module = *program.module;
  switch (o.form) {
    case TILEVM_FORM_TEXT: return ir::Print(module, {.debug = o.no_debug == 0});
    case TILEVM_FORM_TILEIR: return o.version == 0 ? ir::WriteOldestTileIr(module) : ir::WriteTileIr(module, o.version);
    case TILEVM_FORM_JSON: return tile::runtime::DescribeModule(program, bytes);
    default: break;
  }
  ir::WriteOptions write;
  write.target_version = {o.version / 100, o.version % 100};
  write.strip_debug = o.no_debug != 0;
  std::vector<ir::Image> images;
  if (program.form->kind == ir::FormKind::kTbc) {
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
  absl::StatusOr<ir::ProgramRead> program = ir::ReadProgram(bytes, name, o.no_verify == 0, &diagnostics);
  if (!program.ok()) return program.status();
  tilevm_bytes made;
  made.warnings = diagnostics.ToString();
  if (o.form == TILEVM_FORM_TBC && o.no_debug == 0) ir::AddDebugLines(program->module.get());
  absl::StatusOr<std::string> written = WriteForm(*program, bytes, name, o);
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
