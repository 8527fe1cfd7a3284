#include "codegen/emit/context/convert.h"

#include <algorithm>
#include <utility>

#include "codegen/emit/context/copies.h"
#include "codegen/emit/context/exchange_part.h"
#include "codegen/emit/context/halves.h"
#include "codegen/layout/algebra.h"
#include "codegen/layout/conversion.h"
#include "codegen/layout/shared.h"
#include "codegen/plan/resources/shared_use.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tile::codegen {
namespace {

// A shuffle of 32 bits, or of two halves of 64.
template <class Fn>
llvm::Value* Shuffled(Emitter& e, llvm::Value* value, Fn shuffle32) {
  auto& b = e.b();
  llvm::Type* type = value->getType();
  const int bits = static_cast<int>(type->getPrimitiveSizeInBits());
  llvm::Value* x = e.ToBits(value);
  if (bits <= 32) {
    x = shuffle32(b.CreateZExt(x, b.getInt32Ty()));
    return e.FromBits(b.CreateTrunc(x, b.getIntNTy(bits)), type);
  }
  llvm::Value* low = shuffle32(b.CreateTrunc(x, b.getInt32Ty()));
  llvm::Value* high = shuffle32(b.CreateTrunc(b.CreateLShr(x, 32), b.getInt32Ty()));
  x = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  return e.FromBits(x, type);
}

llvm::Value* Shuffle32(Emitter& e, llvm::Intrinsic::ID id, llvm::Value* x, llvm::Value* which, int clamp) {
  return e.b().CreateIntrinsic(id, {e.I32(-1), x, which, e.I32(clamp)});
}

// Two floats that were only just rounded to 16 bits: one instruction rounds and packs both. Null for others.
llvm::Value* RoundPair(Emitter& e, Operands values) {
  if (values.size() != 2 || !e.target().has(kBf16Fma)) return nullptr;
  llvm::Value* wide[2];
  for (int i = 0; i < 2; ++i) {
    const auto* rounded = llvm::dyn_cast<llvm::FPTruncInst>(values[static_cast<size_t>(i)]);
    if (rounded == nullptr || !rounded->getSrcTy()->isFloatTy()) return nullptr;
    wide[i] = rounded->getOperand(0);
  }
  const bool half = values[0]->getType()->isHalfTy();
  return e.Ptx(e.b().getInt32Ty(), half ? "cvt.rn.f16x2.f32 $0, $1, $2;" : "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f",
               {wide[1], wide[0]}, false);
}

void Apply(Emitter& e, const std::vector<Exchange>& exchanges, Registers* values) {
  auto& b = e.b();
  for (const Exchange& x : exchanges) {
    llvm::Value* masked = b.CreateAnd(e.threads().number(), e.I32(x.lane_mask | x.warp_mask << 5));
    llvm::Value* odd = b.CreateTrunc(b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, masked), b.getInt1Ty());
    Registers next(values->size());
    for (size_t i = 0; i < values->size(); ++i) {
      llvm::Value *own = (*values)[i], *other = (*values)[i ^ x.with];
      next[i] = own == nullptr || other == nullptr ? own : b.CreateSelect(odd, other, own);
    }
    *values = std::move(next);
  }
}

Registers InWarp(Emitter& e, const Conversion& c, const Registers& in) {
  auto& b = e.b();
  Registers values = in;
  Apply(e, c.before, &values);
  bool stays = true;  // lanes take what they offer
  for (size_t i = 0; i < c.lane_map.size(); ++i) stays = stays && c.lane_map[i] == Mask{1} << i;
  for (Mask m : c.warp_map) stays = stays && m == 0;
  Registers slots(c.slots);
  llvm::Type* type = in[0]->getType();
  for (const Round& round : c.rounds) {
    Registers offered;
    for (int from : round.from) offered.push_back(values[from]);
    if (!stays || round.lane_xor != 0) {
      llvm::Value* lane = b.CreateXor(e.threads().LinearOfThread(c.lane_map, c.warp_map), e.I32(round.lane_xor));
      if (offered.size() == 1) {
        offered[0] = ShuffleFrom(e, offered[0], lane);
      } else {
        offered = UnpackWord(e, ShuffleFrom(e, PackWord(e, offered), lane), offered.size(), type);
      }
    }
    for (size_t i = 0; i < round.to.size(); ++i) slots[round.to[i]] = offered[i];
  }
  Apply(e, c.after, &slots);
  Registers out;
  for (int slot : c.result) out.push_back(slots[slot]);
  return out;
}

Registers ThroughShared(Emitter& e, const Layout& from, const Layout& to, const Registers& in) {
  auto& b = e.b();
  llvm::Type* type = in[0]->getType();
  const int bytes = MemoryBytes(type);
  const SharedExchange x = ChooseShared(from, to, 8 * bytes);
  const Layout write = Compose(x.map.index, from), read = Compose(x.map.index, to);
  const uint64_t total = static_cast<uint64_t>(from.elements()) * bytes;
  auto address = [&](const Layout& in_shared, int reg) {
    llvm::Value* at = b.CreateMul(e.threads().Part(in_shared), e.I32(bytes));
    const uint32_t rest = RegisterPart(in_shared, reg) * bytes;
    return rest == 0 ? at : b.CreateXor(at, e.I32(rest));
  };
  Registers out(to.registers());
  const auto exchange = [&](const ExchangePart& part) {
    for (int i = 0; i < x.write.instructions(); ++i) {
      Registers values;
      for (int k = 0; k < x.write.vector; ++k) values.push_back(in[x.write.registers[i * x.write.vector + k]]);
      llvm::Value* at = address(write, x.write.registers[i * x.write.vector]);
      e.When(part.Has(at), [&] { StoreVector(e, values, part.Place(at)); });
    }
    e.Barrier();
    for (int i = 0; i < x.read.instructions(); ++i) {
      llvm::Value* at = address(read, x.read.registers[i * x.read.vector]);
      llvm::Value* here = part.Has(at);
      const Registers values = LoadVector(e, type, x.read.vector, part.Place(at));
      for (int k = 0; k < x.read.vector; ++k) part.Keep(here, values[k], &out[x.read.registers[i * x.read.vector + k]]);
    }
  };
  ForEachPart(e, total, exchange, kMostConversion);
  return Copies(to).Repeat(std::move(out));
}

}  // namespace

llvm::Value* ShuffleFrom(Emitter& e, llvm::Value* value, llvm::Value* source) {
  return Shuffled(e, value,
                  [&](llvm::Value* x) { return Shuffle32(e, llvm::Intrinsic::nvvm_shfl_sync_idx_i32, x, source, 31); });
}

Registers Merged(Emitter& e, const Registers& x, llvm::BasicBlock* from_x, const Registers& y,
                 llvm::BasicBlock* from_y) {
  Registers merged;
  for (size_t r = 0; r < x.size(); ++r) {
    llvm::PHINode* phi = x[r] == nullptr ? nullptr : e.b().CreatePHI(x[r]->getType(), 2);
    if (phi != nullptr) {
      phi->addIncoming(x[r], from_x);
      phi->addIncoming(y[r], from_y);
    }
    merged.push_back(phi);
  }
  return merged;
}

llvm::Value* ShuffleXor(Emitter& e, llvm::Value* value, uint32_t mask) {
  return Shuffled(e, value, [&](llvm::Value* x) {
    return Shuffle32(e, llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, x, e.I32(mask), 31);
  });
}

llvm::Value* AnyOfWarp(Emitter& e, llvm::Value* condition) {
  return e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_vote_any_sync, {e.I32(-1), condition});
}

llvm::Value* AllOfWarp(Emitter& e, llvm::Value* condition) {
  return e.b().CreateIntrinsic(llvm::Intrinsic::nvvm_vote_all_sync, {e.I32(-1), condition});
}

llvm::Value* ShuffleBy(Emitter& e, llvm::Value* value, uint32_t distance, bool up) {
  return Shuffled(e, value, [&](llvm::Value* x) {
    return up ? Shuffle32(e, llvm::Intrinsic::nvvm_shfl_sync_up_i32, x, e.I32(distance), 0)
              : Shuffle32(e, llvm::Intrinsic::nvvm_shfl_sync_down_i32, x, e.I32(distance), 31);
  });
}

int MemoryBytes(llvm::Type* type) { return std::max(1, static_cast<int>(type->getPrimitiveSizeInBits()) / 8); }

llvm::Value* ToMemory(Emitter& e, llvm::Value* v) {
  return v->getType()->isIntegerTy(1) ? e.b().CreateZExt(v, e.b().getInt8Ty()) : e.ToBits(v);
}

llvm::Value* FromMemory(Emitter& e, llvm::Value* bits, llvm::Type* type) {
  return type->isIntegerTy(1) ? e.b().CreateTrunc(bits, type) : e.FromBits(bits, type);
}

llvm::Value* PackWord(Emitter& e, Operands values) {
  auto& b = e.b();
  if (values.size() == 2 && MemoryBytes(values[0]->getType()) == 2) {
    if (llvm::Value* word = WordOfHalves(values[0], values[1])) return word;
  }
  if (llvm::Value* pair = RoundPair(e, values)) return pair;
  const int bits = 8 * MemoryBytes(values[0]->getType());
  llvm::Value* word = nullptr;
  for (size_t i = 0; i < values.size(); ++i) {
    llvm::Value* x = b.CreateZExt(ToMemory(e, values[i]), b.getInt32Ty());
    if (i > 0) x = b.CreateShl(x, i * static_cast<size_t>(bits));
    word = word == nullptr ? x : b.CreateOr(word, x);
  }
  return word;
}

Registers UnpackWord(Emitter& e, llvm::Value* word, size_t n, llvm::Type* type) {
  auto& b = e.b();
  const size_t bits = 8 * static_cast<size_t>(MemoryBytes(type));
  Registers out;
  for (size_t i = 0; i < n; ++i) {
    llvm::Value* x = i == 0 ? word : b.CreateLShr(word, i * bits);
    out.push_back(FromMemory(e, b.CreateTrunc(x, b.getIntNTy(static_cast<unsigned>(bits))), type));
  }
  return out;
}

void StoreVector(Emitter& e, Operands values, llvm::Value* address) {
  auto& b = e.b();
  const int bytes = MemoryBytes(values[0]->getType()), all = bytes * static_cast<int>(values.size());
  if (values.size() == 1) {
    b.CreateAlignedStore(ToMemory(e, values[0]), address, llvm::Align(bytes));
    return;
  }
  // Words of 32 bits (or 64): what hardware moves.
  Registers words;
  if (bytes < 4) {
    const size_t each = std::min<size_t>(4 / bytes, values.size());
    for (size_t i = 0; i < values.size(); i += each) {
      words.push_back(b.CreateTrunc(PackWord(e, values.subspan(i, each)), b.getIntNTy(8 * bytes * each)));
    }
  } else {
    for (llvm::Value* v : values) words.push_back(ToMemory(e, v));
  }
  llvm::Value* vector = words[0];
  if (words.size() > 1) {
    vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(words[0]->getType(), words.size()));
    for (size_t i = 0; i < words.size(); ++i) vector = b.CreateInsertElement(vector, words[i], i);
  }
  b.CreateAlignedStore(vector, address, llvm::Align(all));
}

Registers LoadVector(Emitter& e, llvm::Type* type, int n, llvm::Value* address) {
  auto& b = e.b();
  const int bytes = MemoryBytes(type), all = bytes * n;
  llvm::Type* narrow = b.getIntNTy(8 * bytes);
  if (n == 1) return {FromMemory(e, b.CreateAlignedLoad(narrow, address, llvm::Align(bytes)), type)};
  const int each = bytes < 4 ? std::min(4 / bytes, n) : 1;
  llvm::Type* word = b.getIntNTy(8 * bytes * each);
  const int words = n / each;
  llvm::Value* loaded = b.CreateAlignedLoad(
      words > 1 ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(word, words)) : word, address, llvm::Align(all));
  Registers out;
  for (int i = 0; i < words; ++i) {
    llvm::Value* w = words > 1 ? b.CreateExtractElement(loaded, i) : loaded;
    for (int k = 0; k < each; ++k) {
      llvm::Value* x = k == 0 ? w : b.CreateLShr(w, k * 8 * bytes);
      out.push_back(FromMemory(e, b.CreateTrunc(x, narrow), type));
    }
  }
  return out;
}

Registers ConvertRegisters(Emitter& e, const Layout& from, const Layout& to, const Registers& in) {
  if (from == to) return in;
  const int bits = 8 * MemoryBytes(in[0]->getType());
  const Conversion c = Convert(from, to, bits);
  if (c.kind == ConversionKind::kNone) return Registers(in.begin(), in.begin() + to.registers());
  return c.kind == ConversionKind::kShared ? ThroughShared(e, from, to, in) : InWarp(e, c, in);
}

llvm::Value* SharedPlace(Emitter& e, llvm::Value* base, absl::Span<const Mask> lanes, absl::Span<const Mask> warps,
                         Mask reg, int bytes) {
  auto& b = e.b();
  std::vector<uint64_t> of_lane, of_warp;
  Mask thread = 0;
  for (Mask m : lanes) of_lane.push_back(m * static_cast<Mask>(bytes)), thread |= m;
  for (Mask m : warps) of_warp.push_back(m * static_cast<Mask>(bytes)), thread |= m;
  llvm::Value* at = e.threads().LinearOfThread(of_lane, of_warp);
  // Bits that no thread has are a constant in the instruction.
  const Mask mixed = reg & thread, apart = reg & ~thread;
  if (mixed != 0) at = b.CreateXor(at, e.I32(static_cast<int64_t>(mixed) * bytes));
  at = b.CreateGEP(b.getInt8Ty(), base, at);
  return apart == 0 ? at : b.CreateGEP(b.getInt8Ty(), at, e.I32(static_cast<int64_t>(apart) * bytes));
}

}  // namespace tile::codegen
