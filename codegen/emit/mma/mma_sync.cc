// Fragments of one step along K are asked for just before they are multiplied.
#include "codegen/emit/mma/mma_sync.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/layout/fragments.h"

namespace tile::codegen {
namespace {

std::string List(int* next, int n) {
  std::string s = "{";
  for (int i = 0; i < n; ++i) absl::StrAppend(&s, i == 0 ? "" : ", ", "$", (*next)++);
  return s + "}";
}

}  // namespace

Registers MultiplyBySync(Emitter& e, const MmaPlan& plan, FragmentSource& a, FragmentSource& w, Registers acc,
                         const StepScales& scales) {
  auto& b = e.b();
  const MmaTile& t = plan.tile;
  if (const uint64_t bytes = a.scratch_bytes() + w.scratch_bytes(); bytes > 0) {
    llvm::Value* base = e.Scratch(bytes);
    a.Write(base);
    w.Write(b.CreateGEP(b.getInt8Ty(), base, e.I32(static_cast<int64_t>(a.scratch_bytes()))));
    e.Barrier();
  }

  const int rows = static_cast<int>(std::max<int64_t>(1, t.m / t.warps_m / t.instruction.m));
  const int columns = static_cast<int>(std::max<int64_t>(1, t.n / t.warps_n / t.instruction.n));
  const int steps = static_cast<int>(t.k / t.instruction.k);
  const int c = plan.registers_c;
  llvm::Type* type = acc[0]->getType();
  const char kind = type->isFloatTy() ? 'f' : 'r';
  int next = 0;
  std::string text = absl::StrCat(plan.instruction, " ", List(&next, c));
  for (int n : {plan.words_a, plan.words_b, c}) absl::StrAppend(&text, ", ", List(&next, n));
  const int first_scale = next;
  std::string constraints;
  for (int i = 0; i < c; ++i) absl::StrAppend(&constraints, i == 0 ? "=" : ",=", std::string(1, kind));
  for (int i = 0; i < plan.words_a + plan.words_b; ++i) absl::StrAppend(&constraints, ",r");
  for (int i = 0; i < c; ++i) absl::StrAppend(&constraints, ",", std::string(1, kind));
  if (plan.scales > 0) constraints += ",r,r";
  llvm::Type* result = llvm::StructType::get(e.context(), std::vector<llvm::Type*>(c, type));

  const int of_batch = rows * static_cast<int>(t.products());
  for (int k = 0; k < steps; ++k) {
    for (int i = 0; i < of_batch; ++i) {
      for (int j = 0; j < columns; ++j) {
        Registers in;
        for (int x = 0; x < plan.words_a; ++x) in.push_back(a.Word((i * steps + k) * plan.words_a + x));
        const int column = i / rows * columns + j;
        for (int x = 0; x < plan.words_b; ++x) in.push_back(w.Word((column * steps + k) * plan.words_b + x));
        const int first = (i * columns + j) * c;
        for (int x = 0; x < c; ++x) in.push_back(acc[first + x]);
        std::string of_scales;
        const int64_t block = static_cast<int64_t>(scales.first_step + k) * plan.scales;
        for (int s = 0; s < 2 && plan.scales > 0; ++s) {
          const Operand side = s == 0 ? Operand::kA : Operand::kB;
          const int number = s == 0 ? i : j;
          in.push_back(scales.words->Word(side, number, block));
          absl::StrAppend(&of_scales, ", $", first_scale + s, ", ", scales.words->Selector(side, number, block));
        }
        llvm::Value* out = e.Ptx(result, absl::StrCat(text, of_scales, ";"), constraints, in, false);
        for (int x = 0; x < c; ++x) acc[first + x] = b.CreateExtractValue(out, x);
      }
    }
  }
  return acc;
}

}  // namespace tile::codegen
