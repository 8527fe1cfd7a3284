#include "ir/tileir/debug_table.h"

#include "absl/strings/str_cat.h"
#include "ir/tileir/format.h"

namespace tile::ir::tileir {
namespace {

constexpr LocId kUnresolved = 0xFFFFFFFF, kBusy = 0xFFFFFFFE;

}  // namespace

bool DebugTable::Read(Cursor section) {
  const uint64_t functions = section.Count("functions of the debug section", 4);
  section.Align(4, "debug section");
  if (functions > section.remaining() / 4) return section.Fail("debug section", "its function table does not fit");
  for (uint64_t i = 0; i < functions; ++i) starts_.push_back(section.U32("debug section"));
  const uint64_t entries = section.Count("entries of the debug section", 8);
  section.Align(8, "debug section");
  if (entries > section.remaining() / 8) return section.Fail("debug section", "its entries do not fit");
  indices_.reserve(entries);
  for (uint64_t i = 0; i < entries; ++i) indices_.push_back(section.U64("debug section"));
  // The records' offsets are aligned within the section, so the table starts at its beginning.
  if (!records_.Read(section, 4, "debug record")) return false;
  resolved_.assign(records_.size(), kUnresolved);
  return section.ok();
}

LocId DebugTable::Find(Cursor& c, uint64_t function, uint64_t n) {
  if (function == 0 || !c.ok()) return 0;
  const uint64_t i = starts_[function - 1] + n;
  if (i < indices_.size()) return Resolve(c, indices_[i]);
  c.Fail("debug information", absl::StrCat("has no entry ", i, " for this operation; there are ", indices_.size()));
  return 0;
}

LocId DebugTable::Resolve(Cursor& from, uint64_t id) {
  if (id == 0) return 0;
  const char* wrong = id > resolved_.size()        ? "does not exist"
                      : resolved_[id - 1] == kBusy ? "refers to itself"
                      : depth_ == kMaxDepth        ? "is nested too deeply"
                                                   : nullptr;
  if (wrong != nullptr) {
    from.Fail(absl::StrCat("debug record ", id), wrong);
    return 0;
  }
  LocId& slot = resolved_[id - 1];
  if (slot != kUnresolved) return slot;
  slot = kBusy;
  ++depth_;
  Cursor c = records_.Item(id - 1);
  const uint64_t at = c.offset();
  const uint64_t kind = c.Varint("debug record");
  DebugRecord r;
  r.kind = static_cast<DebugRecord::Kind>(kind > 6 ? 0 : kind);
  switch (r.kind) {
    case DebugRecord::Kind::kCompileUnit: r.file = ReadReference(c); break;
    case DebugRecord::Kind::kFile:
      r.name = strings_->ReadString(c);
      r.directory = strings_->ReadString(c);
      break;
    case DebugRecord::Kind::kLexicalBlock:
      r.scope = ReadReference(c);
      r.file = ReadReference(c);
      r.line = ReadNumber(c);
      r.column = ReadNumber(c);
      break;
    case DebugRecord::Kind::kLocation:
      r.scope = ReadReference(c);
      r.name = strings_->ReadString(c);
      r.line = ReadNumber(c);
      r.column = ReadNumber(c);
      break;
    case DebugRecord::Kind::kSubprogram:
      r.file = ReadReference(c);
      r.line = ReadNumber(c);
      r.name = strings_->ReadString(c);
      r.linkage_name = strings_->ReadString(c);
      r.scope = ReadReference(c);
      r.scope_line = ReadNumber(c);
      if (Exists(kSinceSubprogramFlags, version_)) r.flags = ReadNumber(c);
      break;
    case DebugRecord::Kind::kCallSite:
      r.callee = ReadReference(c);
      r.caller = ReadReference(c);
      break;
    default: c.Fail(at, absl::StrCat("debug record of kind ", kind), "unknown");
  }
  --depth_;
  return slot = c.ok() ? Add(r) : 0;
}

LocId DebugTable::ReadReference(Cursor& c) {
  const uint64_t id = c.Varint("debug record");
  return c.ok() ? Resolve(c, id) : 0;
}

uint32_t DebugTable::ReadNumber(Cursor& c) {
  const uint64_t at = c.offset();
  const uint64_t v = c.Varint("debug record");
  if (v > UINT32_MAX) {
    c.Fail(at, "debug record", absl::StrCat("has the number ", v, "; lines and columns take 32 bits"));
  }
  return static_cast<uint32_t>(v);
}

LocId DebugTable::Add(const DebugRecord& r) {
  const auto identity = [](absl::string_view s) { return reinterpret_cast<uintptr_t>(s.data()); };
  const auto [it, is_new] =
      known_.try_emplace({static_cast<uint64_t>(r.kind), r.scope, r.file, r.callee, r.caller, r.line, r.column,
                          r.scope_line, r.flags, identity(r.name), identity(r.directory), identity(r.linkage_name)},
                         static_cast<LocId>(module_->debug.size() + 1));
  if (is_new) module_->debug.push_back(r);
  return it->second;
}

}  // namespace tile::ir::tileir
