// print_tko: the operands go to the launch's print area (runtime/cuda/ABI.md); the host makes the text. One thread takes
// the room for all of them and writes the head, so entries of a block are in the order of its prints.
#include "absl/strings/str_cat.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/context/ptx_access.h"
#include "ir/op_views.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "runtime/cuda/kernel_abi.h"

namespace tile::codegen {
namespace {

// $0: position, or -1 if there is no room; $1: the record, $2: bytes. A counter past 2^31 stays, so that it never wraps.
std::string TakeText() {
  auto at = [](size_t offset) { return absl::StrCat("[$1+", offset, "]"); };
  const size_t used = offsetof(TileTrapRecord, print_used);
  return absl::StrCat("{ .reg .pred open, fits; .reg .b32 capacity, seen; ",                           //
                      "ld.relaxed.gpu.global.b32 seen, ", at(used), "; ",                              //
                      "ld.global.b32 capacity, ", at(offsetof(TileTrapRecord, print_capacity)), "; ",  //
                      "setp.lt.u32 open, seen, 0x80000000; ",                                          //
                      "@open atom.relaxed.gpu.global.add.u32 seen, ", at(used), ", $2; ",              //
                      "setp.le.and.u32 fits, seen, capacity, open; ",                                  //
                      "sub.u32 capacity, capacity, seen; ",                                            //
                      "setp.ge.and.u32 fits, capacity, $2, fits; ",                                    //
                      "selp.b32 $0, seen, -1, fits; }");
}

uint64_t RoundUp(uint64_t n) { return (n + 7) / 8 * 8; }

}  // namespace

void LowerPrint(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const ir::OperandRange args = ir::PrintOp(op).args();
  ir::ImageSite site{
      "", e.source().Where(op.loc, op.pos), op.info()->mnemonic, std::string(ir::PrintOp(op).format()), {}};
  uint64_t bytes = sizeof(TilePrintEntry);
  for (const ir::Value* v : args) {
    const ir::Type t = v->type();
    site.operands.push_back({t.elem(), {t.shape().begin(), t.shape().end()}});
    bytes += RoundUp(static_cast<uint64_t>(t.num_elements() * ir::StorageBytes(t.elem())));
  }
  if (bytes >= uint64_t{1} << 30) return e.Refuse(op, "the operands take more than a gigabyte; print a part");
  const int number = e.AddSite(std::move(site));

  // One thread takes the room.
  llvm::BasicBlock *before = b.GetInsertBlock(), *take = e.NewBlock("print_take"), *taken = e.NewBlock("print_taken");
  b.CreateCondBr(b.CreateIsNull(e.threads().number()), take, taken);
  b.SetInsertPoint(take);
  llvm::Value* got =
      e.Ptx(b.getInt32Ty(), TakeText(), "=&r,l,r", {e.TrapRecord(), e.I32(static_cast<int64_t>(bytes))}, true);
  b.CreateBr(taken);
  b.SetInsertPoint(taken);
  llvm::PHINode* mine = b.CreatePHI(b.getInt32Ty(), 2);
  mine->addIncoming(e.I32(-1), before);
  mine->addIncoming(got, take);
  const Layout one = Layout::Replicated({}, e.num_warps());
  llvm::Value* position = Copies(one).Share(e, {mine})[0];

  e.When(b.CreateICmpNE(position, e.I32(-1)), [&] {
    llvm::Value* entry =
        b.CreateAdd(b.CreateAdd(e.TrapRecord(), e.I64(sizeof(TileTrapRecord))), b.CreateZExt(position, b.getInt64Ty()));
    const MemoryAccess weak{false, ir::MemoryOrdering::kWeak, ""};
    llvm::Value* first = b.CreateIsNull(e.threads().number());
    auto head = [&](size_t offset, llvm::Value* v) {
      Store(e, weak, {entry, static_cast<int64_t>(offset)}, ir::Elem::kI32, {v}, first);
    };
    head(offsetof(TilePrintEntry, bytes), e.I32(static_cast<int64_t>(bytes)));
    head(offsetof(TilePrintEntry, site), e.I32(number));
    head(offsetof(TilePrintEntry, block), e.blocks().Id(0));
    head(offsetof(TilePrintEntry, block) + 4, e.blocks().Id(1));
    head(offsetof(TilePrintEntry, block) + 8, e.blocks().Id(2));
    head(offsetof(TilePrintEntry, reserved), e.I32(0));

    uint64_t offset = sizeof(TilePrintEntry);
    for (const ir::Value* v : args) {
      const ir::Type t = v->type();
      const Layout& layout = e.layout(v);
      const int size = ir::StorageBytes(t.elem());
      // 4-bit elements take a byte each, pointers are numbers.
      const ir::Elem stored = t.element().is_pointer()  ? ir::Elem::kI64
                              : ir::IsSubByte(t.elem()) ? ir::Elem::kI8
                                                        : t.elem();
      llvm::Value* holds = e.threads().HoldsFirstCopy(layout);
      const Copies copies(layout);
      for (int r : copies.firsts()) {
        llvm::Value* at = b.CreateMul(b.CreateZExt(e.threads().Element(layout, r), b.getInt64Ty()), e.I64(size));
        Store(e, weak, {b.CreateAdd(entry, at), static_cast<int64_t>(offset)}, stored,
              {e.regs(v)[static_cast<size_t>(r)]}, holds);
      }
      offset += RoundUp(static_cast<uint64_t>(t.num_elements() * size));
    }
  });
}

}  // namespace tile::codegen
