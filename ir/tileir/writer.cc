// The container around the bodies: kernels, globals, debug information, then the tables they filled.

#include "ir/tileir/writer.h"

#include "absl/strings/str_cat.h"
#include "ir/tileir/body_writer.h"

namespace tile::ir {
namespace tileir {
namespace {

// Alignment that the container wants of a section's payload; 1 leaves it out.
int AlignmentOf(Section s) {
  if (s == Section::kString || s == Section::kType) return 4;
  return s == Section::kFunction || s == Section::kConstant || s == Section::kDebug ? 8 : 1;
}

class Writer {
 public:
  Writer(const Module& module, int version)
      : module_(module), errors_(version), pools_(&errors_), body_(&module, &pools_, &errors_) {}

  absl::StatusOr<std::string> Write();

 private:
  std::string Functions();
  std::string Globals();
  std::string Debug();
  std::string DebugItem(const DebugRecord& r);
  void WriteFunction(const Function& f, Sink& s);
  void WriteSection(Section section, const std::string& payload);

  const Module& module_;
  WriteErrors errors_;
  Pools pools_;
  BodyWriter body_;
  std::vector<LocId> locs_;            // of all kernels and their operations
  std::vector<uint64_t> locs_starts_;  // per kernel
  Sink out_;
};

absl::StatusOr<std::string> Writer::Write() {
  const int version = errors_.version();
  out_.Append({reinterpret_cast<const char*>(kMagic), sizeof(kMagic)});
  out_.Fixed(version / 100, 1);
  out_.Fixed(version % 100, 1);
  out_.Fixed(0, 2);
  WriteSection(Section::kFunction, Functions());
  if (!module_.globals.empty()) WriteSection(Section::kGlobal, Globals());
  if (!pools_.constants.empty()) WriteSection(Section::kConstant, pools_.constants.Encode());
  if (!module_.debug.empty()) WriteSection(Section::kDebug, Debug());
  if (!pools_.types.pool().empty()) WriteSection(Section::kType, pools_.types.pool().Encode());
  if (!module_.producer.empty() && Exists(kSinceProducer, version)) {
    Sink s;
    s.Varint(pools_.String(module_.producer));
    WriteSection(Section::kProducer, s.data());
  }
  WriteSection(Section::kString, pools_.strings.Encode());
  out_.Fixed(0, 1);
  if (!errors_.status().ok()) return errors_.status();
  return out_.Take();
}

void Writer::WriteSection(Section section, const std::string& payload) {
  const int align = AlignmentOf(section);
  out_.Fixed(static_cast<int>(section) | (align > 1 ? kSectionAligned : 0), 1);
  out_.Varint(payload.size());
  if (align > 1) {
    out_.Varint(align);
    out_.Align(align);
  }
  out_.Append(payload);
}

std::string Writer::Functions() {
  Sink s;
  s.Varint(module_.functions.size());
  for (const auto& f : module_.functions) WriteFunction(*f, s);
  return s.Take();
}

void Writer::WriteFunction(const Function& f, Sink& s) {
  const std::string place = absl::StrCat("kernel ", f.name);
  errors_.set_place(place);
  for (int n : f.blocks_per_cluster) {
    if (n != 1) errors_.Need(0, "a cluster of blocks");
  }
  std::vector<Type> params;
  for (const Value* v : f.body()->args()) params.push_back(v->type());
  const bool entry_layout = Exists(kSinceEntryAttributes, errors_.version());
  s.Varint(pools_.String(f.name));
  s.Varint(pools_.types.AddSignature(params));
  int flags = kEntry;
  if (f.visibility == Visibility::kPrivate) flags |= kPrivate;
  if (f.hints != nullptr && !entry_layout) flags |= kHasHints;
  s.Fixed(flags, 1);
  locs_starts_.push_back(locs_.size());
  s.Varint(module_.debug.empty() ? 0 : locs_starts_.size());
  if (entry_layout || f.hints != nullptr) {
    s.Tag(AttrTag::kHints);
    body_.WriteHints(f.hints, s);
  }
  if (entry_layout) {
    s.Tag(AttrTag::kArray);  // attributes of arguments: none
    s.Varint(0);
  }
  const std::string body = body_.Write(f, &locs_);
  s.Varint(body.size());
  s.Append(body);
}

std::string Writer::Globals() {
  Sink s;
  s.Varint(module_.globals.size());
  for (const auto& g : module_.globals) {
    errors_.set_place(absl::StrCat("global ", g->name));
    s.Varint(pools_.String(g->name));
    s.Varint(pools_.types.Add(g->type));
    s.Varint(pools_.Constant(g->value));
    s.Varint(g->alignment);
    if (Exists(kSinceGlobalVisibility, errors_.version())) {
      s.Varint(static_cast<uint64_t>(g->visibility));
      s.Fixed(g->constant, 1);
    } else {
      if (g->visibility != Visibility::kPublic) errors_.Need(kSinceGlobalVisibility, "private");
      if (g->constant) errors_.Need(kSinceGlobalVisibility, "constant");
    }
  }
  return s.Take();
}

std::string Writer::Debug() {
  Sink s;
  s.Varint(locs_starts_.size());
  s.Align(4);
  for (uint64_t start : locs_starts_) s.Fixed(start, 4);
  s.Varint(locs_.size());
  s.Align(8);
  for (LocId id : locs_) s.Fixed(id, 8);
  s.Varint(module_.debug.size());  // not a Pool: equal records keep their numbers
  s.Align(4);
  Sink items;
  for (const DebugRecord& r : module_.debug) {
    s.Fixed(items.size(), 4);
    items.Append(DebugItem(r));
  }
  s.Append(items.data());
  return s.Take();
}

std::string Writer::DebugItem(const DebugRecord& r) {
  Sink s;
  s.Varint(static_cast<uint64_t>(r.kind));
  switch (r.kind) {
    case DebugRecord::Kind::kCompileUnit: s.Varint(r.file); break;
    case DebugRecord::Kind::kFile:
      s.Varint(pools_.String(r.name));
      s.Varint(pools_.String(r.directory));
      break;
    case DebugRecord::Kind::kLexicalBlock:
      for (uint64_t v : {r.scope, r.file, r.line, r.column}) s.Varint(v);
      break;
    case DebugRecord::Kind::kLocation:
      s.Varint(r.scope);
      s.Varint(pools_.String(r.name));
      s.Varint(r.line);
      s.Varint(r.column);
      break;
    case DebugRecord::Kind::kSubprogram:
      s.Varint(r.file);
      s.Varint(r.line);
      s.Varint(pools_.String(r.name));
      s.Varint(pools_.String(r.linkage_name));
      s.Varint(r.scope);
      s.Varint(r.scope_line);
      if (Exists(kSinceSubprogramFlags, errors_.version())) s.Varint(r.flags);
      break;
    case DebugRecord::Kind::kCallSite:
      s.Varint(r.callee);
      s.Varint(r.caller);
      break;
  }
  return s.Take();
}

}  // namespace
}  // namespace tileir

absl::StatusOr<std::string> WriteTileIr(const Module& module, int version) {
  if (version < tileir::kOldestVersion || version > tileir::kNewestVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("version ", tileir::VersionText(version), " is unknown; Tile IR 13.1 to 13.5 can be written"));
  }
  return tileir::Writer(module, version).Write();
}

absl::StatusOr<std::string> WriteOldestTileIr(const Module& module) {
  absl::StatusOr<std::string> bytes;
  for (int version = tileir::kOldestVersion; version <= tileir::kNewestVersion; ++version) {
    bytes = WriteTileIr(module, version);
    if (bytes.ok()) break;
  }
  return bytes;
}

}  // namespace tile::ir
