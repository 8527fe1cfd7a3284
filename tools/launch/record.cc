#include "tools/launch/record.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "ir/tbc/writer.h"
#include "tools/data/element_text.h"
#include "tools/data/files.h"
#include "tools/data/json.h"

namespace tile::tools {
namespace {

constexpr int64_t kMaxRecordBytes = int64_t{1} << 40;
constexpr uint64_t kPieceBytes = uint64_t{16} << 20;

// "torch.float32", "float32", "f32", "bool_", …
bool ParseType(absl::string_view text, ir::Element* element, bool* is_unsigned) {
  absl::ConsumePrefix(&text, "torch.");
  static constexpr struct {
    const char* name;
    const char* ours;
  } kNames[] = {{"float16", "f16"},
                {"bfloat16", "bf16"},
                {"float32", "f32"},
                {"float64", "f64"},
                {"int8", "i8"},
                {"int16", "i16"},
                {"int32", "i32"},
                {"int64", "i64"},
                {"uint8", "u8"},
                {"uint16", "u16"},
                {"uint32", "u32"},
                {"uint64", "u64"},
                {"bool", "bool"},
                {"bool_", "bool"},
                {"float8_e4m3fn", "f8E4M3FN"},
                {"float8_e5m2", "f8E5M2"},
                {"float8_e8m0fnu", "f8E8M0FNU"},
                {"float4_e2m1fn_x2", "f4E2M1FN"}};
  for (const auto& n : kNames) {
    if (text == n.name) return ParseElementName(n.ours, element, is_unsigned);
  }
  return ParseElementName(text, element, is_unsigned);
}

absl::Status ReadInts(JsonReader& r, std::vector<int64_t>* out) {
  return r.List([&]() -> absl::Status {
    std::string text;
    if (absl::Status s = r.Literal(&text); !s.ok()) return s;
    int64_t n;
    if (!absl::SimpleAtoi(text, &n)) return r.Error(absl::StrCat("expected an integer, not ", text));
    if (out->size() == 4096) return r.Error("too many numbers");
    out->push_back(n);
    return absl::OkStatus();
  });
}

absl::Status ReadParam(JsonReader& r, RecordedParam* p) {
  int position = 0;
  std::string kind;
  const absl::Status s = r.List([&]() -> absl::Status {
    const int at = position++;
    std::string text;
    if (at == 0) {
      if (absl::Status st = r.String(&kind); !st.ok()) return st;
      if (kind == "array") {
        p->kind = RecordedParam::Kind::kArray;
      } else if (kind == "pointer") {
        p->kind = RecordedParam::Kind::kPointer;
      } else if (kind != "scalar") {
        return r.Error(absl::StrCat("a parameter is an array, a pointer or a scalar, not `", kind, "`"));
      }
      return absl::OkStatus();
    }
    if (p->kind == RecordedParam::Kind::kScalar) {
      if (at == 1) {
        if (absl::Status st = r.String(&text); !st.ok()) return st;
        return ParseType(text, &p->element, &p->is_unsigned) ? absl::OkStatus()
                                                             : r.Error(absl::StrCat("unknown type `", text, "`"));
      }
      if (at == 2) {
        if (absl::Status st = r.Literal(&text); !st.ok()) return st;
        if (text == "NaN") text = "nan";
        if (text == "Infinity") text = "inf";
        if (text == "-Infinity") text = "-inf";
        absl::StatusOr<uint64_t> bits = ParseElement(p->element.kind, text);
        if (!bits.ok()) return r.Error(bits.status().message());
        p->bits = *bits;
        return absl::OkStatus();
      }
      return r.Error("a scalar has a type and a value");
    }
    switch (at) {
      case 1: return r.Integer(&p->block);
      case 2: return r.Integer(&p->offset);
      case 3:
        if (absl::Status st = r.String(&text); !st.ok()) return st;
        return ParseType(text, &p->element, &p->is_unsigned) ? absl::OkStatus()
                                                             : r.Error(absl::StrCat("unknown type `", text, "`"));
      case 4: return ReadInts(r, &p->shape);
      case 5: return ReadInts(r, &p->strides);
      case 6: return r.Skip();  // width of the words: parameters are 64-bit words here
      default: return r.Error("too many fields in a parameter");
    }
  });
  if (!s.ok()) return s;
  const int want = p->kind == RecordedParam::Kind::kScalar ? 3 : p->kind == RecordedParam::Kind::kPointer ? 4 : 6;
  if (position < want) return r.Error(absl::StrCat("a ", kind, " has ", want, " fields"));
  if (p->shape.size() != p->strides.size()) return r.Error("as many strides as sizes");
  return absl::OkStatus();
}

absl::Status WriteText(const std::string& path, absl::string_view text, OutputFile* file) {
  if (absl::Status s = file->Open(path); !s.ok()) return s;
  if (absl::Status s = file->Write(text); !s.ok()) return s;
  return file->Flush();
}

// The blocks one after the other, from the device.
absl::Status WriteMemory(const std::string& path, const PreparedRun& run, const std::vector<size_t>& blocks,
                         OutputFile* file) {
  if (absl::Status s = file->Open(path); !s.ok()) return s;
  runtime::Device& device = *run.kernel.device;
  std::vector<uint8_t> piece;
  for (const size_t i : blocks) {
    const runtime::Buffer& m = run.spec.memory[i];
    for (uint64_t at = 0; at < m.bytes; at += piece.size()) {
      piece.resize(std::min(m.bytes - at, kPieceBytes));
      absl::Status s = device.Download(piece.data(), m.address + at, piece.size(), device.default_stream());
      if (s.ok()) s = device.default_stream()->Synchronize();
      if (s.ok()) s = file->Write(absl::MakeConstSpan(piece));
      if (!s.ok()) return s;
    }
  }
  return file->Flush();
}

}  // namespace

absl::StatusOr<RecordedLaunch> ParseRecord(absl::string_view json) {
  RecordedLaunch launch;
  JsonReader r(json);
  absl::Status s = r.Object([&](const std::string& key) -> absl::Status {
    if (key == "symbol") return r.String(&launch.symbol);
    if (key == "grid") return ReadInts(r, &launch.grid);
    if (key == "sizes") return ReadInts(r, &launch.sizes);
    if (key == "params") {
      return r.List([&] {
        if (launch.params.size() == 4096) return r.Error("too many parameters");
        launch.params.emplace_back();
        return ReadParam(r, &launch.params.back());
      });
    }
    return r.Skip();
  });
  if (s.ok()) s = r.End();
  if (!s.ok()) return s;
  if (launch.symbol.empty()) return absl::InvalidArgumentError("`symbol` is missing");
  if (launch.grid.empty() || launch.grid.size() > 3)
    return absl::InvalidArgumentError("`grid` must have one to three numbers");
  int64_t total = 0;
  for (int64_t n : launch.sizes) {
    if (n < 0 || n > kMaxRecordBytes - total) return absl::InvalidArgumentError("`sizes`: out of range");
    total += n;
  }
  for (const RecordedParam& p : launch.params) {
    if (p.kind == RecordedParam::Kind::kScalar) continue;
    if (p.block >= static_cast<int64_t>(launch.sizes.size()) || p.offset > launch.sizes[static_cast<size_t>(p.block)]) {
      return absl::InvalidArgumentError("`params`: an array lies outside of the memory blocks");
    }
  }
  return launch;
}

absl::StatusOr<std::string> FindRecordedModule(const std::string& base) {
  for (const char* extension : {".tbc", ".tilebc", ".ttir", ".tile"}) {
    const std::string path = base + extension;
    if (FILE* f = std::fopen(path.c_str(), "rb")) {
      std::fclose(f);
      return path;
    }
  }
  return absl::NotFoundError(
      absl::StrCat(base, ": no module in the folder of the record (.tbc, .tilebc, .ttir or .tile)"));
}

absl::Status Recorder::Before(const std::string& name, const ir::Module& module, PreparedRun& run) {
  name_ = name;
  const ir::Function& f = *run.kernel.function;
  const std::vector<runtime::Buffer>& memory = run.spec.memory;
  if (absl::Status s = run.launch->Initialize(run.kernel.device->default_stream()); !s.ok()) return s;
  // Blocks in the order in which parameters point to them: addresses differ from run to run.
  const auto block_of = [&](size_t range) {
    const auto block = std::find(blocks_.begin(), blocks_.end(), range) - blocks_.begin();
    if (block == static_cast<ptrdiff_t>(blocks_.size())) blocks_.push_back(range);
    return block;
  };
  // Every parameter as it is passed: a pointer into a block, or a number.
  std::vector<std::string> sizes, params;
  for (int i = 0; i < f.num_params(); ++i) {
    const ir::Type t = f.param(i)->type();
    const uint64_t word = run.spec.words[static_cast<size_t>(i)];
    if (t.element().is_pointer()) {
      const auto range = std::find_if(memory.begin(), memory.end(), [&](const runtime::Buffer& m) {
        return word == m.address || word - m.address < m.bytes;
      });
      if (range == memory.end())
        return absl::InvalidArgumentError(absl::StrCat("parameter ", i, " points to no array"));
      const auto block = block_of(static_cast<size_t>(range - memory.begin()));
      params.push_back(absl::StrCat("[\"pointer\", ", block, ", ", word - range->address, ", \"",
                                    ir::ElemInfoOf(t.element().pointee).spelling, "\"]"));
    } else {
      std::string value = FormatElement(t.elem(), word);
      if (value == "nan") value = "NaN";
      if (value == "inf") value = "Infinity";
      if (value == "-inf") value = "-Infinity";
      params.push_back(absl::StrCat("[\"scalar\", \"", ir::ElemInfoOf(t.elem()).spelling, "\", ", value, "]"));
    }
  }
  for (const size_t i : blocks_) sizes.push_back(absl::StrCat(memory[i].bytes));
  const auto& g = run.spec.grid;
  const std::string json = absl::StrCat("{\"symbol\": ", JsonQuote(f.name), ", \"grid\": [", g[0], ", ", g[1], ", ",
                                        g[2], "], \"params\": [", absl::StrJoin(params, ", "), "], \"sizes\": [",
                                        absl::StrJoin(sizes, ", "), "]}\n");
  absl::StatusOr<std::string> tbc = ir::WriteTbc(module);
  if (!tbc.ok()) return tbc.status();
  if (absl::Status s = WriteText(name + ".tbc", *tbc, &tbc_); !s.ok()) return s;
  if (absl::Status s = WriteText(name + ".json", json, &json_); !s.ok()) return s;
  return WriteMemory(name + ".before", run, blocks_, &before_);
}

absl::Status Recorder::After(const PreparedRun& run, bool trapped) {
  OutputFile after;
  if (!trapped) {
    if (absl::Status s = WriteMemory(name_ + ".after", run, blocks_, &after); !s.ok()) return s;
  }
  for (OutputFile* file : {&tbc_, &json_, &before_}) {
    if (absl::Status s = file->Commit(); !s.ok()) return s;
  }
  if (!trapped) return after.Commit();
  unlink((name_ + ".after").c_str());  // of another launch
  return absl::OkStatus();
}

}  // namespace tile::tools
