// assert: a false element is noted in the launch's trap record (runtime/cuda/ABI.md), and the kernel goes on. The first
// thread that finds one fills in the record; the record counts all.
#include "absl/strings/str_cat.h"
#include "codegen/emit/context/copies.h"
#include "ir/op_views.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "runtime/cuda/kernel_abi.h"

namespace tile::codegen {
namespace {

// $0: the record, $1: site, $2 … $4: block, $5: element, $6: how many. The kind is stored last, released to the host.
std::string TrapText() {
  auto at = [](size_t offset) { return absl::StrCat("[$0+", offset, "]"); };
  const size_t kind = offsetof(TileTrapRecord, kind), block = offsetof(TileTrapRecord, block);
  return absl::StrCat("{ .reg .pred mine; .reg .b32 seen; ",                                             //
                      "red.relaxed.gpu.global.add.u32 ", at(offsetof(TileTrapRecord, count)), ", $6; ",  //
                      "atom.relaxed.gpu.global.cas.b32 seen, ", at(kind), ", ", TILE_TRAP_NONE, ", ", TILE_TRAP_CLAIMED,
                      "; ",                                                                  //
                      "setp.eq.u32 mine, seen, ", TILE_TRAP_NONE, "; ",                      //
                      "@mine st.global.b32 ", at(offsetof(TileTrapRecord, site)), ", $1; ",  //
                      "@mine st.global.b32 ", at(block), ", $2; ",                           //
                      "@mine st.global.b32 ", at(block + 4), ", $3; ",                       //
                      "@mine st.global.b32 ", at(block + 8), ", $4; ",                       //
                      "@mine st.global.b32 ", at(offsetof(TileTrapRecord, lane)), ", $5; ",  //
                      "@mine st.release.sys.global.b32 ", at(kind), ", ", TILE_TRAP_ASSERT, "; }");
}

}  // namespace

void LowerAssert(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::Value* condition = ir::AssertOp(op).condition();
  const Layout& layout = e.layout(condition);
  const Copies copies(layout);
  llvm::Value* any = nullptr;
  for (int r : copies.firsts()) {
    llvm::Value* bad = b.CreateNot(e.regs(condition)[static_cast<size_t>(r)]);
    any = any == nullptr ? bad : b.CreateOr(any, bad);
  }
  if (llvm::Value* first = e.threads().HoldsFirstCopy(layout)) any = b.CreateAnd(any, first);

  const int site = e.AddSite({"vm.assert",
                              e.source().Where(op.loc, op.pos),
                              op.info()->mnemonic,
                              std::string(ir::AssertOp(op).message()),
                              {}});
  const auto report = [&] {
    // The thread's first false element, and how many it has.
    llvm::Value *element = e.I32(-1), *count = e.I32(0);
    for (auto it = copies.firsts().rbegin(); it != copies.firsts().rend(); ++it) {
      llvm::Value* bad = b.CreateNot(e.regs(condition)[static_cast<size_t>(*it)]);
      element = b.CreateSelect(bad, e.threads().Element(layout, *it), element);
      count = b.CreateAdd(count, b.CreateZExt(bad, b.getInt32Ty()));
    }
    if (condition->type().rank() == 0) element = e.I32(-1);  // none in particular
    e.Ptx(b.getVoidTy(), TrapText(), "l,r,r,r,r,r,r",
          {e.TrapRecord(), e.I32(site), e.blocks().Id(0), e.blocks().Id(1), e.blocks().Id(2), element, count}, true);
  };
  e.When(any, report, /*rarely=*/true);
}

}  // namespace tile::codegen
