#include "ir/tbc/writer.h"

#include "ir/limits.h"
#include "ir/tbc/code_writer.h"
#include "ir/tbc/debug_io.h"
#include "ir/tbc/file.h"
#include "ir/tbc/image_io.h"
#include "ir/tbc/interface_io.h"
#include "ir/tbc/schema.h"

namespace tile::ir {

using flatbuffers::Offset;
using flatbuffers::Vector;

absl::StatusOr<std::string> WriteTbc(const Module& module, const WriteOptions& options) {
  absl::StatusOr<CodeSection> code = WriteCode(module);
  if (!code.ok()) return code.status();
  const absl::StatusOr<TbcVersion> version = LowestVersion(code->needs, options.target_version);
  if (!version.ok()) return version.status();

  flatbuffers::FlatBufferBuilder fbb(code->bytes.size() + 4096);
  const absl::StatusOr<Offset<ImageList>> images = WriteImages(options.images, module.functions.size(), &fbb);
  if (!images.ok()) return images.status();
  Offset<fbs::Debug> debug = 0;
  if (!options.strip_debug) {
    absl::StatusOr<Offset<fbs::Debug>> written = WriteDebug(module, code->ops, &fbb);
    if (!written.ok()) return written.status();
    debug = *written;
  }
  std::vector<Offset<fbs::KernelInterface>> interfaces;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const Interface* interface = module.functions[i]->interface.get();
    if (interface != nullptr) interfaces.push_back(WriteInterface(*interface, static_cast<uint32_t>(i), &fbb));
  }
  const auto interface_list = interfaces.empty() ? 0 : fbb.CreateVector(interfaces);
  fbb.ForceVectorAlignment(code->bytes.size(), 1, kTbcAlignment);
  const auto code_bytes = fbb.CreateVector(code->bytes.data(), code->bytes.size());
  const auto name = fbb.CreateString(module.name.data(), module.name.size());
  const auto producer = fbb.CreateString(module.producer.data(), module.producer.size());
  fbs::FinishFileBuffer(
      fbb, fbs::CreateFile(fbb, static_cast<uint16_t>(version->major), static_cast<uint16_t>(version->minor),
                           code->needs.bits(), name, producer, code_bytes, interface_list, debug, *images));
  return std::string(reinterpret_cast<const char*>(fbb.GetBufferPointer()), fbb.GetSize());
}

absl::StatusOr<Sha256Digest> HashCode(const Module& module) {
  const absl::StatusOr<CodeSection> code = WriteCode(module);
  if (!code.ok()) return code.status();
  return Sha256({code->bytes.data(), code->bytes.size()});
}

}  // namespace tile::ir
