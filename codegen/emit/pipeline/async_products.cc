#include "codegen/emit/pipeline/async_products.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tile::codegen {

Registers Through(Emitter& e, absl::string_view text, Registers values, const Registers& read) {
  auto& b = e.b();
  std::string constraints;
  for (llvm::Value* v : values)
    absl::StrAppend(&constraints, constraints.empty() ? "=" : ",=", v->getType()->isFloatTy() ? "f" : "r");
  for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&constraints, ",", i);
  for (size_t i = 0; i < read.size(); ++i) absl::StrAppend(&constraints, constraints.empty() ? "r" : ",r");
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : values) types.push_back(v->getType());
  llvm::Type* result = b.getVoidTy();
  if (!values.empty()) result = types.size() == 1 ? types[0] : llvm::StructType::get(e.context(), types);
  Registers inputs = values;
  inputs.insert(inputs.end(), read.begin(), read.end());
  llvm::Value* out = e.Ptx(result, text, constraints, inputs, true);
  llvm::cast<llvm::CallInst>(out)->setConvergent();
  if (values.size() == 1) return {out};
  for (size_t i = 0; i < values.size(); ++i) values[i] = b.CreateExtractValue(out, static_cast<unsigned>(i));
  return values;
}

Registers InRegistersOfTheirOwn(Emitter& e, Registers sums) {
  for (llvm::Value*& v : sums) {
    const bool is_float = v->getType()->isFloatTy();
    v = e.Ptx(v->getType(), "mov.b32 $0, $1;", is_float ? "=f,f" : "=r,r", {v}, false);
  }
  return sums;
}

Registers WaitForProducts(Emitter& e, int pending, Registers acc, const Registers& words) {
  return Through(e, absl::StrCat("wgmma.wait_group.sync.aligned ", pending, ";"), std::move(acc), words);
}

}  // namespace tile::codegen
