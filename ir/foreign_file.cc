#include "ir/foreign_file.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace tile::ir {
namespace {

using Kind = ForeignKind;

constexpr ForeignFile kFiles[] = {
#define TILE_FOREIGN_FILE(Name, ...) {Kind::k##Name, __VA_ARGS__},
#include "ir/foreign_files.def"
};

const ForeignFile* Of(Kind kind) { return &kFiles[static_cast<size_t>(kind)]; }

// --- binary files ---------------------------------------------------------------------------------------------------

// All bytes of a literal, zeros too.
template <size_t N>
constexpr absl::string_view Bytes(const char (&literal)[N]) {
  return {literal, N - 1};
}

constexpr struct {
  absl::string_view bytes;
  size_t at;
  Kind kind;
} kMagic[] = {
    {Bytes("GGUF"), 0, Kind::kGguf},
    {Bytes("\x89HDF\r\n\x1a\n"), 0, Kind::kHdf5},
    {Bytes("PAR1"), 0, Kind::kParquet},
    {Bytes("ARROW1"), 0, Kind::kArrow},
    {Bytes("MATLAB 5.0 MAT-file"), 0, Kind::kMatlab},
    {Bytes("TFL3"), 4, Kind::kTfLite},
    {Bytes("SQLite format 3\0"), 0, Kind::kSqlite},
    {Bytes("\x93NUMPY"), 0, Kind::kNpy},
    {Bytes("\x89PNG\r\n\x1a\n"), 0, Kind::kPng},
    {Bytes("\xFF\xD8\xFF"), 0, Kind::kImage},
    {Bytes("GIF87a"), 0, Kind::kImage},
    {Bytes("GIF89a"), 0, Kind::kImage},
    {Bytes("WEBPVP8"), 8, Kind::kImage},
    {Bytes("II*\0"), 0, Kind::kImage},
    {Bytes("MM\0*"), 0, Kind::kImage},
    {Bytes("\x1F\x8B"), 0, Kind::kGzip},
    {Bytes("\x28\xB5\x2F\xFD"), 0, Kind::kZstd},
    {Bytes("\xFD\x37zXZ\0"), 0, Kind::kXz},
    {Bytes("BZh"), 0, Kind::kBzip2},
    {Bytes("ustar"), 257, Kind::kTar},
    {Bytes("\x50\xED\x55\xBA"), 0, Kind::kFatbin},
    {Bytes("BC\xC0\xDE"), 0, Kind::kLlvmBitcode},
    {Bytes("ML\xEFR"), 0, Kind::kMlirBytecode},
    {Bytes("\x03\x02\x23\x07"), 0, Kind::kSpirv},
};

const ForeignFile* BinaryFile(absl::string_view bytes) {
  for (const auto& m : kMagic) {
    if (bytes.size() >= m.at && absl::StartsWith(bytes.substr(m.at), m.bytes)) return Of(m.kind);
  }
  const absl::string_view head = bytes.substr(0, 4096);
  if (absl::StartsWith(bytes, "PK\x03\x04") || absl::StartsWith(bytes, "PK\x05\x06")) {
    if (absl::StrContains(head, "/data.pkl") || absl::StrContains(head, "/.format_version")) return Of(Kind::kTorchZip);
    return Of(absl::StrContains(head, ".npy") ? Kind::kNpz : Kind::kZip);
  }
  if (bytes.size() > 20 && absl::StartsWith(bytes,
                                            "\x7F"
                                            "ELF")) {
    constexpr uint8_t kCuda = 190;  // e_machine
    return Of(static_cast<uint8_t>(bytes[18]) == kCuda && bytes[19] == 0 ? Kind::kCubin : Kind::kElf);
  }
  // torch.save before 1.6 began with a number of its own.
  if (absl::StartsWith(bytes, "\x80\x02\x8A\nl\xFC\x9C\x46\xF9")) return Of(Kind::kTorchZip);
  if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 && bytes.back() == '.') {
    return Of(Kind::kPickle);
  }
  if (bytes.size() > 9 && bytes[8] == '{' && bytes[5] == 0 && bytes[6] == 0 && bytes[7] == 0) {
    return Of(Kind::kSafetensors);
  }
  return nullptr;
}

// --- text -----------------------------------------------------------------------------------------------------------

bool IsText(absl::string_view head) {
  for (const unsigned char c : head) {
    if ((c < 0x20 && !absl::ascii_isspace(c)) || c == 0x7F) return false;
  }
  return !head.empty();
}

// Digits, signs, points, exponents, nan and inf, separated by blanks or commas.
bool IsNumbers(absl::string_view text) {
  bool digit = false;
  for (const char c : text) {
    digit |= absl::ascii_isdigit(c) != 0;
    if (!absl::ascii_isdigit(c) && !absl::ascii_isspace(c) && !absl::StrContains("+-.,;eEnaif[]()", c)) return false;
  }
  return digit;
}

struct Lines {
  std::vector<absl::string_view> all;  // without blanks around them

  bool any(absl::string_view prefix) const {
    for (const absl::string_view line : all) {
      if (absl::StartsWith(line, prefix)) return true;
    }
    return false;
  }
};

const ForeignFile* PythonFile(absl::string_view head, const Lines& lines) {
  bool python = absl::StartsWith(head, "#!") && absl::StrContains(head.substr(0, head.find('\n')), "python");
  for (const absl::string_view line : lines.all) {
    python |= absl::StartsWith(line, "import ") && !absl::StrContains(line, ";");
    python |= absl::StartsWith(line, "from ") && absl::StrContains(line, " import ");
    python |= (absl::StartsWith(line, "def ") || absl::StartsWith(line, "class ")) && absl::EndsWith(line, ":");
  }
  if (!python) return nullptr;
  if (absl::StrContains(head, "cuda.tile") || absl::StrContains(head, "import cuda_tile"))
    return Of(Kind::kCutilePython);
  if (absl::StrContains(head, "tilevm")) return Of(Kind::kScriptPython);
  return Of(absl::StrContains(head, "triton") ? Kind::kTritonPython : Kind::kPython);
}

const ForeignFile* MlirFile(absl::string_view head, const Lines& lines) {
  const auto has = [&](std::initializer_list<absl::string_view> words) {
    for (const absl::string_view w : words) {
      if (absl::StrContains(head, w)) return true;
    }
    return false;
  };
  if (has({"#ttg.", "#triton_gpu.", "ttg.num-warps", "\"triton_gpu."})) return Of(Kind::kTtgir);
  if (has({"stablehlo.", "mhlo.", "chlo."})) return Of(Kind::kStableHlo);
  if (has({"gpu.module", "gpu.func", "llvm.func", "nvvm.", "llvm.mlir"})) return Of(Kind::kGpuDialect);
  if (has({"func.func", "builtin.module", "\"func.", "linalg.", "arith.constant"})) return Of(Kind::kOtherMlir);
  return lines.any("func @") || lines.any("func private @") ? Of(Kind::kOtherMlir) : nullptr;
}

const ForeignFile* TextFile(absl::string_view head) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(head);
  if (absl::StartsWith(trimmed, "version https://git-lfs")) return Of(Kind::kLfsPointer);
  if (absl::StartsWithIgnoreCase(trimmed, "<!doctype html") || absl::StartsWithIgnoreCase(trimmed, "<html")) {
    return Of(Kind::kHtml);
  }
  if (IsNumbers(trimmed)) {
    if (absl::StartsWith(trimmed, "[")) return Of(Kind::kJson);
    return Of(absl::StrContains(trimmed, ",") ? Kind::kCsv : Kind::kNumberText);
  }
  Lines lines;
  for (const absl::string_view line : absl::StrSplit(head, '\n')) {
    lines.all.push_back(absl::StripAsciiWhitespace(line));
  }
  if (lines.any(".version ") && (lines.any(".target ") || lines.any(".address_size"))) return Of(Kind::kPtx);
  if (lines.any("; ModuleID") || lines.any("target triple") || lines.any("source_filename =") ||
      (lines.any("define ") && absl::StrContains(head, "@"))) {
    return Of(Kind::kLlvmIr);
  }
  if (absl::StartsWith(trimmed, "HloModule")) return Of(Kind::kHlo);
  if (absl::StartsWith(trimmed, "{") || absl::StartsWith(trimmed, "[{") || absl::StartsWith(trimmed, "[\"")) {
    return Of(Kind::kJson);
  }
  if (absl::StrContains(head, "__tile_global__") || absl::StrContains(head, "cuda_tile.h")) return Of(Kind::kTileCpp);
  if (absl::StrContains(head, "__global__") || lines.any("#include")) return Of(Kind::kCudaCpp);
  if (const ForeignFile* f = PythonFile(head, lines)) return f;
  return MlirFile(head, lines);
}

// --- names ----------------------------------------------------------------------------------------------------------

constexpr struct {
  absl::string_view extension;
  Kind kind;
} kExtensions[] = {
    {".pt", Kind::kTorchZip},     {".pth", Kind::kTorchZip},  {".ckpt", Kind::kTorchZip},  {".pkl", Kind::kPickle},
    {".pickle", Kind::kPickle},   {".gguf", Kind::kGguf},     {".h5", Kind::kHdf5},        {".hdf5", Kind::kHdf5},
    {".parquet", Kind::kParquet}, {".arrow", Kind::kArrow},   {".feather", Kind::kArrow},  {".mat", Kind::kMatlab},
    {".onnx", Kind::kOnnx},       {".tflite", Kind::kTfLite}, {".csv", Kind::kCsv},        {".tsv", Kind::kCsv},
    {".json", Kind::kJson},       {".jsonl", Kind::kJson},    {".jpg", Kind::kImage},      {".jpeg", Kind::kImage},
    {".gif", Kind::kImage},       {".bmp", Kind::kImage},     {".tif", Kind::kImage},      {".tiff", Kind::kImage},
    {".webp", Kind::kImage},      {".pgm", Kind::kImage},     {".ppm", Kind::kImage},      {".exr", Kind::kImage},
    {".txt", Kind::kText},        {".md", Kind::kText},       {".yaml", Kind::kText},      {".xml", Kind::kText},
    {".ptx", Kind::kPtx},         {".ll", Kind::kLlvmIr},     {".bc", Kind::kLlvmBitcode}, {".cubin", Kind::kCubin},
    {".fatbin", Kind::kFatbin},   {".py", Kind::kPython},     {".cu", Kind::kCudaCpp},     {".cuh", Kind::kCudaCpp},
    {".cpp", Kind::kCudaCpp},     {".ttgir", Kind::kTtgir},   {".hlo", Kind::kHlo},        {".spv", Kind::kSpirv},
};

const ForeignFile* NamedFile(absl::string_view name) {
  for (const auto& row : kExtensions) {
    if (absl::EndsWithIgnoreCase(name, row.extension)) return Of(row.kind);
  }
  return nullptr;
}

std::string WithName(const char* advice, absl::string_view name) {
  // In a call of Python the name is a string.
  return absl::StrReplaceAll(advice, {{"(FILE", absl::StrCat("('", name, "'")}, {"FILE", name}});
}

}  // namespace

std::string ForeignFile::ForKernel(absl::string_view name) const { return WithName(as_kernel, name); }
std::string ForeignFile::ForArray(absl::string_view name) const { return WithName(as_array, name); }

const ForeignFile* FindForeignFile(absl::Span<const uint8_t> bytes, absl::string_view name) {
  constexpr size_t kLookedAt = 16384;
  const absl::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const ForeignFile* f = BinaryFile(all)) return f;
  const absl::string_view head = all.substr(0, kLookedAt);
  if (IsText(head)) {
    if (const ForeignFile* f = TextFile(head)) return f;
  }
  return NamedFile(name);
}

const ForeignFile* FindForeignKernel(absl::Span<const uint8_t> bytes, absl::string_view name) {
  const ForeignFile* f = FindForeignFile(bytes, name);
  return f != nullptr && f->kind == Kind::kText ? nullptr : f;
}

}  // namespace tile::ir
