#include "codegen/emit/elementwise/byte_floats.h"

#include "codegen/emit/context/bytes.h"
#include "codegen/emit/context/halves.h"
#include "ir/op_views.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

using ir::Elem;
using llvm::Value;

Value* Permute(Emitter& e, Value* low, Value* high, int64_t bytes) {
  return e.b().CreateIntrinsic(e.b().getInt32Ty(), llvm::Intrinsic::nvvm_prmt, {low, high, e.I32(bytes)});
}

// Bytes 2 * i and 2 * i + 1 as f16: behind 0x64, the byte is added to 1024.
Value* HalvesOf(Emitter& e, Value* word, int i, double bias) {
  auto& b = e.b();
  llvm::Type* type = llvm::FixedVectorType::get(b.getHalfTy(), 2);
  Value* sums = b.CreateBitCast(Permute(e, word, e.I32(0x64646464), i == 0 ? 0x4140 : 0x4342), type);
  return b.CreateBitCast(b.CreateFSub(sums, llvm::ConstantFP::get(type, 1024 + bias)), b.getInt32Ty());
}

// Byte i as f32: the last of 0x4B000000, it is added to 2^23.
Value* FloatOf(Emitter& e, Value* word, int i, double bias) {
  auto& b = e.b();
  Value* sum = b.CreateBitCast(Permute(e, word, e.I32(0x4B000000), 0x7650 + i), b.getFloatTy());
  return b.CreateFSub(sum, llvm::ConstantFP::get(b.getFloatTy(), 8388608 + bias));
}

}  // namespace

Registers FloatsOfBytes(Emitter& e, const ir::Op& op, Operands in) {
  if (!ir::IToFOp::Is(&op) || op.operand(0)->type().elem() != Elem::kI8) return {};
  const Elem to = op.result(0)->type().elem();
  if (to != Elem::kF16 && to != Elem::kBF16 && to != Elem::kF32) return {};
  const bool is_signed = ir::SignednessOp(op).signedness() == ir::Signedness::kSigned;
  Registers out;
  for (Value* word : WordsOfBytes(in)) {
    // Signed ones without their sign: 128 more.
    const double bias = is_signed ? 128 : 0;
    if (is_signed) word = e.b().CreateXor(word, e.I32(0x80808080));
    if (to == Elem::kF16) {
      for (int i : {0, 1}) {
        Value* pair = HalvesOf(e, word, i, bias);
        for (int half : {0, 1}) out.push_back(HalfOfWord(e, pair, half, e.RegisterType(to)));
      }
      continue;
    }
    Value* floats[kBytesOfWord];
    for (int i = 0; i < kBytesOfWord; ++i) floats[i] = FloatOf(e, word, i, bias);
    if (to == Elem::kF32) {
      out.insert(out.end(), floats, floats + kBytesOfWord);
      continue;
    }
    // Eight digits are the upper half of a float.
    for (int i = 0; i < kBytesOfWord; i += 2) {
      Value *low = e.b().CreateBitCast(floats[i], e.b().getInt32Ty()),
            *high = e.b().CreateBitCast(floats[i + 1], e.b().getInt32Ty());
      Value* pair = Permute(e, low, high, 0x7632);
      for (int half : {0, 1}) out.push_back(HalfOfWord(e, pair, half, e.RegisterType(to)));
    }
  }
  return out;
}

}  // namespace tile::codegen
