#include "runtime/program.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/diagnostic.h"
#include "ir/tbc/mapped_file.h"
#include "ir/tbc/reader.h"
#include "ir/verify/verify.h"
#include "runtime/error.h"

namespace tile::runtime {
namespace {

absl::StatusOr<std::shared_ptr<Program>> Read(absl::Span<const uint8_t> bytes, const std::string& name) {
  if (!ir::LooksLikeTbc(bytes)) {
    return MakeError(absl::StatusCode::kInvalidArgument, "runtime.form", absl::StrCat(name, ": is no .tbc file"),
                     "make one with `tilevm as` or `tilevm import`");
  }
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ir::ReadTbc(bytes, name);
  if (!module.ok()) return module.status();
  if ((*module)->source_name.empty()) (*module)->source_name = name;
  ir::Diagnostics diagnostics;
  ir::Verify(**module, &diagnostics);
  if (!diagnostics.ok()) return absl::InvalidArgumentError(diagnostics.ToString());
  auto program = std::make_shared<Program>();
  program->module = *std::move(module);
  if (absl::Status s = ReadImages(bytes, name, program.get()); !s.ok()) return s;
  return program;
}

}  // namespace

absl::Status ReadImages(absl::Span<const uint8_t> bytes, const std::string& name, Program* program) {
  absl::StatusOr<std::vector<ir::Image>> images = ir::ReadTbcImages(bytes, name);
  if (!images.ok()) return images.status();
  program->images = *std::move(images);
  if (program->images.empty()) return absl::OkStatus();
  absl::StatusOr<ir::TbcInfo> info = ir::InspectTbc(bytes);
  if (!info.ok()) return info.status();
  program->code_hash = info->code_hash;
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Program>> Program::FromBytes(absl::Span<const uint8_t> bytes,
                                                                  const std::string& name) {
  absl::StatusOr<std::shared_ptr<Program>> program = Read(bytes, name);
  if (!program.ok()) return program.status();
  if (!(*program)->images.empty()) {
    auto copy = std::make_shared<std::string>(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (ir::Image& i : (*program)->images) {
      if (i.payload.empty()) continue;
      i.payload = {reinterpret_cast<const uint8_t*>(copy->data()) + (i.payload.data() - bytes.data()),
                   i.payload.size()};
    }
    (*program)->memory.push_back(std::move(copy));
  }
  return *std::move(program);
}

absl::StatusOr<std::shared_ptr<const Program>> Program::FromFile(const std::string& path) {
  absl::StatusOr<ir::MappedFile> file = ir::MappedFile::Open(path);
  if (!file.ok()) return MakeError(file.status().code(), "file.read", file.status().message());
  auto kept = std::make_shared<ir::MappedFile>(*std::move(file));
  absl::StatusOr<std::shared_ptr<Program>> program = Read(kept->bytes(), path);
  if (!program.ok()) return program.status();
  (*program)->memory.push_back(std::move(kept));
  return *std::move(program);
}

}  // namespace tile::runtime
