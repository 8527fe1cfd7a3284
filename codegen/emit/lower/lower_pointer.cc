// Memory through tiles of pointers, memory of the block, and globals.
//
// Where the facts say that neighbouring registers point to neighbours in memory, they move together. Whether they are
// aligned, and their masks agree, is tested by each thread for itself if the facts do not say so.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/analysis/loop_around.h"
#include "codegen/analysis/missing_fact.h"
#include "codegen/emit/context/copies.h"
#include "codegen/emit/context/symbol.h"
#include "codegen/emit/memory/tile_box.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"

namespace tile::codegen {
namespace {

// In memory behind a pointer, 4-bit elements take the low bits of a byte each.
ir::Elem StoredAs(ir::Elem e) { return ir::IsSubByte(e) ? ir::Elem::kI8 : e; }

struct PointerTile {
  const ir::Value* pointers;
  const ir::Value* mask;  // may be null
  ir::Elem elem;          // as stored
  int vector = 1;
  llvm::Value* aligned = nullptr;
  int together = 1;  // registers whose addresses follow from that of the first

  Address At(const Emitter& e, size_t r) const {
    const size_t behind = r % static_cast<size_t>(together);
    return {e.regs(pointers)[r - behind], static_cast<int64_t>(behind) * ir::MemoryBits(elem) / 8};
  }
};

std::string Told(const Emitter& e, const MissingFact& m) {
  return m.op == nullptr ? m.what : absl::StrCat(m.what, " (", e.source().Where(m.op->loc, m.op->pos), ")");
}

// How many registers move together, and the test for it.
PointerTile Analyse(Emitter& e, const ir::Op& op, const ir::Value* pointers, const ir::Value* mask,
                    const MemoryAccess& how) {
  auto& b = e.b();
  PointerTile t{pointers, mask, StoredAs(pointers->type().element().pointee)};
  const ir::Type type = pointers->type();
  if (type.rank() == 0) return t;
  const Layout& layout = e.layout(pointers);
  Facts& facts = e.facts();
  Facts::Line line, mask_line;
  int dim = 0;
  for (int d = 0; d < type.rank() && t.vector == 1; ++d) {
    const int n = NeighbouringRegisters(layout, d);
    if (n == 1) continue;
    dim = d;
    line = facts.LineOf(pointers, d);
    t.vector = static_cast<int>(
        std::min<uint64_t>({static_cast<uint64_t>(n), line.rising, static_cast<uint64_t>(MaxVector(how, t.elem))}));
    if (mask != nullptr) mask_line = facts.LineOf(mask, d);
  }
  if (t.vector > 1 && !e.TakesStep("vector", op)) t.vector = 1;
  if (t.vector == 1) {
    if (e.wants_remarks()) e.Remark(op, "vector", "element by element: " + Told(e, WhyNotNeighbours(&facts, pointers)));
    return t;
  }

  const auto bytes = static_cast<uint64_t>(t.vector * ir::MemoryBits(t.elem) / 8);
  const bool test_start = line.start < bytes;
  // A group that begins at a multiple of its length does not wrap.
  if (!test_start) line.wraps = false;
  if (!line.wraps) t.together = t.vector;
  const bool test_mask = mask != nullptr && mask_line.equal < static_cast<uint64_t>(t.vector);
  if (e.wants_remarks()) {
    std::vector<std::string> tested;
    if (test_start)
      tested.push_back(absl::StrCat("the first address is not known to be a multiple of ", bytes, " bytes"));
    if (line.wraps) tested.push_back("the offsets may wrap around (overflow<no_signed_wrap> says that they don't)");
    if (test_mask) {
      const MissingFact why = WhyNotEqual(&facts, mask, dim, static_cast<uint64_t>(t.vector));
      tested.push_back(
          absl::StrCat("the mask is not known to be equal for ", t.vector, " neighbours, as ", Told(e, why)));
    }
    e.Remark(op, "vector",
             absl::StrCat(
                 t.vector, " elements (", bytes, " bytes) at a time",
                 tested.empty() ? "" : ": tested at run time, else element by element: ", absl::StrJoin(tested, "; ")));
  }
  if (!test_start && !line.wraps && !test_mask) return t;
  const Registers& p = e.regs(pointers);
  llvm::Value* all = nullptr;
  for (size_t r = 0; r < p.size(); r += static_cast<size_t>(t.vector)) {
    const size_t last = r + static_cast<size_t>(t.vector) - 1;
    if (test_start) all = And(e, all, b.CreateIsNull(b.CreateAnd(p[r], e.I64(static_cast<int64_t>(bytes) - 1))));
    if (line.wraps) {
      const int64_t distance = static_cast<int64_t>(bytes) - ir::MemoryBits(t.elem) / 8;
      all = And(e, all, b.CreateICmpEQ(b.CreateSub(p[last], p[r]), e.I64(distance)));
    }
    for (size_t i = r + 1; test_mask && i <= last; ++i) {
      all = And(e, all, b.CreateNot(b.CreateXor(e.regs(mask)[r], e.regs(mask)[i])));
    }
  }
  t.aligned = all;
  return t;
}

}  // namespace

void LowerLoadPtr(Emitter& e, const ir::Op& op) {
  auto& b = e.b();
  const MemoryAccess how = AccessOf(e, op, false);
  const ir::LoadPtrOp load(op);
  const ir::Value *source = load.source(), *result = load.result(), *padding = load.padding_value();
  const bool sub_byte = ir::IsSubByte(result->type().elem());
  const Layout& layout = e.layout(result);
  const Copies copies(layout);
  const bool share = how.strong() && copies.across_threads();
  llvm::Value* first = share ? e.threads().HoldsFirstCopy(layout) : nullptr;
  const PointerTile t = Analyse(e, op, source, load.mask(), how);
  Registers out = InEitherWidth(e, t.vector, t.aligned, [&](int vector) {
    Registers out(static_cast<size_t>(layout.registers()), nullptr);
    for (int r : copies.firsts()) {
      if (r % vector != 0) continue;
      const auto u = static_cast<size_t>(r), n = static_cast<size_t>(vector);
      llvm::Value* predicate = And(e, first, t.mask == nullptr ? nullptr : e.regs(t.mask)[u]);
      const Operands otherwise = padding == nullptr ? Operands() : Operands(e.regs(padding)).subspan(u, n);
      const Registers got = Load(e, how, t.At(e, u), t.elem, vector, predicate, otherwise);
      for (size_t i = 0; i < n; ++i) out[u + i] = sub_byte ? b.CreateAnd(got[i], 15) : got[i];
    }
    return out;
  });
  e.Set(result, share ? copies.Share(e, std::move(out)) : copies.Repeat(std::move(out)));
}

void LowerStorePtr(Emitter& e, const ir::Op& op) {
  // A release publishes what tokens order before it: the barrier makes the other threads' accesses happen before this
  // one, and the release of one thread covers all that happens before it, so that each thread's own release will do.
  const MemoryAccess how = AccessOf(e, op, false);
  const ir::StorePtrOp store(op);
  const ir::Value* destination = store.destination();
  const Registers& values = e.regs(store.value());
  const Layout& layout = e.layout(destination);
  const Copies copies(layout);
  llvm::Value* first = e.threads().HoldsFirstCopy(layout);
  const PointerTile t = Analyse(e, op, destination, store.mask(), how);
  InEitherWidth(e, t.vector, t.aligned, [&](int vector) {
    for (int r : copies.firsts()) {
      if (r % vector != 0) continue;
      const auto u = static_cast<size_t>(r), n = static_cast<size_t>(vector);
      llvm::Value* predicate = And(e, first, t.mask == nullptr ? nullptr : e.regs(t.mask)[u]);
      Store(e, how, t.At(e, u), t.elem, Operands(values).subspan(u, n), predicate);
    }
    return Registers();
  });
}

// Lives as long as the block that contains it, so each iteration of a loop may have the same memory, once no thread uses
// it any more.
void LowerAlloca(Emitter& e, const ir::Op& op) {
  if (LoopAround(op) != nullptr && !e.order().pending().empty()) e.Barrier();
  const ir::Elem elem = op.result(0)->type().element().pointee;
  const auto bytes = static_cast<uint64_t>(ir::AllocaOp(op).num_elem() * std::max(1, ir::MemoryBits(elem) / 8));
  const auto alignment = static_cast<uint64_t>(ir::AllocaOp(op).alignment());
  constexpr uint64_t kMost = uint64_t{1} << 30;
  if (bytes > kMost || alignment > 256) {
    return e.Refuse(op, absl::StrCat("a block has at most ", kMost, " bytes, aligned to at most 256; this asks for ",
                                     bytes, " aligned to ", alignment));
  }
  // One byte at least: addresses differ.
  e.SetScalar(op.result(0), e.workspace().Reserve(std::max<uint64_t>(bytes, 1), std::max<uint64_t>(alignment, 16)));
}

namespace {

// The elements as in memory, in words of the element's size; of 4 bits: two to a byte.
llvm::Constant* InitialValue(Emitter& e, const ir::Global& g) {
  const ir::Elem elem = g.value.elem;
  auto& b = e.b();
  auto n = static_cast<uint64_t>(g.count);
  std::string bytes;
  const absl::string_view given(reinterpret_cast<const char*>(g.value.bytes.data()), g.value.bytes.size());
  const bool zero = std::all_of(given.begin(), given.end(), [](char c) { return c == 0; });
  llvm::Type* word = b.getIntNTy(8 * static_cast<unsigned>(ir::StorageBytes(elem)));
  if (zero) return llvm::Constant::getNullValue(llvm::ArrayType::get(word, n));  // more than enough for 4-bit elements
  if (g.value.splat) {
    bytes.reserve(given.size() * n);
    for (uint64_t i = 0; i < n; ++i) bytes.append(given.data(), given.size());
  } else {
    bytes.assign(given.data(), given.size());
  }
  if (ir::IsSubByte(elem)) {
    std::string packed((n + 1) / 2, '\0');
    for (uint64_t i = 0; i < n; ++i) packed[i / 2] |= static_cast<char>((bytes[i] & 15) << (i % 2 * 4));
    bytes = std::move(packed);
    n = bytes.size();
  }
  return llvm::ConstantDataArray::getRaw(llvm::StringRef(bytes.data(), bytes.size()), n, word);
}

}  // namespace

void LowerGetGlobal(Emitter& e, const ir::Op& op) {
  const absl::string_view name = ir::GetGlobalOp(op).name();
  const ir::Global* g = e.source().FindGlobal(name);
  const std::string symbol = GlobalSymbol(name);
  llvm::GlobalVariable* variable = e.module()->getGlobalVariable(symbol, true);
  if (variable == nullptr) {
    if (g->count > (int64_t{1} << 24))
      return e.Refuse(op, "the global has more than 2^24 elements; pass it as an argument");
    llvm::Constant* value = InitialValue(e, *g);
    // Pointers lead here, so constants are in global memory like the others.
    variable = new llvm::GlobalVariable(*e.module(), value->getType(), false, llvm::GlobalValue::ExternalLinkage, value,
                                        symbol, nullptr, llvm::GlobalValue::NotThreadLocal, 1);
    const uint64_t natural = static_cast<uint64_t>(ir::StorageBytes(g->value.elem));
    variable->setAlignment(llvm::Align(std::max({g->alignment, natural, uint64_t{16}})));
  }
  auto& b = e.b();
  llvm::Value* address = b.CreateAddrSpaceCast(variable, b.getPtrTy());
  e.SetScalar(op.result(0), b.CreatePtrToInt(address, b.getInt64Ty()));
}

}  // namespace tile::codegen
