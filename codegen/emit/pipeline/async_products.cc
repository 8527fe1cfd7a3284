#include "codegen/emit/pipeline/async_products.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/loops.h"
#include "ir/op_views.h"

namespace tile::codegen {

Registers Through(Emitter& e, absl::string_view text, Registers values) {
  auto& b = e.b();
  std::string constraints;
  for (llvm::Value* v : values)
    absl::StrAppend(&constraints, constraints.empty() ? "=" : ",=", v->getType()->isFloatTy() ? "f" : "r");
  for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(&constraints, ",", i);
  std::vector<llvm::Type*> types;
  for (llvm::Value* v : values) types.push_back(v->getType());
  llvm::Type* result = b.getVoidTy();
  if (!values.empty()) result = types.size() == 1 ? types[0] : llvm::StructType::get(e.context(), types);
  llvm::Value* out = e.Ptx(result, text, constraints, values, true);
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

Registers WaitForProducts(Emitter& e, int pending, Registers acc) {
  return Through(e, absl::StrCat("wgmma.wait_group.sync.aligned ", pending, ";"), std::move(acc));
}

std::vector<Registers> WaitForAll(Emitter& e, const std::vector<Registers>& sums) {
  Registers all;
  for (const Registers& r : sums) all.insert(all.end(), r.begin(), r.end());
  all = WaitForProducts(e, 0, std::move(all));
  std::vector<Registers> done;
  auto at = all.begin();
  for (const Registers& r : sums) {
    done.emplace_back(at, at + static_cast<int64_t>(r.size()));
    at += static_cast<int64_t>(r.size());
  }
  return done;
}

void DrainProducts(Emitter& e, absl::Span<const ir::Op* const> products, std::vector<Registers>* carried) {
  if (products.empty()) return;
  std::vector<size_t> places;
  std::vector<Registers> sums;
  for (const ir::Op* mma : products) {
    places.push_back(static_cast<size_t>(ir::CarryingLoop(*mma->parent()).carried_by(ir::ProductOp(mma).acc())));
    sums.push_back((*carried)[places.back()]);
  }
  std::vector<Registers> done = WaitForAll(e, sums);
  for (size_t i = 0; i < places.size(); ++i) (*carried)[places[i]] = std::move(done[i]);
}

}  // namespace tile::codegen
