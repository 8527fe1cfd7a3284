// The container: header, sections in any order, then the tables in the order in which they need each other, globals and
// kernels last.

#include "ir/tileir/reader.h"

#include <cstring>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ir/limits.h"
#include "ir/tileir/attr_reader.h"
#include "ir/tileir/body_reader.h"
#include "ir/tileir/cursor.h"
#include "ir/tileir/debug_table.h"
#include "ir/tileir/format.h"
#include "ir/tileir/tables.h"
#include "ir/tileir/type_table.h"

namespace tile::ir {
namespace tileir {
namespace {

std::string ModuleName(absl::string_view file) {
  if (const size_t slash = file.find_last_of("/\\"); slash != absl::string_view::npos) file.remove_prefix(slash + 1);
  absl::ConsumeSuffix(&file, ".tilebc");
  return file.empty() ? "kernels" : std::string(file);
}

class Reader {
 public:
  Reader(absl::Span<const uint8_t> bytes, absl::string_view name, TileIrInfo* info)
      : bytes_(bytes), failure_(name.empty() ? "<input>" : name), module_(std::make_unique<Module>()), info_(info) {
    module_->source_name = std::string(name);
    module_->name = ModuleName(name);
  }

  absl::StatusOr<std::unique_ptr<Module>> Read() {
    if (ReadHeader() && ReadSections()) ReadContent();
    info_->producer = module_->producer;
    if (!failure_.ok()) return failure_.ToStatus();
    return std::move(module_);
  }

 private:
  bool ReadHeader();
  bool ReadSections();
  void ReadContent();
  void ReadGlobals(Cursor c, AttrReader& attrs, TypeTable& types, ConstantTable& constants);
  void ReadFunctions(Cursor c, AttrReader& attrs, TypeTable& types, DebugTable& debug);
  void ReadFunction(Cursor& c, AttrReader& attrs, TypeTable& types, DebugTable& debug, BodyReader& body);
  // Notes the name of a global or kernel; no two may be equal.
  absl::string_view ReadSymbol(Cursor& c);

  bool Has(Section s) const { return info_->sections[static_cast<int>(s)].present; }
  Cursor Payload(Section s) {
    const TileIrInfo::Section& at = info_->sections[static_cast<int>(s)];
    return Cursor(bytes_.subspan(at.offset, at.size), at.offset, &failure_);
  }

  absl::Span<const uint8_t> bytes_;
  Failure failure_;
  std::unique_ptr<Module> module_;
  TileIrInfo* info_;
  StringTable strings_{module_.get()};
  absl::flat_hash_set<absl::string_view> symbols_;
};

bool Reader::ReadHeader() {
  Cursor c(bytes_, 0, &failure_);
  if (!LooksLikeTileIr(bytes_)) return c.Fail("header", "this is not a Tile IR bytecode file");
  c.Bytes(sizeof(kMagic), "header");
  const uint64_t at = c.offset();
  const int major = c.U8("version"), minor = c.U8("version");
  info_->version = major * 100 + minor;
  info_->tag = c.U16("header");
  if (minor > 99 || info_->version < kOldestVersion || info_->version > kNewestVersion) {
    return c.Fail(at, absl::StrCat("version ", major, ".", minor), "known are 13.1 to 13.5; export for one of these");
  }
  return c.ok();
}

bool Reader::ReadSections() {
  Cursor c(bytes_, 0, &failure_);
  c.Bytes(kHeaderBytes, "header");
  while (c.ok()) {
    const uint64_t at = c.offset();
    const uint8_t id = c.U8("section");
    if (id == 0) break;
    const int number = id & ~kSectionAligned;
    if (number == 0 || number >= kNumSections) {
      return c.Fail(at, absl::StrCat("section ", number), "no section has this number");
    }
    TileIrInfo::Section& section = info_->sections[number];
    const std::string label = absl::StrCat(SectionName(static_cast<Section>(number)), " section");
    if (section.present) return c.Fail(at, label, "there is one already");
    if (number == static_cast<int>(Section::kProducer) && info_->version < kSinceProducer) {
      return c.Fail(at, label, TooNew(kSinceProducer, info_->version));
    }
    const uint64_t size = c.Varint(label);
    if (id & kSectionAligned) {
      const uint64_t align = c.Varint(label);
      if (align == 0 || align > 4096 || (align & (align - 1)) != 0) {
        return c.Fail(label, absl::StrCat("has the alignment ", align, "; expected a power of two up to 4096"));
      }
      c.Align(align, label);
    }
    section.offset = c.offset();
    c.Bytes(size, label);
    if (!c.ok()) return false;
    section.size = size;
    section.present = true;
  }
  if (c.ok() && !c.at_end()) return c.Fail("end of the file", absl::StrCat(c.remaining(), " bytes follow"));
  for (Section s : {Section::kString, Section::kFunction}) {
    if (c.ok() && !Has(s)) return c.Fail(absl::StrCat(SectionName(s), " section"), "is missing");
  }
  return c.ok();
}

void Reader::ReadContent() {
  const int version = info_->version;
  TypeTable types(version, &module_->types());
  ConstantTable constants(module_.get());
  DebugTable debug(version, module_.get(), &strings_);
  AttrReader attrs(version, module_.get(), &strings_, &types, &constants);
  strings_.Read(Payload(Section::kString));
  if (Has(Section::kProducer)) {
    Cursor c = Payload(Section::kProducer);
    module_->producer = std::string(strings_.ReadString(c));
  }
  if (Has(Section::kType)) types.Read(Payload(Section::kType));
  if (Has(Section::kConstant)) constants.Read(Payload(Section::kConstant));
  if (Has(Section::kDebug)) debug.Read(Payload(Section::kDebug));
  if (Has(Section::kGlobal)) ReadGlobals(Payload(Section::kGlobal), attrs, types, constants);
  ReadFunctions(Payload(Section::kFunction), attrs, types, debug);
}

absl::string_view Reader::ReadSymbol(Cursor& c) {
  const uint64_t at = c.offset();
  const absl::string_view name = strings_.ReadString(c);
  if (c.ok() && !symbols_.insert(name).second) c.Fail(at, "symbol", "this name is taken by another kernel or global");
  return name;
}

void Reader::ReadGlobals(Cursor c, AttrReader& attrs, TypeTable& types, ConstantTable& constants) {
  const uint64_t n = c.Count("globals", 4, kMaxFunctions);
  for (uint64_t i = 0; i < n && c.ok(); ++i) {
    const absl::string_view name = ReadSymbol(c);
    const uint64_t at = c.offset();
    const Type type = types.ReadValueType(c);
    if (c.ok() && (!type.is_tile() || type.rank() != 1)) {
      c.Fail(at, "global", absl::StrCat("has the type ", type.ToString(), "; expected a tile of rank 1"));
    }
    const Dense* value = c.ok() ? constants.ReadConstant(c, type) : nullptr;
    const uint64_t alignment = c.Varint("alignment of a global");
    int64_t visibility = 0;
    bool constant = false;
    if (Exists(kSinceGlobalVisibility, info_->version)) {
      visibility = attrs.ReadEnum(c, EnumId::kVisibility);
      constant = c.Bool("constant flag of a global");
    }
    if (!c.ok()) return;
    Global* g = module_->AddGlobal(name, type.elem(), type.shape()[0]);
    g->value = *value;
    g->alignment = alignment;
    g->visibility = static_cast<Visibility>(visibility);
    g->constant = constant;
  }
}

void Reader::ReadFunctions(Cursor c, AttrReader& attrs, TypeTable& types, DebugTable& debug) {
  BodyReader body(info_->version, module_.get(), &attrs, &types, &debug);
  const uint64_t n = c.Count("kernels", 5, kMaxFunctions);
  for (uint64_t i = 0; i < n && c.ok(); ++i) ReadFunction(c, attrs, types, debug, body);
}

void Reader::ReadFunction(Cursor& c, AttrReader& attrs, TypeTable& types, DebugTable& debug, BodyReader& body) {
  const absl::string_view name = ReadSymbol(c);
  if (c.ok()) failure_.set_kernel(name);
  const uint64_t type_at = c.offset();
  const Type type = types.ReadFunctionType(c);
  if (!c.ok()) return;
  if (!type->results.empty() || type->inputs.size() > static_cast<size_t>(kMaxArguments)) {
    c.Fail(type_at, "signature",
           absl::StrCat("has ", type->inputs.size(), " parameters and ", type->results.size(),
                        " results; a kernel has no results and at most ", kMaxArguments, " parameters"));
    return;
  }
  const uint64_t flags_at = c.offset();
  const uint8_t flags = c.U8("flags of a kernel");
  if (c.ok() && flags >= 2 * kHasHints) {
    c.Fail(flags_at, absl::StrCat("flags 0x", absl::Hex(flags), " of a kernel"), "unknown");
  }
  if (c.ok() && !(flags & kEntry)) {
    c.Fail(flags_at, "function", "is no kernel; functions to be called are not supported");
  }
  const uint64_t debug_function = c.Index("debug information of a kernel", debug.num_functions() + 1);
  const bool entry_layout = Exists(kSinceEntryAttributes, info_->version);
  const Hints* hints = nullptr;
  if (entry_layout || (flags & kHasHints)) hints = attrs.ReadTaggedHints(c);
  if (hints != nullptr && hints->archs.empty()) hints = nullptr;  // 13.5 writes them always
  if (entry_layout) attrs.ReadEmptyArray(c, "attributes of arguments");
  const uint64_t size = c.Count("body of a kernel", 1);
  const Cursor code = c.Sub(size, "body of a kernel");
  if (!c.ok()) return;

  std::vector<Type> params;
  for (const TypeData* t : type->inputs) params.emplace_back(t);
  Function* f = module_->AddFunction(name, params);
  f->visibility = flags & kPrivate ? Visibility::kPrivate : Visibility::kPublic;
  f->hints = hints;
  f->loc = debug.Find(c, debug_function, 0);
  body.Read(code, f, debug_function);
}

}  // namespace
}  // namespace tileir

bool LooksLikeTileIr(absl::Span<const uint8_t> bytes) {
  return bytes.size() >= tileir::kHeaderBytes && std::memcmp(bytes.data(), tileir::kMagic, sizeof(tileir::kMagic)) == 0;
}

absl::StatusOr<std::unique_ptr<Module>> ReadTileIr(absl::Span<const uint8_t> bytes, absl::string_view name,
                                                   TileIrInfo* info) {
  TileIrInfo local;
  if (info == nullptr) info = &local;
  *info = TileIrInfo();
  return tileir::Reader(bytes, name, info).Read();
}

}  // namespace tile::ir
