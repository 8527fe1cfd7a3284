// The header is a Python dictionary literal of three keys:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (128, 64), }
// A reader of just that subset parses it; whatever else is there is an error with its offset.

#include "tools/data/npy.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tools/data/transpose.h"

namespace tile::tools {
namespace {

using ir::Elem;
using ir::Element;

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMaxHeader = size_t{1} << 20;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;
};

// The subset of Python's literals that headers have.
class HeaderParser {
 public:
  HeaderParser(absl::string_view text, size_t offset) : text_(text), offset_(offset) {}

  absl::Status Parse(Header* h) {
    bool seen[3] = {};
    if (!Take('{')) return Expected("'{'");
    while (!Take('}')) {
      std::string key;
      if (absl::Status s = String(&key); !s.ok()) return s;
      if (!Take(':')) return Expected("':'");
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0) return Error(absl::StrCat("unknown key '", absl::CHexEscape(key), "'"));
      if (std::exchange(seen[which], true)) return Error(absl::StrCat("key '", key, "' stands twice"));
      const absl::Status s = which == 0 ? Descr(&h->descr) : which == 1 ? Bool(&h->fortran_order) : Shape(&h->shape);
      if (!s.ok()) return s;
      if (!Take(',') && !At('}')) return Expected("',' or '}'");
    }
    Space();
    if (pos_ != text_.size()) return Expected("the end of the header");
    if (!seen[0] || !seen[1] || !seen[2]) return Error("the header lacks descr, fortran_order or shape");
    return absl::OkStatus();
  }

 private:
  void Space() {
    while (pos_ < text_.size() && absl::ascii_isspace(text_[pos_])) ++pos_;
  }
  bool At(char c) {
    Space();
    return pos_ < text_.size() && text_[pos_] == c;
  }
  bool Take(char c) {
    if (!At(c)) return false;
    ++pos_;
    return true;
  }
  bool TakeWord(absl::string_view word) {
    Space();
    if (!absl::StartsWith(text_.substr(pos_), word)) return false;
    pos_ += word.size();
    return true;
  }
  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("offset ", offset_ + pos_, ": ", what));
  }
  absl::Status Expected(absl::string_view what) const {
    return Error(absl::StrCat("expected ", what, " in the header"));
  }

  absl::Status String(std::string* out) {
    Space();
    const char quote = pos_ < text_.size() ? text_[pos_] : 0;
    if (quote != '\'' && quote != '"') return Expected("a quoted string");
    const size_t end = text_.find(quote, pos_ + 1);
    if (end == absl::string_view::npos) return Expected("the string's closing quote");
    *out = std::string(text_.substr(pos_ + 1, end - pos_ - 1));
    pos_ = end + 1;
    return absl::OkStatus();
  }
  absl::Status Descr(std::string* out) {
    if (At('[') || At('(')) return Error("structured types are not supported; save one array of numbers a file");
    return String(out);
  }
  absl::Status Bool(bool* out) {
    *out = TakeWord("True");
    return *out || TakeWord("False") ? absl::OkStatus() : Expected("True or False");
  }
  absl::Status Shape(std::vector<int64_t>* out) {
    if (!Take('(')) return Expected("'('");
    while (!Take(')')) {
      Space();
      const size_t start = pos_;
      while (pos_ < text_.size() && absl::ascii_isdigit(text_[pos_])) ++pos_;
      int64_t d;
      if (!absl::SimpleAtoi(text_.substr(start, pos_ - start), &d)) {
        pos_ = start;
        return Expected("a dimension");
      }
      if (out->size() >= kMaxRank) return Error(absl::StrCat("rank above ", kMaxRank));
      out->push_back(d);
      Take('L');  // Python 2
      if (!Take(',') && !At(')')) return Expected("',' or ')'");
    }
    return absl::OkStatus();
  }

  absl::string_view text_;
  size_t offset_;
  size_t pos_ = 0;
};

absl::Status ParseHeader(absl::Span<const uint8_t> file, Header* h) {
  const absl::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!absl::StartsWith(text, kMagic))
    return absl::InvalidArgumentError("is not a .npy file: it lacks the magic bytes");
  if (file.size() < 10) return absl::InvalidArgumentError("ends inside its header");
  const int major = file[6];
  if (major < 1 || major > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("offset 6: format version ", major, ".", file[7], " is not known; 1.0, 2.0 and 3.0 are"));
  }
  const size_t prefix = major == 1 ? 10 : 12;
  if (file.size() < prefix) return absl::InvalidArgumentError("ends inside its header");
  size_t length = file[8] | file[9] << 8;
  if (major > 1) length |= size_t{file[10]} << 16 | size_t{file[11]} << 24;
  if (length > file.size() - prefix) {
    return absl::InvalidArgumentError(absl::StrCat("offset 8: a header of ", length, " bytes does not fit the file"));
  }
  if (length > kMaxHeader) return absl::InvalidArgumentError(absl::StrCat("offset 8: a header of ", length, " bytes"));
  h->data_offset = prefix + length;
  return HeaderParser(text.substr(prefix, length), prefix).Parse(h);
}

struct Dtype {
  Elem elem;
  int bytes;
  bool swap = false;
  bool is_unsigned = false;
};

// Why a descriptor is none of ours.
std::string Unsupported(absl::string_view descr) {
  static constexpr struct {
    const char* start;
    const char* meaning;
  } kKinds[] = {{"c8", "complex64"}, {"c16", "complex128"},
                {"c", "complex"},    {"O", "Python objects"},
                {"S", "text"},       {"a", "text"},
                {"U", "text"},       {"M", "dates"},
                {"m", "durations"},  {"f", "a float of another width"}};
  absl::string_view body = descr;
  while (!body.empty() && absl::StrContains("<>|=", body.substr(0, 1))) body.remove_prefix(1);
  std::string meaning;
  for (const auto& k : kKinds) {
    if (!meaning.empty() || !absl::StartsWith(body, k.start)) continue;
    meaning = absl::StrCat(" (", k.meaning, ")");
  }
  return absl::StrCat("dtype '", absl::CHexEscape(descr), "'", meaning,
                      " is not supported; real and integer types are (bool, i1 to i8, u1 to u8, f2, f4, f8)");
}

absl::StatusOr<Dtype> ParseDescr(const std::string& descr, std::optional<Elem> raw_as) {
  static constexpr struct {
    const char* name;
    Elem elem;
  } kMlTypes[] = {{"bfloat16", Elem::kBF16},
                  {"float8_e4m3fn", Elem::kF8E4M3FN},
                  {"float8_e5m2", Elem::kF8E5M2},
                  {"float8_e8m0fnu", Elem::kF8E8M0FNU},
                  {"float4_e2m1fn", Elem::kF4E2M1FN},
                  {"int4", Elem::kI4},
                  {"uint4", Elem::kI4}};
  for (const auto& t : kMlTypes) {
    if (descr == t.name) return Dtype{t.elem, t.elem == Elem::kBF16 ? 2 : 1, false, descr[0] == 'u'};
  }
  absl::string_view body = descr;
  const char order = body.empty() ? 0 : body[0];
  if (order == '<' || order == '>' || order == '|' || order == '=') body.remove_prefix(1);
  int bytes;
  if (body.size() < 2 || !absl::ascii_isdigit(body[1]) || !absl::SimpleAtoi(body.substr(1), &bytes)) {
    return body == "?" ? absl::StatusOr<Dtype>(Dtype{Elem::kI1, 1}) : absl::InvalidArgumentError(Unsupported(descr));
  }
  static constexpr struct {
    const char* name;
    Elem elem;
    int bytes;
  } kTypes[] = {{"b1", Elem::kI1, 1},    {"i1", Elem::kI8, 1},  {"i2", Elem::kI16, 2}, {"i4", Elem::kI32, 4},
                {"i8", Elem::kI64, 8},   {"u1", Elem::kI8, 1},  {"u2", Elem::kI16, 2}, {"u4", Elem::kI32, 4},
                {"u8", Elem::kI64, 8},   {"f2", Elem::kF16, 2}, {"f4", Elem::kF32, 4}, {"f8", Elem::kF64, 8},
                {"f1", Elem::kF8E5M2, 1}};
  for (const auto& t : kTypes) {
    if (body == t.name) return Dtype{t.elem, t.bytes, order == '>' && t.bytes > 1, body[0] == 'u'};
  }
  if (body[0] != 'V') return absl::InvalidArgumentError(Unsupported(descr));
  if (!raw_as.has_value()) {
    const char* example = bytes == 2 ? "bf16" : bytes == 1 ? "f8E4M3FN" : "f32";
    return absl::InvalidArgumentError(
        absl::StrCat("dtype '", descr,
                     "' (raw bytes, as NumPy stores bfloat16 and float8) does not say what the elements are; add "
                     "the type: FILE.npy:",
                     example));
  }
  const int wanted = ir::StorageBytes(*raw_as);
  if (bytes != wanted) {
    return absl::InvalidArgumentError(absl::StrCat("dtype '", descr, "' has ", bytes, " bytes an element; ",
                                                   ir::ElemInfoOf(*raw_as).spelling, " has ", wanted));
  }
  return Dtype{*raw_as, bytes, order == '>' && bytes > 1};
}

// Elements of one byte each become nibbles, in place.
void PackNibbles(uint8_t* data, int64_t n) {
  for (int64_t i = 0; i + 1 < n; i += 2) data[i / 2] = static_cast<uint8_t>((data[i] & 15) | data[i + 1] << 4);
  if (n % 2 != 0) data[n / 2] = data[n - 1] & 15;
}

// The letter of a type's descriptor.
char Kind(const ArrayView& array) {
  switch (array.element.kind) {
    case Elem::kI1: return 'b';
    case Elem::kF16:
    case Elem::kF32:
    case Elem::kTF32:
    case Elem::kF64: return 'f';
    default: return !ir::IsInt(array.element.kind) ? 'V' : array.is_unsigned ? 'u' : 'i';
  }
}

}  // namespace

absl::StatusOr<Array> ReadNpy(AlignedBuffer file, absl::string_view name, std::optional<Elem> raw_as) {
  Header h;
  if (absl::Status s = ParseHeader(file.span(), &h); !s.ok()) return WithName(name, s);
  const absl::StatusOr<Dtype> dtype = ParseDescr(h.descr, raw_as);
  if (!dtype.ok()) return WithName(name, dtype.status());
  const absl::StatusOr<int64_t> count = CountElements(h.shape);
  if (!count.ok()) return WithName(name, count.status());
  const int64_t have = static_cast<int64_t>(file.size() - h.data_offset);
  if (*count > have / dtype->bytes || *count * dtype->bytes != have) {
    return WithName(name, absl::StrCat("has ", have, " bytes after its header; shape [", absl::StrJoin(h.shape, ","),
                                       "] of '", h.descr, "' takes ", *count, " x ", dtype->bytes));
  }
  const uint8_t* source = file.data() + h.data_offset;
  const bool transpose = h.fortran_order && h.shape.size() > 1;
  absl::StatusOr<AlignedBuffer> data =
      transpose ? AlignedBuffer::Uninitialized(have) : AlignedBuffer::TakePart(std::move(file), h.data_offset, have);
  if (!data.ok()) return WithName(name, data.status());
  if (transpose) FortranToRowMajor(source, h.shape, dtype->bytes, data->data());
  if (dtype->swap) SwapBytes(data->data(), *count, dtype->bytes);
  if (ir::IsSubByte(dtype->elem)) {
    PackNibbles(data->data(), *count);
    data->Narrow(0, (*count + 1) / 2);
  }
  return Array{Element::Number(dtype->elem), std::move(h.shape), *std::move(data), dtype->is_unsigned};
}

std::string NpyHeader(const ArrayView& array) {
  const Elem elem = array.element.kind;
  const int bytes = ir::StorageBytes(elem);
  const char kind = Kind(array);
  const std::string shape =
      array.shape.size() == 1 ? absl::StrCat(array.shape[0], ",") : absl::StrJoin(array.shape, ", ");
  std::string dict = absl::StrCat("{'descr': '", bytes == 1 ? "|" : "<", absl::string_view(&kind, 1), bytes,
                                  "', 'fortran_order': False, 'shape': (", shape, "), }");
  // Rank 32 with long dimensions stays far below version 1.0's limit of 65535 bytes.
  const size_t padded = (10 + dict.size() + 1 + 63) / 64 * 64;
  dict.resize(padded - 10 - 1, ' ');
  dict.push_back('\n');
  std::string header(kMagic);
  header.push_back(1);
  header.push_back(0);
  header.push_back(static_cast<char>(dict.size() & 0xFF));
  header.push_back(static_cast<char>(dict.size() >> 8));
  return header + dict;
}

int64_t NpyDataBytes(const ArrayView& array) { return array.count() * ir::StorageBytes(array.element.kind); }

absl::Status NpyData(const ArrayView& array, absl::FunctionRef<absl::Status(absl::Span<const uint8_t>)> sink) {
  const Elem elem = array.element.kind;
  if (!ir::IsSubByte(elem) && elem != Elem::kTF32 && elem != Elem::kI1) return sink(array.bytes);
  constexpr int64_t kPiece = 1 << 14;
  std::vector<uint8_t> piece;
  const int bytes = ir::StorageBytes(elem);
  for (int64_t first = 0, count = array.count(); first < count; first += kPiece) {
    const int64_t n = std::min(kPiece, count - first);
    piece.resize(n * bytes);
    for (int64_t i = 0; i < n; ++i) {
      uint64_t bits = LoadBits(elem, array.bytes.data(), first + i);
      if (elem == Elem::kTF32) bits &= 0xFFFFE000;
      std::memcpy(piece.data() + i * bytes, &bits, bytes);
    }
    if (absl::Status s = sink(piece); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status WriteNpy(const ArrayView& array, OutputFile& out) {
  if (absl::Status s = out.Write(NpyHeader(array)); !s.ok()) return s;
  return NpyData(array, [&](absl::Span<const uint8_t> bytes) { return out.Write(bytes); });
}

}  // namespace tile::tools
