#include "tests/gpu_sim/tensor/tcgen05_mma.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/tensor/formats.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kQuarter = 32;  // lanes that one warp reaches
constexpr uint32_t kCanonicalNan = 0x7FFFFFFF;

absl::Status Annotate(const absl::Status& s, absl::string_view operand) {
  return s.ok() ? s : absl::Status(s.code(), absl::StrCat(operand, ": ", s.message()));
}

// Values of A and B of all blocks, scales and signs applied: a[row * k + …], b[k * n + column].
struct Values {
  std::vector<double> a, b;
};

// The scale of a row: four quarters of the lanes hold copies, as warps of tensor cores read their own.
absl::StatusOr<double> ScaleOf(TensorMemory& memory, const Tcgen05Product& p, uint32_t address, uint32_t row,
                               uint32_t byte) {
  const auto [first, column] = TensorAddressOf(address);
  if (first != 0) return absl::InvalidArgumentError(absl::StrCat("scales begin in lane ", first, ", not in lane 0"));
  uint32_t code = 0;
  for (uint32_t quarter = 0; quarter < TensorMemory::kLanes / kQuarter; ++quarter) {
    const absl::StatusOr<uint32_t*> cell = memory.Row(row % kQuarter + quarter * kQuarter, column + row / kQuarter, 1);
    if (!cell.ok()) return cell.status();
    const uint32_t here = **cell >> (8 * byte) & 0xFF;
    if (quarter != 0 && here != code) {
      return absl::FailedPreconditionError(absl::StrCat("the scale of row ", row, " (column ", column + row / kQuarter,
                                                        ", byte ", byte,
                                                        ") differs between the four quarters of the lanes"));
    }
    code = here;
  }
  return p.power_of_two_scales ? DecodeUE8M0(static_cast<uint8_t>(code)) : DecodeTable(Format::kE4M3)[code & 0x7F];
}

// values[row * k + …] times the scales of rows first… .
absl::Status Scale(TensorMemory& memory, const Tcgen05Kind& kind, const Tcgen05Product& p, uint32_t address, int first,
                   int rows, int byte, double* values) {
  const int run = p.k / kind.scales;
  for (int r = 0; r < rows; ++r) {
    for (int s = 0; s < kind.scales; ++s) {
      const absl::StatusOr<double> scale =
          ScaleOf(memory, p, address, static_cast<uint32_t>(first + r), static_cast<uint32_t>(byte + s));
      if (!scale.ok()) return scale.status();
      for (int k = s * run; k < (s + 1) * run; ++k) values[r * p.k + k] *= *scale;
    }
  }
  return absl::OkStatus();
}

void Negate(std::vector<double>& values) {
  for (double& v : values) v = -v;
}

absl::Status ReadA(const Tcgen05Kind& kind, const Tcgen05Product& p, const Tcgen05Input& in, std::vector<double>* a) {
  a->resize(static_cast<size_t>(p.m) * static_cast<size_t>(p.k));
  const absl::StatusOr<OperandLayout> layout = DecodeOperand(in.a, p.a_mn_major);
  if (!layout.ok()) return layout.status();
  const int rows = p.m / kind.group;
  for (int block = 0; block < kind.group; ++block) {
    const auto& from = in.blocks[static_cast<size_t>(block)];
    double* values = a->data() + block * rows * p.k;
    absl::Status s = ReadOperand(*layout, p.a, rows, p.k, from.read, {values, static_cast<size_t>(rows * p.k)});
    if (s.ok() && kind.has_scales()) {
      s = Annotate(Scale(*from.memory, kind, p, in.scale_a, 0, rows, p.scale_byte_a, values), "scales");
    }
    if (!s.ok()) return s;
  }
  if (p.negate_a) Negate(*a);
  return absl::OkStatus();
}

// A lane of A: 32 bytes of K in eight columns.
absl::Status ReadLaneOfA(const Tcgen05Product& p, const Tcgen05Input& in, const SumLane& at, double* values) {
  const auto [first, column] = TensorAddressOf(static_cast<uint32_t>(in.a));
  const int per_word = 32 / p.a.bits;
  const absl::StatusOr<uint32_t*> words =
      in.blocks[at.block].memory->Row(first + at.lane, column, static_cast<uint32_t>(p.k / per_word));
  if (!words.ok()) return words.status();
  for (int k = 0; k < p.k; ++k) {
    const uint32_t word = (*words)[k / per_word] >> (k % per_word * p.a.bits);
    const double v = p.a.value(p.a.bits == 32 ? word : word & ((1u << p.a.bits) - 1));
    values[k] = p.negate_a ? -v : v;
  }
  return absl::OkStatus();
}

// With the columns behind each other, as the sums of a lane are.
absl::Status ReadB(const Tcgen05Kind& kind, const Tcgen05Product& p, const Tcgen05Input& in, std::vector<double>* b) {
  const absl::StatusOr<OperandLayout> layout = DecodeOperand(in.b, p.b_mn_major);
  if (!layout.ok()) return layout.status();
  std::vector<double> rows(static_cast<size_t>(p.n) * static_cast<size_t>(p.k));
  const int columns = p.n / kind.group;
  for (int block = 0; block < kind.group; ++block) {
    const auto& from = in.blocks[static_cast<size_t>(block)];
    double* values = rows.data() + block * columns * p.k;
    absl::Status s = ReadOperand(*layout, p.b, columns, p.k, from.read, {values, static_cast<size_t>(columns * p.k)});
    if (s.ok() && kind.has_scales()) {
      // Each block of a pair has the scales of all columns.
      s = Annotate(Scale(*from.memory, kind, p, in.scale_b, block * columns, columns, p.scale_byte_b, values),
                   "scales");
    }
    if (!s.ok()) return s;
  }
  if (p.negate_b) Negate(rows);
  b->resize(rows.size());
  for (int n = 0; n < p.n; ++n) {
    for (int k = 0; k < p.k; ++k) (*b)[static_cast<size_t>(k * p.n + n)] = rows[static_cast<size_t>(n * p.k + k)];
  }
  return absl::OkStatus();
}

double SumIn(uint32_t cell, SumType type) {
  if (type == SumType::kS32) return static_cast<int32_t>(cell);
  if (type == SumType::kF16) return DecodeTable(Format::kF16)[cell & 0xFFFF];
  float v;
  std::memcpy(&v, &cell, sizeof v);
  return v;
}
uint32_t CellOf(double sum, const Tcgen05Product& p) {
  if (p.sum == SumType::kS32) {
    if (p.saturate) sum = std::clamp(sum, -2147483648.0, 2147483647.0);
    return static_cast<uint32_t>(static_cast<int64_t>(sum));
  }
  if (p.sum == SumType::kF16) return static_cast<uint32_t>(Encode(Format::kF16, sum, Rounding::kNearestEven));
  if (std::isnan(sum)) return kCanonicalNan;
  const auto rounded = static_cast<float>(sum);
  uint32_t cell;
  std::memcpy(&cell, &rounded, sizeof cell);
  return cell;
}

// One lane of sums.
absl::Status AddLane(const Tcgen05Product& p, const Tcgen05Input& in, const SumLane& at, const double* a,
                     const std::vector<double>& b) {
  const auto [first, column] = TensorAddressOf(in.d);
  const absl::StatusOr<uint32_t*> cells =
      in.blocks[at.block].memory->Row(first + at.lane, column, static_cast<uint32_t>(at.columns));
  if (!cells.ok()) return Annotate(cells.status(), "D");
  double sums[256];
  for (int n = 0; n < at.columns; ++n) sums[n] = in.accumulate ? std::ldexp(SumIn((*cells)[n], p.sum), -in.shift_d) : 0;
  for (int k = 0; k < p.k; ++k) {
    const double* row = &b[static_cast<size_t>(k * p.n + at.first)];
    for (int n = 0; n < at.columns; ++n) sums[n] += a[k] * row[n];
  }
  for (int n = 0; n < at.columns; ++n) (*cells)[n] = CellOf(sums[n], p);
  return absl::OkStatus();
}

// M of 64 uses half of the lanes; the other half, from lane 16 on, is another accumulator's.
absl::Status CheckLanes(const Tcgen05Kind& kind, const Tcgen05Product& p, const Tcgen05Input& in) {
  const uint32_t d = TensorAddressOf(in.d).lane;
  const bool half = kind.group == 1 && p.m == 64 && !kind.weight_stationary;
  if (d != 0 && !(half && d == 16)) return absl::InvalidArgumentError(absl::StrCat("D begins in lane ", d));
  if (!in.a_in_tensor_memory) return absl::OkStatus();
  if (TensorAddressOf(static_cast<uint32_t>(in.a)).lane != d)
    return absl::InvalidArgumentError("A and D begin in different lanes");
  if (p.a_mn_major)
    return absl::InvalidArgumentError("A in tensor memory has K contiguous; the descriptor says otherwise");
  if (p.a.unpacked)
    return absl::UnimplementedError("A of 4 or 6 bits in tensor memory, which the simulator does not know");
  if (kind.has_scales())
    return absl::UnimplementedError("A with scales in tensor memory, which the simulator does not know");
  return absl::OkStatus();
}

}  // namespace

std::vector<SumLane> SumLanes(const Tcgen05Kind& kind, int m, int n) {
  const int rows = m / kind.group;
  std::vector<SumLane> lanes;
  // Rows that do not fill the lanes: N is cut into as many parts as fit behind each other.
  const bool cut = rows < 128 && (kind.group == 2 || kind.weight_stationary);
  const int parts = cut ? 128 / rows : 1;
  for (int row = 0; row < m; ++row) {
    const int in_block = row % rows;
    for (int part = 0; part < parts; ++part) {
      // M of 64 without parts: 16 rows in each quarter of the lanes.
      const int lane = parts == 1 && rows == 64 ? in_block / 16 * 32 + in_block % 16 : in_block + part * rows;
      lanes.push_back(
          {static_cast<uint32_t>(row / rows), static_cast<uint32_t>(lane), row, part * (n / parts), n / parts});
    }
  }
  return lanes;
}

absl::Status RunTcgen05Mma(const Tcgen05Kind& kind, const Tcgen05Product& p, const Tcgen05Input& in) {
  if (absl::Status s = CheckLanes(kind, p, in); !s.ok()) return s;
  static thread_local Values v;
  if (!in.a_in_tensor_memory) {
    if (absl::Status s = ReadA(kind, p, in, &v.a); !s.ok()) return Annotate(s, "A");
  }
  if (absl::Status s = ReadB(kind, p, in, &v.b); !s.ok()) return Annotate(s, "B");
  for (const SumLane& at : SumLanes(kind, p.m, p.n)) {
    const uint32_t bit = at.block * TensorMemory::kLanes + at.lane;
    if ((in.disabled[bit / 32] >> (bit % 32) & 1) != 0) continue;
    double lane_of_a[64];
    const double* a = lane_of_a;
    if (!in.a_in_tensor_memory) {
      a = &v.a[static_cast<size_t>(at.row * p.k)];
    } else if (absl::Status s = ReadLaneOfA(p, in, at, lane_of_a); !s.ok()) {
      return Annotate(s, "A");
    }
    if (absl::Status s = AddLane(p, in, at, a, v.b); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
