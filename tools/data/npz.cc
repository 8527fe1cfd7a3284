#include "tools/data/npz.h"

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "tools/data/npy.h"
#include "tools/data/zip.h"

namespace tile::tools {

std::string NameList(absl::Span<const std::string> names) {
  constexpr size_t kShown = 20;
  std::string text = absl::StrJoin(names.subspan(0, kShown), ", ", [](std::string* out, const std::string& name) {
    absl::StrAppend(out, absl::Utf8SafeCEscape(name));
  });
  if (names.size() > kShown) absl::StrAppend(&text, " and ", names.size() - kShown, " more");
  return names.empty() ? "nothing" : text;
}

absl::StatusOr<Array> ReadNpz(AlignedBuffer bytes, absl::string_view file, absl::string_view member,
                              std::optional<ir::Elem> raw_as) {
  absl::StatusOr<std::vector<ZipMember>> members = ListZip(bytes.span());
  if (!members.ok()) return WithName(file, members.status());
  const ZipMember* found = nullptr;
  int matches = 0;
  std::vector<std::string> names;
  for (const ZipMember& m : *members) {
    const absl::string_view name = absl::StripSuffix(m.name, ".npy");
    names.emplace_back(name);
    if (!member.empty() && name != member && m.name != member) continue;
    found = &m;
    ++matches;
  }
  if (member.empty() && members->size() > 1) {
    return WithName(
        file, absl::StrCat("has ", names.size(), " arrays; choose one with ", file, ":NAME of ", NameList(names)));
  }
  if (matches == 0) {
    return WithName(file, absl::NotFoundError(absl::StrCat(
                              "has no array ", member.empty() ? "" : absl::StrCat("'", member, "'; it has "),
                              member.empty() ? "at all" : NameList(names))));
  }
  const std::string full = absl::StrCat(file, ":", absl::Utf8SafeCEscape(absl::StripSuffix(found->name, ".npy")));
  if (matches > 1) return WithName(full, "stands twice in the archive");
  absl::StatusOr<AlignedBuffer> data = TakeZipMember(std::move(bytes), *found);
  if (!data.ok()) return WithName(full, data.status());
  return ReadNpy(*std::move(data), full, raw_as);
}

absl::Status WriteNpz(absl::Span<const NamedArray> arrays, OutputFile& out) {
  ZipWriter zip(&out);
  for (const NamedArray& a : arrays) {
    const std::string header = NpyHeader(a.array);
    const uint64_t size = header.size() + NpyDataBytes(a.array);
    const absl::Status s = zip.Add(absl::StrCat(a.name, ".npy"), size, [&](ZipWriter::Sink sink) {
      if (absl::Status s = sink({reinterpret_cast<const uint8_t*>(header.data()), header.size()}); !s.ok()) return s;
      return NpyData(a.array, sink);
    });
    if (!s.ok()) return s;
  }
  return zip.Finish();
}

}  // namespace tile::tools
