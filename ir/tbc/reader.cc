#include "ir/tbc/reader.h"

#include <cstring>

#include "ir/limits.h"
#include "ir/tbc/code_reader.h"
#include "ir/tbc/debug_io.h"
#include "ir/tbc/file.h"
#include "ir/tbc/image_io.h"
#include "ir/tbc/interface_io.h"
#include "ir/tbc/read_context.h"

namespace tile::ir {
namespace {

bool ReadInterfaces(const fbs::File& root, Module* module, ReadContext* context) {
  if (root.interfaces() == nullptr) return true;
  int64_t last = -1;
  for (const fbs::KernelInterface* i : *root.interfaces()) {
    if (i->kernel() >= module->functions.size() || i->kernel() <= last) {
      return context->Fail("interface", "an interface of kernel ", i->kernel(),
                           ", which does not exist or is out of order");
    }
    last = i->kernel();
    Function* f = module->functions[i->kernel()].get();
    f->interface = std::make_unique<Interface>();
    if (!ReadInterface(*i, f->num_params(), context, f->interface.get())) return false;
  }
  return true;
}

bool ReadName(const flatbuffers::String* from, ReadContext* context, std::string* to) {
  if (from == nullptr) return true;
  if (from->size() > kMaxNameBytes) return context->Fail("limit", "a name has more than ", kMaxNameBytes, " bytes");
  to->assign(from->c_str(), from->size());
  return true;
}

std::string Text(const flatbuffers::String* s) {
  return s == nullptr ? std::string() : std::string(s->c_str(), std::min<size_t>(s->size(), kMaxNameBytes));
}

}  // namespace

bool LooksLikeTbc(absl::Span<const uint8_t> bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "TBC", 3) == 0 && bytes[7] >= '0' && bytes[7] <= '9';
}

absl::StatusOr<std::unique_ptr<Module>> ReadTbc(absl::Span<const uint8_t> bytes, absl::string_view name) {
  ReadContext context(name, bytes.size());
  OpenFile file;
  if (!file.Open(bytes, &context)) return context.status();
  auto module = std::make_unique<Module>();
  module->name.clear();
  module->source_name = std::string(name);
  std::vector<Op*> ops;
  const fbs::Debug* debug = file.root().debug();
  std::vector<Image> images;  // read to be sure that they are sound
  if (!ReadName(file.root().name(), &context, &module->name) ||
      !ReadName(file.root().producer(), &context, &module->producer) ||
      !ReadCode(file.code(), module.get(), &context, &ops) || !ReadInterfaces(file.root(), module.get(), &context) ||
      (debug != nullptr && !ReadDebug(*debug, ops, module.get(), &context)) ||
      !ReadImages(file, &context, &images, /*check_payloads=*/true)) {
    return context.status();
  }
  return module;
}

absl::StatusOr<std::vector<Image>> ReadTbcImages(absl::Span<const uint8_t> bytes, absl::string_view name) {
  ReadContext context(name, bytes.size());
  OpenFile file;
  std::vector<Image> images;
  if (!file.Open(bytes, &context) || !ReadImages(file, &context, &images)) return context.status();
  return images;
}

absl::StatusOr<TbcInfo> InspectTbc(absl::Span<const uint8_t> bytes) {
  ReadContext context("tbc", bytes.size());
  OpenFile file;
  if (!file.Open(bytes, &context, /*only_look=*/true)) return context.status();
  const fbs::File& root = file.root();
  const fbs::Code& code = file.code();
  TbcInfo info;
  info.version = {root.version_major(), root.version_minor()};
  info.feature_bits = root.features();
  info.features = TbcFeatureNames(root.features());
  info.readable = info.version.major == kCurrentTbcVersion.major && (root.features() & ~KnownTbcFeatures()) == 0;
  info.name = Text(root.name());
  info.producer = Text(root.producer());
  const auto string = [&](uint32_t i) {
    return code.strings() != nullptr && i < code.strings()->size() ? Text(code.strings()->Get(i)) : std::string("?");
  };
  if (code.functions() != nullptr) {
    for (const fbs::Function* f : *code.functions()) {
      if (!context.Charge(256)) return context.status();
      info.kernels.push_back({string(f->name()).substr(0, 4096), false});
      if (!context.Charge(static_cast<int64_t>(info.kernels.back().name.size()))) return context.status();
    }
  }
  if (code.globals() != nullptr) {
    for (const fbs::GlobalVariable* g : *code.globals()) {
      info.globals.push_back(string(g->name()).substr(0, 4096));
      if (!context.Charge(static_cast<int64_t>(64 + info.globals.back().size()))) return context.status();
    }
  }
  if (root.interfaces() != nullptr) {
    for (const fbs::KernelInterface* i : *root.interfaces()) {
      if (i->kernel() < info.kernels.size()) info.kernels[i->kernel()].has_interface = true;
    }
  }
  info.num_ops = code.ops() == nullptr ? 0 : code.ops()->size();
  info.num_values = code.value_types() == nullptr ? 0 : code.value_types()->size();
  info.num_types = code.types() == nullptr ? 0 : code.types()->size();
  if (code.constants() != nullptr) {
    for (const fbs::Constant* c : *code.constants())
      info.constant_bytes += c->data() == nullptr ? 0 : c->data()->size();
  }
  info.file_bytes = bytes.size();
  info.code_bytes = file.code_bytes().size();
  info.code_hash = Sha256(file.code_bytes());
  info.has_debug = root.debug() != nullptr;
  std::vector<Image> images;
  if (!ReadImages(file, &context, &images)) return context.status();
  for (const Image& i : images) {
    info.images.push_back({i.kind, i.arch, i.symbol, i.kernel, i.payload.size(), i.code_hash == info.code_hash});
    info.image_bytes += i.payload.size();
  }
  return info;
}

}  // namespace tile::ir
