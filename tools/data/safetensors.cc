// Layout: u64 length of the header; the header, a JSON object
//   {"__metadata__": {"k": "v"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …}
// padded with spaces; the bytes that data_offsets count from.

#include "tools/data/safetensors.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/data/json.h"
#include "tools/data/npy.h"

namespace tile::tools {
namespace {

using ir::Elem;

constexpr uint64_t kMaxHeader = 100'000'000;

struct TypeName {
  const char* name;
  Elem elem;
  bool is_unsigned;
};
constexpr TypeName kTypes[] = {
    {"BOOL", Elem::kI1, false},        {"I8", Elem::kI8, false},
    {"I16", Elem::kI16, false},        {"I32", Elem::kI32, false},
    {"I64", Elem::kI64, false},        {"U8", Elem::kI8, true},
    {"U16", Elem::kI16, true},         {"U32", Elem::kI32, true},
    {"U64", Elem::kI64, true},         {"F16", Elem::kF16, false},
    {"BF16", Elem::kBF16, false},      {"F32", Elem::kF32, false},
    {"F64", Elem::kF64, false},        {"F8_E4M3", Elem::kF8E4M3FN, false},
    {"F8_E5M2", Elem::kF8E5M2, false}, {"F8_E8M0", Elem::kF8E8M0FNU, false},
    {"F4", Elem::kF4E2M1FN, false},
};

struct Tensor {
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> offsets;
};

absl::Status ReadTensor(JsonReader& r, Tensor* t) {
  const auto integers = [&](std::vector<int64_t>* out, size_t limit) {
    out->clear();
    return r.List([&]() -> absl::Status {
      if (out->size() >= limit) return r.Error(absl::StrCat("more than ", limit, " numbers"));
      return r.Integer(&out->emplace_back());
    });
  };
  return r.Object([&](const std::string& key) {
    if (key == "dtype") return r.String(&t->dtype);
    if (key == "shape") return integers(&t->shape, kMaxRank);
    if (key == "data_offsets") return integers(&t->offsets, 2);
    return r.Error(absl::StrCat("unknown key '", absl::Utf8SafeCEscape(key), "'"));
  });
}

}  // namespace

bool LooksLikeSafetensors(absl::Span<const uint8_t> bytes) {
  if (bytes.size() < 10) return false;
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  return length >= 2 && length <= bytes.size() - 8 && bytes[8] == '{';
}

absl::StatusOr<Array> ReadSafetensors(AlignedBuffer bytes, absl::string_view file, absl::string_view name) {
  if (bytes.size() < 8) return WithName(file, "is too short for a .safetensors file");
  uint64_t length;
  std::memcpy(&length, bytes.data(), 8);
  if (length > kMaxHeader || length > bytes.size() - 8) {
    return WithName(file, absl::StrCat("offset 0: a header of ", length, " bytes does not fit the file (", bytes.size(),
                                       " bytes; at most ", kMaxHeader, ")"));
  }
  // Tensors are looked at one by one; only the wanted one and the names are kept.
  JsonReader r(absl::string_view(reinterpret_cast<const char*>(bytes.data()) + 8, length), 8);
  std::vector<std::string> names;
  absl::flat_hash_set<std::string> seen;
  std::optional<Tensor> found;
  absl::Status s = r.Object([&](const std::string& key) -> absl::Status {
    if (!seen.insert(key).second) return r.Error(absl::StrCat("'", absl::Utf8SafeCEscape(key), "' stands twice"));
    if (key == "__metadata__") return r.Skip();
    Tensor t;
    if (absl::Status s = ReadTensor(r, &t); !s.ok()) return s;
    names.push_back(key);
    if (name.empty() || key == name) found = std::move(t);
    return absl::OkStatus();
  });
  if (s.ok()) s = r.End();
  if (!s.ok()) return WithName(file, s);
  if (!found.has_value()) {
    if (name.empty()) return WithName(file, absl::NotFoundError("has no tensor at all"));
    return WithName(file, absl::NotFoundError(absl::StrCat("has no tensor '", name, "'; it has ", NameList(names))));
  }
  if (name.empty() && names.size() > 1) {
    return WithName(
        file, absl::StrCat("has ", names.size(), " tensors; choose one with ", file, ":NAME of ", NameList(names)));
  }
  const std::string full = absl::StrCat(file, ":", absl::Utf8SafeCEscape(name.empty() ? names[0] : name));
  const TypeName* type = nullptr;
  for (const TypeName& t : kTypes) {
    if (found->dtype == t.name) type = &t;
  }
  if (type == nullptr) {
    return WithName(
        full,
        absl::StrCat("dtype '", absl::Utf8SafeCEscape(found->dtype), "' is not supported; ",
                     absl::StrJoin(kTypes, ", ", [](std::string* out, const TypeName& t) { *out += t.name; }), " are"));
  }
  if (found->offsets.size() != 2) return WithName(full, "lacks data_offsets of two numbers");
  const ir::Element element = ir::Element::Number(type->elem);
  const absl::StatusOr<int64_t> count = CountElements(found->shape);
  if (!count.ok()) return WithName(full, count.status());
  const absl::StatusOr<int64_t> size = BytesOf(element, *count);
  if (!size.ok()) return WithName(full, size.status());
  const int64_t begin = found->offsets[0], end = found->offsets[1];
  const int64_t data = static_cast<int64_t>(bytes.size() - 8 - length);
  if (begin > end || end > data) {
    return WithName(
        full, absl::StrCat("data_offsets [", begin, ",", end, "] lie outside the file's ", data, " bytes of data"));
  }
  if (end - begin != *size) {
    return WithName(full, absl::StrCat("data_offsets [", begin, ",", end, "] are ", end - begin, " bytes; ",
                                       found->dtype, " [", absl::StrJoin(found->shape, ","), "] takes ", *size));
  }
  absl::StatusOr<AlignedBuffer> part = AlignedBuffer::TakePart(std::move(bytes), 8 + length + begin, *size);
  if (!part.ok()) return WithName(full, part.status());
  return Array{element, std::move(found->shape), *std::move(part), type->is_unsigned};
}

absl::Status WriteSafetensors(absl::Span<const NamedArray> arrays, OutputFile& out) {
  std::vector<std::string> entries;
  int64_t offset = 0;
  for (const NamedArray& a : arrays) {
    const Elem elem = a.array.element.kind == Elem::kTF32 ? Elem::kF32 : a.array.element.kind;
    const TypeName* type = nullptr;
    for (const TypeName& t : kTypes) {
      if (t.elem == elem && (t.is_unsigned == a.array.is_unsigned || elem == Elem::kI1 || ir::IsFloat(elem))) type = &t;
    }
    if (type == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(".safetensors has no name for ", ir::ElemInfoOf(elem).spelling, "; .npy and .bin can hold it"));
    }
    const int64_t size = a.array.bytes.size();
    entries.push_back(absl::StrCat(JsonQuote(a.name), ":{\"dtype\":\"", type->name, "\",\"shape\":[",
                                   absl::StrJoin(a.array.shape, ","), "],\"data_offsets\":[", offset, ",",
                                   offset + size, "]}"));
    offset += size;
  }
  // Spaces bring the first tensor to a multiple of 64, so that it can be used where it is mapped.
  std::string header = absl::StrCat("{", absl::StrJoin(entries, ","), "}");
  header.resize((8 + header.size() + 63) / 64 * 64 - 8, ' ');
  const uint64_t length = header.size();
  if (absl::Status s = out.Write({reinterpret_cast<const uint8_t*>(&length), 8}); !s.ok()) return s;
  if (absl::Status s = out.Write(header); !s.ok()) return s;
  for (const NamedArray& a : arrays) {
    const auto write = [&](absl::Span<const uint8_t> bytes) { return out.Write(bytes); };
    const absl::Status s = ir::IsSubByte(a.array.element.kind) ? write(a.array.bytes) : NpyData(a.array, write);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace tile::tools
