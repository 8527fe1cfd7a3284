#include "codegen/emit/context/ptx_access.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "codegen/emit/context/halves.h"
#include "codegen/target/decisions.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Metadata.h"

namespace tile::codegen {
namespace {

// The words of an access: what one register of the instruction holds.
struct Words {
  int bits = 32;          // 8, 16, 32, 64
  int count = 1;          // 1, 2, 4
  int elements = 1;       // in a word; 4-bit elements: pairs count as one
  int element_bits = 32;  // 8 and more
};

Words WordsOf(const MemoryAccess& how, ir::Elem elem, int count) {
  Words w;
  int bits = ir::MemoryBits(elem);
  if (bits == 4) {
    bits = 8;
    count /= 2;
  }
  w.element_bits = bits;
  w.bits = how.strong() || bits == 64 ? bits : std::min(32, bits * count);
  w.elements = w.bits / bits;
  w.count = count / w.elements;
  return w;
}

// Bytes travel in 32-bit registers.
llvm::Type* WordType(Emitter& e, const Words& w) { return e.b().getIntNTy(w.bits == 8 ? 32 : w.bits); }
char WordConstraint(const Words& w) { return w.bits == 64 ? 'l' : w.bits == 16 ? 'h' : 'r'; }
std::string MovType(const Words& w) { return absl::StrCat("b", w.bits == 8 ? 32 : w.bits); }

// Registers to units of memory (bytes for pairs of 4-bit elements), as integers of element_bits.
Registers ToMemory(Emitter& e, ir::Elem elem, Operands values) {
  auto& b = e.b();
  Registers out;
  for (size_t i = 0; i < values.size(); ++i) {
    llvm::Value* v = values[i];
    if (elem == ir::Elem::kI1) {
      v = b.CreateZExt(v, b.getInt8Ty());
    } else if (ir::IsSubByte(elem)) {
      v = b.CreateOr(v, b.CreateShl(values[i + 1], 4));
      ++i;
    } else {
      v = e.ToBits(v);
    }
    out.push_back(v);
  }
  return out;
}

Registers FromMemory(Emitter& e, ir::Elem elem, const Registers& units) {
  auto& b = e.b();
  Registers out;
  for (llvm::Value* v : units) {
    if (elem == ir::Elem::kI1) {
      out.push_back(b.CreateIsNotNull(v));
    } else if (ir::IsSubByte(elem)) {
      out.push_back(b.CreateAnd(v, 15));
      out.push_back(b.CreateLShr(v, 4));
    } else if (elem == ir::Elem::kTF32) {
      out.push_back(e.FromBits(b.CreateAnd(v, uint64_t{0xFFFFE000}), b.getFloatTy()));
    } else {
      out.push_back(e.FromBits(v, e.RegisterType(elem)));
    }
  }
  return out;
}

Registers Pack(Emitter& e, const Words& w, const Registers& units) {
  auto& b = e.b();
  Registers out;
  for (int i = 0; i < w.count; ++i) {
    llvm::Value* word = units[i * w.elements];
    llvm::Value* whole =
        w.elements == 2 && w.element_bits == 16 ? WordOfHalves(units[2 * i], units[2 * i + 1]) : nullptr;
    if (whole != nullptr) {
      word = whole;
    } else if (w.elements > 1) {
      auto* vector = llvm::FixedVectorType::get(b.getIntNTy(w.element_bits), w.elements);
      word = llvm::PoisonValue::get(vector);
      for (int k = 0; k < w.elements; ++k) word = b.CreateInsertElement(word, units[i * w.elements + k], k);
      word = b.CreateBitCast(word, b.getIntNTy(w.bits));
    }
    out.push_back(b.CreateZExt(word, WordType(e, w)));
  }
  return out;
}

Registers Unpack(Emitter& e, const Words& w, const Registers& words) {
  auto& b = e.b();
  Registers out;
  for (llvm::Value* word : words) {
    word = b.CreateTrunc(word, b.getIntNTy(w.bits));
    if (w.elements == 1) {
      out.push_back(word);
      continue;
    }
    llvm::Value* vector = b.CreateBitCast(word, llvm::FixedVectorType::get(b.getIntNTy(w.element_bits), w.elements));
    for (int k = 0; k < w.elements; ++k) out.push_back(b.CreateExtractElement(vector, k));
  }
  return out;
}

// "$2" or "{$2, $3}".
std::string OperandList(int first, int n) {
  if (n == 1) return absl::StrCat("$", first);
  std::string s = "{";
  for (int i = 0; i < n; ++i) absl::StrAppend(&s, i == 0 ? "$" : ", $", first + i);
  return s + "}";
}

std::string VectorSuffix(const Words& w) {
  return absl::StrCat(w.count > 1 ? absl::StrCat(".v", w.count) : "", ".b", w.bits);
}

bool IsTrue(const llvm::Value* predicate) {
  const auto* c = llvm::dyn_cast_or_null<llvm::ConstantInt>(predicate);
  return c != nullptr && c->isOne();
}

}  // namespace

std::string MemoryAccess::qualifiers() const {
  return strong() ? absl::StrCat(".", ir::Keyword(ordering), ".", scope) : "";
}

MemoryAccess AccessOf(const Emitter& e, const ir::Op& op, bool shared) {
  MemoryAccess how;
  how.op = &op;
  how.shared = shared;
  how.ordering = ir::OrderedOp(op).ordering();
  if (!how.strong()) return how;
  switch (ir::OrderedOp(op).scope().value_or(ir::MemoryScope::kTlBlk)) {
    case ir::MemoryScope::kTlBlk: how.scope = "cta"; break;
    case ir::MemoryScope::kDevice: how.scope = "gpu"; break;
    case ir::MemoryScope::kSys: how.scope = "sys"; break;
    // Without clusters the wider scope holds all that a cluster could.
    case ir::MemoryScope::kCluster: how.scope = e.target().has(kCluster) ? "cluster" : "gpu"; break;
  }
  return how;
}

llvm::Value* AddressValue(Emitter& e, const Address& at) {
  if (at.offset == 0) return at.base;
  return e.b().CreateAdd(at.base, llvm::ConstantInt::getSigned(at.base->getType(), at.offset));
}

std::string AddressText(const Address& at, int operand) {
  return at.offset == 0 ? absl::StrCat("[$", operand, "]") : absl::StrCat("[$", operand, "+", at.offset, "]");
}

const char* AddressConstraint(const Address& at) { return at.base->getType()->isIntegerTy(32) ? "r" : "l"; }

int MaxVector(const MemoryAccess& how, ir::Elem elem) {
  const int most = 128 / ir::MemoryBits(elem);
  if (!how.strong()) return most;
  return std::min(most, ir::IsSubByte(elem) ? 8 : 4);
}

namespace {

void MarkUnordered(Emitter& e, const MemoryAccess& how, llvm::Value* access) {
  const std::optional<int64_t> number = how.op == nullptr ? std::nullopt : DecisionOf<Decision::kUnordered>(*how.op);
  if (!number) return;
  llvm::Metadata* node = llvm::ConstantAsMetadata::get(llvm::cast<llvm::Constant>(e.I64(*number)));
  llvm::cast<llvm::Instruction>(access)->setMetadata(InfoOf(Decision::kUnordered).name,
                                                     llvm::MDNode::get(e.context(), {node}));
}

}  // namespace

Registers Load(Emitter& e, const MemoryAccess& how, Address at, ir::Elem elem, int count, llvm::Value* predicate,
               Operands otherwise) {
  auto& b = e.b();
  if (IsTrue(predicate)) predicate = nullptr;
  const Words w = WordsOf(how, elem, count);
  const int n = w.count;
  std::string text = absl::StrCat("ld", how.qualifiers(), how.space(), VectorSuffix(w), " ", OperandList(0, n), ", ",
                                  AddressText(at, n), ";");
  // With a predicate the results are written before the operands are read.
  std::string constraints;
  for (int i = 0; i < n; ++i) {
    absl::StrAppend(&constraints, i == 0 ? "" : ",", predicate != nullptr ? "=&" : "=",
                    std::string(1, WordConstraint(w)));
  }
  absl::StrAppend(&constraints, ",", AddressConstraint(at));
  Registers in = {at.base};
  if (predicate != nullptr) {
    absl::StrAppend(&constraints, ",b");
    in.push_back(predicate);
    Registers fill;
    if (!otherwise.empty()) fill = Pack(e, w, ToMemory(e, elem, otherwise));
    std::string before = "{ ";
    for (int i = 0; i < n; ++i) {
      const auto* constant = fill.empty() ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(fill[i]);
      if (fill.empty() || constant != nullptr) {
        absl::StrAppend(&before, "mov.", MovType(w), " $", i, ", ", constant == nullptr ? 0 : constant->getZExtValue(),
                        "; ");
      } else {
        absl::StrAppend(&before, "mov.", MovType(w), " $", i, ", $", n + in.size(), "; ");
        absl::StrAppend(&constraints, ",", std::string(1, WordConstraint(w)));
        in.push_back(fill[i]);
      }
    }
    text = absl::StrCat(before, "@$", n + 1, " ", text, " }");
  }
  llvm::Type* word = WordType(e, w);
  llvm::Type* result = n == 1 ? word : llvm::StructType::get(e.context(), std::vector<llvm::Type*>(n, word));
  llvm::Value* loaded = e.Ptx(result, text, constraints, in, true);
  MarkUnordered(e, how, loaded);
  if (how.op != nullptr) e.order().Did(*how.op);
  Registers words = {loaded};
  if (n > 1) {
    words.clear();
    for (int i = 0; i < n; ++i) words.push_back(b.CreateExtractValue(loaded, i));
  }
  return FromMemory(e, elem, Unpack(e, w, words));
}

void Store(Emitter& e, const MemoryAccess& how, Address at, ir::Elem elem, Operands values, llvm::Value* predicate) {
  if (IsTrue(predicate)) predicate = nullptr;
  const Words w = WordsOf(how, elem, static_cast<int>(values.size()));
  Registers in = {at.base};
  std::string constraints = AddressConstraint(at);
  for (llvm::Value* word : Pack(e, w, ToMemory(e, elem, values))) {
    absl::StrAppend(&constraints, ",", std::string(1, WordConstraint(w)));
    in.push_back(word);
  }
  std::string text = absl::StrCat("st", how.qualifiers(), how.space(), VectorSuffix(w), " ", AddressText(at, 0), ", ",
                                  OperandList(1, w.count), ";");
  if (predicate != nullptr) {
    text = absl::StrCat("@$", in.size(), " ", text);
    absl::StrAppend(&constraints, ",b");
    in.push_back(predicate);
  }
  MarkUnordered(e, how, e.Ptx(e.b().getVoidTy(), text, constraints, in, true));
  if (how.op != nullptr) e.order().Did(*how.op);
}

void CopyToShared(Emitter& e, const Address& to, const Address& from, int bytes, llvm::Value* predicate,
                  llvm::Value* inside) {
  auto& b = e.b();
  Registers in = {to.base, from.base};
  std::string text = absl::StrCat("cp.async.", bytes == 16 ? "cg" : "ca", ".shared.global ", AddressText(to, 0), ", ",
                                  AddressText(from, 1), ", ", bytes);
  std::string constraints = absl::StrCat("r,", AddressConstraint(from));
  if (inside != nullptr) {
    // What is ignored is zero. As a size of none, each condition would become a number and the number a condition again.
    absl::StrAppend(&text, ", $", in.size());
    constraints += ",b";
    in.push_back(b.CreateNot(inside));
  }
  if (predicate != nullptr) {
    text = absl::StrCat("@$", in.size(), " ", text);
    constraints += ",b";
    in.push_back(predicate);
  }
  e.Ptx(b.getVoidTy(), text + ";", constraints, in, true);
}

void EndCopies(Emitter& e) { e.Ptx(e.b().getVoidTy(), "cp.async.commit_group;", "", {}, true); }

void AwaitCopies(Emitter& e, int groups) {
  e.Ptx(e.b().getVoidTy(), absl::StrCat("cp.async.wait_group ", groups, ";"), "", {}, true);
}

llvm::Value* And(Emitter& e, llvm::Value* a, llvm::Value* b) {
  if (a == nullptr) return b;
  return b == nullptr ? a : e.b().CreateAnd(a, b);
}

}  // namespace tile::codegen
