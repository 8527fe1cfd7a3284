#include "codegen/emit/mma/tcgen05.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/emit/mma/offset_in_stage.h"
#include "codegen/layout/block_scales.h"
#include "codegen/plan/mma/tcgen05_plan.h"
#include "codegen/plan/mma/tcgen05_scaled.h"
#include "codegen/plan/tensor_memory.h"
#include "ir/op_views.h"

namespace tile::codegen {
namespace {

// In a cluster, higher bits of an address say which block's memory.
llvm::Value* StartOf(Emitter& e, llvm::Value* at) {
  auto& b = e.b();
  return b.CreateZExt(b.CreateLShr(b.CreateAnd(at, e.I32(0x3FFFF)), 4), b.getInt64Ty());
}

// The descriptor (i64) of an operand's first element.
llvm::Value* DescriptorOf(Emitter& e, const StagedAt& x) {
  return e.b().CreateOr(StartOf(e, x.at), e.I64(static_cast<int64_t>(Tcgen05OperandBits(x.tile))));
}

// Instructions of one thread as one piece of text, so that nothing comes between them.
class Text {
 public:
  Text(Emitter& e, llvm::Value* any) : e_(e), in_{e.control().elected, any}, constraints_{"b", "b"} {}

  std::string Take(llvm::Value* v, const char* kind) {
    in_.push_back(v);
    constraints_.emplace_back(kind);
    return absl::StrCat("$", in_.size() - 1);
  }
  template <class... Words>
  void Add(const Words&... words) {
    absl::StrAppend(&text_, "@$0 ", words..., "; ");
  }
  void Emit() {
    llvm::Value* out = e_.Ptx(e_.b().getVoidTy(), absl::StrCat("{ .reg .pred add; setp.eq.b32 add, 0, 0; ", text_, "}"),
                              absl::StrJoin(constraints_, ","), in_, true);
    llvm::cast<llvm::CallInst>(out)->setConvergent();
  }

 private:
  Emitter& e_;
  std::string text_;
  std::vector<llvm::Value*> in_;
  std::vector<std::string> constraints_;
};

// The operands of the instruction for these elements, as it names them: "[$5], $3, $4".
class Factors {
 public:
  Factors(Emitter& e, const StagedMmaPlan& plan, const StagedAt& lhs, const StagedAt& rhs, llvm::Value* columns)
      : e_(e),
        plan_(plan),
        lhs_(lhs),
        rhs_(rhs),
        columns_(columns),
        first_(DescriptorOf(e, lhs)),
        second_(DescriptorOf(e, rhs)) {}

  std::string Of(Text& text, int64_t m, int64_t n, int64_t k) const {
    auto& b = e_.b();
    const auto at = [&](llvm::Value* start, const StagedTile& tile, int64_t mn) {
      return text.Take(b.CreateAdd(start, e_.I64(OffsetInStage(tile, mn, k) >> 4)), "l");
    };
    const int64_t column = m / plan_.instruction_m * plan_.n + n;
    const std::string d = text.Take(b.CreateAdd(columns_, e_.I32(column)), "r");
    const std::string left = at(first_, lhs_.tile, m), right = at(second_, rhs_.tile, n);
    return absl::StrCat("[", d, "], ", left, ", ", right);
  }

 private:
  Emitter& e_;
  const StagedMmaPlan& plan_;
  const StagedAt &lhs_, &rhs_;
  llvm::Value *columns_, *first_, *second_;
};

template <class Fn>
void ForEachInstruction(const StagedMmaPlan& plan, Fn instruction) {
  for (int64_t k = 0; k < plan.k; k += plan.instruction_k) {
    for (int64_t m = 0; m < plan.m; m += plan.instruction_m) {
      for (int64_t n = 0; n < plan.n; n += plan.instruction_n) instruction(m, n, k);
    }
  }
}

// Pieces of scales, one after the other, each to four columns. A piece is 32 rows of 16 bytes, eight of them 128 bytes apart, not swizzled.
void CopyScales(Emitter& e, Text& text, llvm::Value* at, int64_t pieces, llvm::Value* columns) {
  constexpr int64_t kVersion = 1, kEightRows = 128, kColumnsOfPiece = 4;
  auto& b = e.b();
  llvm::Value* first = b.CreateOr(StartOf(e, at), e.I64(kVersion << 46 | (kEightRows >> 4) << 32));
  for (int64_t i = 0; i < pieces; ++i) {
    const std::string to = text.Take(b.CreateAdd(columns, e.I32(kColumnsOfPiece * i)), "r");
    const std::string from = text.Take(b.CreateAdd(first, e.I64(kScalePieceBytes * i >> 4)), "l");
    text.Add("tcgen05.cp.cta_group::1.32x128b.warpx4 [", to, "], ", from);
  }
}

}  // namespace

void BeginInColumns(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, const StagedAt& lhs, const StagedAt& rhs,
                    const ColumnsAt& sums) {
  const Tcgen05Form form = Tcgen05FormOf(plan, mma, lhs.tile.k_major, rhs.tile.k_major);
  const Factors factors(e, plan, lhs, rhs, sums.first);
  Text text(e, sums.any);
  const std::string descriptor = text.Take(e.I32(form.descriptor), "r");
  ForEachInstruction(plan, [&](int64_t m, int64_t n, int64_t k) {
    const std::string operands = factors.Of(text, m, n, k);
    text.Add(form.instruction, " ", operands, ", ", descriptor, ", ", k == 0 ? "$1" : "add");
  });
  text.Emit();
}

// Copies and products of one thread keep their order.
void BeginScaledInColumns(Emitter& e, const ir::Op& mma, const StagedMmaPlan& plan, const StagedAt& lhs,
                          const StagedAt& rhs, const ScalesAt& scales, const ColumnsAt& sums) {
  auto& b = e.b();
  const Tcgen05ScaledForm form = Tcgen05ScaledFormOf(plan, mma);
  const ScaleColumns columns = ScaleColumnsOf(mma);
  const int64_t blocks = ir::MmaScaledOp(mma).lhs_scale()->type().shape()[1];
  llvm::Value *of_lhs = b.CreateAdd(sums.first, e.I32(columns.lhs)),
              *of_rhs = b.CreateAdd(sums.first, e.I32(columns.rhs));
  const Factors factors(e, plan, lhs, rhs, sums.first);
  Text text(e, sums.any);
  CopyScales(e, text, scales.lhs, ScalePieces(plan.m, blocks), of_lhs);
  CopyScales(e, text, scales.rhs, ScalePieces(plan.n, blocks), of_rhs);
  // The columns with the scales of rows from `row` on, of the group of blocks along K.
  const auto at = [&](llvm::Value* first, int64_t rows, int64_t row, int64_t group) {
    constexpr int64_t kColumnsOfPiece = 4;
    const int64_t piece = group * ScalePiecesOfRows(rows) + row / kScalePieceRows;
    return text.Take(b.CreateAdd(first, e.I32(kColumnsOfPiece * piece)), "r");
  };
  ForEachInstruction(plan, [&](int64_t m, int64_t n, int64_t k) {
    const std::string operands = factors.Of(text, m, n, k);
    const int64_t group = k / form.block / kScalePieceBlocks, byte = k / form.block % kScalePieceBlocks;
    const std::string descriptor = text.Take(e.I32(form.descriptor | ScaleByteBits(byte)), "r");
    const std::string left = at(of_lhs, plan.m, m, group), right = at(of_rhs, plan.n, n, group);
    text.Add(form.instruction, " ", operands, ", ", descriptor, ", [", left, "], [", right, "], ",
             k == 0 ? "$1" : "add");
  });
  text.Emit();
}

}  // namespace tile::codegen
