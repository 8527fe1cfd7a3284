#include "tools/data/write.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/data/element_text.h"
#include "tools/data/files.h"
#include "tools/data/npy.h"
#include "tools/data/png_image.h"
#include "tools/data/safetensors.h"

namespace tile::tools {
namespace {

absl::Status Npy(absl::Span<const NamedArray> a, OutputFile& out) { return WriteNpy(a[0].array, out); }
absl::Status Png(absl::Span<const NamedArray> a, OutputFile& out) { return WritePng(a[0].array, out); }
absl::Status Bin(absl::Span<const NamedArray> a, OutputFile& out) { return out.Write(a[0].array.bytes); }

absl::Status Txt(absl::Span<const NamedArray> arrays, OutputFile& out) {
  const ArrayView& a = arrays[0].array;
  const int64_t rank = a.shape.size();
  const int64_t row = rank < 2 ? 1 : a.shape[rank - 1], matrix = rank < 3 ? 0 : row * a.shape[rank - 2];
  std::string line;
  for (int64_t i = 0, count = a.count(); i < count; ++i) {
    absl::StrAppend(&line, FormatElement(a.element.kind, LoadBits(a.element.kind, a.bytes.data(), i), a.is_unsigned));
    const bool row_ends = (i + 1) % row == 0;
    line.push_back(row_ends ? '\n' : ' ');
    if (matrix > 0 && (i + 1) % matrix == 0 && i + 1 < count) line.push_back('\n');
    if (!row_ends && line.size() < 4096) continue;
    if (absl::Status s = out.Write(line); !s.ok()) return s;
    line.clear();
  }
  return absl::OkStatus();
}

struct Writer {
  const char* extension;
  bool many;
  absl::Status (*write)(absl::Span<const NamedArray>, OutputFile&);
};
constexpr Writer kWriters[] = {
    {".npy", false, Npy}, {".npz", true, WriteNpz}, {".safetensors", true, WriteSafetensors},
    {".png", false, Png}, {".bin", false, Bin},     {".txt", false, Txt},
};

const Writer* FindWriter(absl::string_view path) {
  if (path == "-") return &kWriters[0];
  for (const Writer& w : kWriters) {
    if (absl::EndsWithIgnoreCase(path, w.extension)) return &w;
  }
  return nullptr;
}

}  // namespace

bool IsStdout(absl::string_view path) { return path == "-" || absl::StartsWith(path, "-."); }

absl::Status CheckOutputPath(absl::string_view path) {
  if (absl::Status s = CheckOutputForm(path); !s.ok()) return s;
  return IsStdout(path) ? absl::OkStatus() : OutputFile::Check(std::string(path));
}

absl::Status CheckOutputForm(absl::string_view path, size_t arrays) {
  const Writer* writer = FindWriter(path);
  if (writer == nullptr) {
    return WithName(path, "the extension does not say the form; .npy, .npz, .safetensors, .png, .bin or .txt does");
  }
  if (arrays == 1 || (arrays > 1 && writer->many)) return absl::OkStatus();
  return WithName(
      path, absl::StrCat(arrays, " arrays, but ", writer->extension, " holds one; .npz and .safetensors hold several"));
}

absl::Status WriteArrays(absl::string_view path, absl::Span<const NamedArray> arrays) {
  OutputFile out;
  if (absl::Status s = WriteArrays(path, arrays, &out); !s.ok()) return s;
  return out.Commit();
}

absl::Status WriteArrays(absl::string_view path, absl::Span<const NamedArray> arrays, OutputFile* uncommitted) {
  if (absl::Status s = CheckOutputForm(path, arrays.size()); !s.ok()) return s;
  OutputFile& out = *uncommitted;
  const Writer& writer = *FindWriter(path);
  absl::flat_hash_set<std::string> names;
  for (const NamedArray& a : arrays) {
    if (!names.insert(a.name).second) return WithName(path, absl::StrCat("two arrays have the name ", a.name));
  }
  if (absl::Status s = out.Open(IsStdout(path) ? "-" : std::string(path)); !s.ok()) return s;
  if (writer.write != Txt && out.is_terminal()) {
    return WithName(path, absl::StrCat(writer.extension, " is not for a terminal; -.txt is"));
  }
  if (absl::Status s = writer.write(arrays, out); !s.ok()) {
    return absl::StartsWith(s.message(), path) ? s : WithName(path, s);
  }
  return out.Flush();
}

absl::Status WriteArray(absl::string_view path, const ArrayView& array, absl::string_view name) {
  const NamedArray named{std::string(name), array};
  return WriteArrays(path, absl::MakeConstSpan(&named, 1));
}

}  // namespace tile::tools
