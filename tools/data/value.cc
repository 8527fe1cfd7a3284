#include "tools/data/value.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "ir/did_you_mean.h"
#include "ir/foreign_file.h"
#include "ir/foreign_names.h"
#include "tools/data/element_text.h"
#include "tools/data/files.h"
#include "tools/data/npy.h"
#include "tools/data/npz.h"
#include "tools/data/png_image.h"
#include "tools/data/safetensors.h"

namespace tile::tools {
namespace {

using ir::Elem;

constexpr int64_t kInferred = -1;

constexpr absl::string_view kGenerators[] = {"rand", "normal", "zeros", "ones", "arange", "full"};

struct Spec {
  ir::Element element;
  bool is_unsigned = false;
  std::vector<int64_t> shape;
  bool has_shape = false;
};

// "f32[4,?]" or "f32". False with an empty *error: does not look like a spec.
bool ParseSpec(absl::string_view text, Spec* spec, std::string* error) {
  error->clear();
  const size_t bracket = text.find('[');
  if (!ParseElementName(absl::StripAsciiWhitespace(text.substr(0, bracket)), &spec->element, &spec->is_unsigned))
    return false;
  if (bracket == absl::string_view::npos) return true;
  spec->has_shape = true;
  absl::string_view dims = text.substr(bracket + 1);
  if (!absl::ConsumeSuffix(&dims, "]")) {
    *error = "the shape lacks its ']'";
    return false;
  }
  if (absl::StripAsciiWhitespace(dims).empty()) return true;
  int inferred = 0;
  for (absl::string_view dim : absl::StrSplit(dims, ',')) {
    dim = absl::StripAsciiWhitespace(dim);
    int64_t d = kInferred;
    if (dim == "?" ? ++inferred > 1 : !absl::SimpleAtoi(dim, &d) || d < 0) {
      *error = absl::StrCat("dimension '", dim, "' is not a number", dim == "?" ? " (one may be '?')" : "");
      return false;
    }
    spec->shape.push_back(d);
  }
  return true;
}

absl::StatusOr<Value> ParseGenerator(absl::string_view text, absl::string_view kind, absl::string_view rest,
                                     const ValueOptions& options) {
  const size_t equals = rest.find('=');
  const absl::string_view parameter = equals == absl::string_view::npos ? "" : rest.substr(equals + 1);
  Spec spec;
  std::string error;
  if (!ParseSpec(rest.substr(0, equals), &spec, &error) || !spec.has_shape) {
    const absl::string_view type = rest.substr(0, rest.find_first_of("[="));
    const std::string meant = absl::StrCat(ir::ElementAdvice(type));
    return WithName(text, !error.empty() ? error
                                         : absl::StrCat("expected a type and a shape, such as ", kind, ":f32[64,64]",
                                                        meant.empty() ? "" : absl::StrCat("; ", meant)));
  }
  for (int64_t d : spec.shape) {
    if (d == kInferred) return WithName(text, "every dimension must be a number");
  }
  Generator g;
  g.element = spec.element;
  g.shape = std::move(spec.shape);
  g.is_unsigned = spec.is_unsigned;
  g.seed = options.seed;
  g.stream = options.stream;
  if ((kind == "full") != (equals != absl::string_view::npos) && !(kind == "rand")) {
    return WithName(text, kind == "full" ? "expected the value, as in full:f32[4]=3.5" : "takes no '='");
  }
  if (kind == "rand" || kind == "normal" || kind == "arange") {
    g.kind = kind == "rand"     ? Generator::Kind::kRand
             : kind == "normal" ? Generator::Kind::kNormal
                                : Generator::Kind::kArange;
  } else {
    const absl::StatusOr<uint64_t> bits =
        ParseElement(g.element.kind, kind == "zeros"  ? "0"
                                     : kind == "ones" ? "1"
                                                      : absl::StripAsciiWhitespace(parameter));
    if (!bits.ok()) return WithName(text, bits.status());
    g.fill = *bits;
  }
  if (kind == "rand" && equals != absl::string_view::npos) {
    const std::pair<absl::string_view, absl::string_view> bounds = absl::StrSplit(parameter, absl::MaxSplits("..", 1));
    if (!absl::SimpleAtod(bounds.first, &g.low) || !absl::SimpleAtod(bounds.second, &g.high)) {
      return WithName(text, "expected bounds, as in rand:i32[8]=0..10");
    }
    g.has_bounds = true;
  }
  if (absl::Status s = g.Check(); !s.ok()) return WithName(text, s);
  return Value(std::move(g));
}

// The bytes of a file as the spec says.
absl::StatusOr<Value> RawArray(AlignedBuffer bytes, absl::string_view text, Spec spec) {
  if (!spec.has_shape) spec.shape = {kInferred};
  const int64_t size = static_cast<int64_t>(bytes.size());
  int64_t* inferred = nullptr;
  std::vector<int64_t> rest;
  for (int64_t& d : spec.shape) {
    if (d == kInferred) {
      inferred = &d;
    } else {
      rest.push_back(d);
    }
  }
  const absl::StatusOr<int64_t> others = CountElements(rest);
  if (!others.ok()) return WithName(text, others.status());
  if (inferred != nullptr) {
    const int64_t elements = size * 8 / ir::MemoryBits(spec.element.kind);
    *inferred = *others == 0 ? 0 : elements / *others;
  }
  const absl::StatusOr<int64_t> count = CountElements(spec.shape);
  if (!count.ok()) return WithName(text, count.status());
  const absl::StatusOr<int64_t> need = BytesOf(spec.element, *count);
  if (!need.ok()) return WithName(text, need.status());
  Array array{spec.element, std::move(spec.shape), std::move(bytes), spec.is_unsigned};
  if (*need != size) {
    return WithName(text, absl::StrCat("the file has ", size, " bytes; ", TypeText(array), " takes ", *need));
  }
  return Value(std::move(array));
}

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

// "-", "-:f16[4]", "-.npz:name".
bool IsStdin(absl::string_view text) {
  return text == "-" || absl::StartsWith(text, "-:") || absl::StartsWith(text, "-.");
}

// x.npy:bf16
absl::StatusOr<Value> NpyAs(AlignedBuffer bytes, absl::string_view text, const Spec& spec) {
  if (spec.has_shape) return WithName(text, "the shape stands in the file; name the type only");
  absl::StatusOr<Array> array = ReadNpy(std::move(bytes), text, spec.element.kind);
  if (!array.ok()) return array.status();
  const Elem from = array->element.kind, to = spec.element.kind;
  // bfloat16 and float8 are also kept as integers of their width.
  const bool same_width = !ir::IsSubByte(from) && ir::MemoryBits(from) == ir::MemoryBits(to);
  if (from != to && !(ir::IsInt(from) && same_width)) {
    return WithName(text, absl::StrCat("the file holds ", ElementText(array->element, array->is_unsigned),
                                       ", which is not ", ElementText(spec.element, spec.is_unsigned),
                                       "; only integers and raw bytes of the same width are taken as another type"));
  }
  array->element = spec.element;
  array->is_unsigned = spec.is_unsigned;
  return Value(*std::move(array));
}

// What the contents of the file are, in case they are not what its name says.
absl::StatusOr<Value> FromArray(absl::StatusOr<Array> array, const ir::ForeignFile* foreign) {
  if (array.ok()) return Value(*std::move(array));
  constexpr ir::ForeignKind kArrays[] = {ir::ForeignKind::kNpy, ir::ForeignKind::kNpz, ir::ForeignKind::kZip,
                                         ir::ForeignKind::kSafetensors, ir::ForeignKind::kPng};
  if (foreign == nullptr || std::count(std::begin(kArrays), std::end(kArrays), foreign->kind) > 0) {
    return array.status();
  }
  return absl::Status(array.status().code(), absl::StrCat(array.status().message(), "; it is ", foreign->what));
}

Value::Raw RawAdvice(const std::string& path, const ir::ForeignFile* foreign) {
  if (foreign == nullptr) {
    return {"the file holds no array that tilevm knows (.npy, .npz, .safetensors, .png), but bytes",
            absl::StrCat("say what they are: ", path, ":f32 or ", path, ":f32[64,64]")};
  }
  const std::string advice = foreign->ForArray(path);
  return {
      absl::StrCat("the file is ", foreign->what, ", not an array that tilevm reads (.npy, .npz, .safetensors, .png)"),
      absl::StrCat(advice.empty() ? "write the numbers with numpy.save('x.npy', array)" : advice,
                   "; its bytes as they are: ", path, ":u8")};
}

enum class Form { kBytes, kNpy, kNpz, kSafetensors, kPng };

Form FormOfName(absl::string_view path) {
  if (absl::EndsWithIgnoreCase(path, ".npy")) return Form::kNpy;
  if (absl::EndsWithIgnoreCase(path, ".npz")) return Form::kNpz;
  if (absl::EndsWithIgnoreCase(path, ".safetensors")) return Form::kSafetensors;
  if (absl::EndsWithIgnoreCase(path, ".png")) return Form::kPng;
  return Form::kBytes;
}

Form FormOfContent(absl::Span<const uint8_t> bytes) {
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (absl::StartsWith(text, "\x93NUMPY")) return Form::kNpy;
  if (absl::StartsWith(text, "PK\x03\x04") || absl::StartsWith(text, "PK\x05\x06")) return Form::kNpz;
  if (absl::StartsWith(text, "\x89PNG\r\n\x1a\n")) return Form::kPng;
  return LooksLikeSafetensors(bytes) ? Form::kSafetensors : Form::kBytes;
}

absl::StatusOr<Value> ReadFile(absl::string_view text, const ValueOptions& options) {
  std::string path(text);
  absl::string_view suffix;
  bool has_suffix = false;
  const bool from_stdin = IsStdin(text);
  if (text != "-" && (from_stdin || !Exists(path))) {
    // The suffix starts after an extension that has members, else at the last colon.
    size_t colon = text.rfind(':');
    for (size_t c = text.find(':'); c != absl::string_view::npos; c = text.find(':', c + 1)) {
      const Form form = FormOfName(text.substr(0, c));
      if (form != Form::kNpz && form != Form::kSafetensors) continue;
      colon = c;
      break;
    }
    has_suffix = colon != absl::string_view::npos && colon > 0;
    if (has_suffix) {
      path = std::string(text.substr(0, colon));
      suffix = text.substr(colon + 1);
    }
  }
  Form form = FormOfName(path);
  if (from_stdin && path != "-" && form == Form::kBytes && !absl::EndsWithIgnoreCase(path, ".bin")) {
    return WithName(text,
                    "stdin is read as -.npy, -.npz, -.safetensors, -.png or -.bin; a file of this name is ./NAME");
  }
  const bool has_members = form == Form::kNpz || form == Form::kSafetensors;
  Spec spec;
  bool has_spec = false;
  if (has_suffix && !has_members) {
    std::string error;
    has_spec = ParseSpec(suffix, &spec, &error);
    if (!error.empty()) return WithName(text, error);
    if (!has_spec && (from_stdin || Exists(path))) {
      return WithName(text, absl::StrCat("'", suffix, "' is not a type and shape, such as f16[64,64]"));
    }
    if (!has_spec) path = std::string(text);
  }
  absl::StatusOr<AlignedBuffer> bytes = ReadWholeFile(from_stdin ? "-" : path);
  if (!bytes.ok()) return bytes.status();
  if (has_spec) {
    return form == Form::kNpy ? NpyAs(*std::move(bytes), text, spec)
                              : RawArray(*std::move(bytes), text, std::move(spec));
  }
  if (path == "-") form = FormOfContent(bytes->span());
  const std::string name = from_stdin ? "stdin" : path;
  const ir::ForeignFile* foreign = ir::FindForeignFile(bytes->span(), form == Form::kBytes ? path : "");
  switch (form) {
    case Form::kNpy: return FromArray(ReadNpy(*std::move(bytes), name, options.raw_as), foreign);
    case Form::kNpz: return FromArray(ReadNpz(*std::move(bytes), name, suffix, options.raw_as), foreign);
    case Form::kSafetensors: return FromArray(ReadSafetensors(*std::move(bytes), name, suffix), foreign);
    case Form::kPng: return FromArray(ReadPng(bytes->span(), name), foreign);
    case Form::kBytes: break;
  }
  absl::StatusOr<Value> raw = RawArray(*std::move(bytes), name, {ir::Element::Number(Elem::kI8), true, {}, false});
  if (raw.ok()) raw->set_raw(RawAdvice(path, foreign));
  return raw;
}

// "randn:f32[8]": a word before a type and a shape, and no file of that name.
std::string GeneratorAdvice(absl::string_view text) {
  constexpr std::pair<absl::string_view, absl::string_view> kOthers[] = {
      {"randn", "normal"}, {"gauss", "normal"}, {"gaussian", "normal"}, {"random", "rand"},     {"uniform", "rand"},
      {"randint", "rand"}, {"range", "arange"}, {"iota", "arange"},     {"linspace", "arange"}, {"constant", "full"},
      {"const", "full"},   {"fill", "full"},    {"empty", "zeros"},     {"zero", "zeros"},      {"one", "ones"},
  };
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos || !absl::StrContains(text.substr(colon), "[") ||
      Exists(std::string(text.substr(0, colon)))) {
    return "";
  }
  const absl::string_view word = text.substr(0, colon);
  for (const char c : word) {
    if (!absl::ascii_isalpha(c) && c != '_') return "";
  }
  absl::string_view meant;
  for (const auto& [other, own] : kOthers) {
    if (absl::EqualsIgnoreCase(word, other)) meant = own;
  }
  const std::string said = meant.empty() ? ir::DidYouMean(word, {kGenerators, kGenerators + std::size(kGenerators)})
                                         : absl::StrCat("did you mean ", meant, text.substr(colon), "?");
  return said.empty() ? ""
                      : absl::StrCat("nothing makes arrays by the name ", word, ", and there is no such file; ", said);
}

}  // namespace

ir::Element Value::element() const {
  if (const Array* a = std::get_if<Array>(&form_)) return a->element;
  return std::get<Generator>(form_).element;
}

absl::Span<const int64_t> Value::shape() const {
  if (const Array* a = std::get_if<Array>(&form_)) return a->shape;
  return std::get<Generator>(form_).shape;
}

bool Value::is_unsigned() const {
  if (const Array* a = std::get_if<Array>(&form_)) return a->is_unsigned;
  return std::get<Generator>(form_).is_unsigned;
}

std::string Value::type_text() const { return TypeText({element(), shape(), {}, is_unsigned()}); }

int64_t Value::bytes() const { return *BytesOf(element(), *CountElements(shape())); }

absl::StatusOr<Array> Value::TakeArray(std::atomic<int64_t>* made) && {
  if (Array* a = std::get_if<Array>(&form_)) return std::move(*a);
  if (const Generator* g = std::get_if<Generator>(&form_)) return g->Make(made);
  return absl::InvalidArgumentError(absl::StrCat(scalar(), " is a scalar, not an array"));
}

void Value::CopyTo(absl::Span<uint8_t> memory) const {
  if (const Generator* g = std::get_if<Generator>(&form_)) return g->Fill(memory);
  const Array& a = std::get<Array>(form_);
  std::copy_n(a.bytes.data(), a.bytes.size(), memory.data());
}

absl::StatusOr<Value> ParseValue(absl::string_view text, const ValueOptions& options) {
  text = absl::StripAsciiWhitespace(text);
  if (text.empty()) return absl::InvalidArgumentError("an empty value; expected a number, a file or rand:f32[64,64]");
  for (absl::string_view kind : kGenerators) {
    absl::string_view rest = text;
    if (absl::ConsumePrefix(&rest, kind) && absl::ConsumePrefix(&rest, ":")) {
      return ParseGenerator(text, kind, rest, options);
    }
  }
  if (IsScalarText(text)) return Value(std::string(text));
  if (const std::string meant = GeneratorAdvice(text); !meant.empty()) return WithName(text, meant);
  return ReadFile(text, options);
}

}  // namespace tile::tools
