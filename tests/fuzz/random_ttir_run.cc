// Makes random programs in TTIR, and runs them one statement after the other.

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/fuzz/random.h"
#include "tests/fuzz/random_ttir.h"

namespace tile::fuzz {
namespace {

using Kind = TtirStmt::Kind;

std::vector<TtirStmt> MakeBody(Random& r, int depth, bool may_return);

TtirStmt MakeStmt(Random& r, int depth, bool may_return) {
  TtirStmt s;
  const auto any = [&](int n) { return static_cast<int>(r.Below(n)); };
  s.a = any(kTiles), s.b = any(kTiles), s.c = any(kTiles), s.dst = any(kTiles);
  s.base = any(kBases);
  s.stride = 1 + any(3);
  s.constant = any(8);
  s.op = any(4);
  s.masked = r.Percent(30);
  const int pick = any(100);
  if (pick < 30) {
    s.kind = r.Of({Kind::kLoad, Kind::kStore});
  } else if (pick < 44) {
    s.kind = r.Of({Kind::kLoadScalar, Kind::kStoreScalar});
  } else if (pick < 54) {
    s.kind = r.Of({Kind::kAtomic, Kind::kAtomicTile, Kind::kCas});
  } else if (pick < 62) {
    s.kind = r.Of({Kind::kDescLoad, Kind::kDescStore, Kind::kDescAdd});
  } else if (pick < 76 || depth == 0) {
    s.kind = r.Of({Kind::kScalarOp, Kind::kTileOp, Kind::kSum, Kind::kGather, Kind::kBarrier});
  } else {
    s.kind = r.Of({Kind::kFor, Kind::kWalk, Kind::kWhile, Kind::kIf, Kind::kIf, Kind::kCall, Kind::kReturn});
    if (s.kind == Kind::kReturn && !may_return) s.kind = Kind::kIf;
    if (s.kind == Kind::kReturn) s.constant -= 4;
    if (s.kind == Kind::kIf) s.other = MakeBody(r, depth - 1, false);
    if (s.kind != Kind::kReturn) s.body = MakeBody(r, depth - 1, s.kind == Kind::kCall);
  }
  return s;
}

std::vector<TtirStmt> MakeBody(Random& r, int depth, bool may_return) {
  std::vector<TtirStmt> out;
  for (int64_t i = r.In(1, depth == 3 ? 14 : 5); i > 0; --i) out.push_back(MakeStmt(r, depth, may_return));
  return out;
}

struct State {
  std::array<int32_t, kScalars> s = {};
  std::array<std::array<int32_t, kTileSize>, kTiles> t = {};
};

class Interpreter {
 public:
  Interpreter(const TtirProgram& p, std::vector<int32_t>* memory) : p_(p), memory_(*memory) {}

  // False: it returned.
  bool Run(const std::vector<TtirStmt>& body, State& v) {
    for (const TtirStmt& s : body) {
      if (!RunOne(s, v)) return false;
    }
    return true;
  }

 private:
  int32_t& At(const TtirStmt& s, const State& v, int k = 0) {
    return memory_[static_cast<size_t>(p_.offsets[s.base] + (v.s[static_cast<size_t>(s.c)] & 31) + s.constant +
                                       k * s.stride)];
  }
  static int32_t Wrap(int64_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); }
  static int32_t Combine(int op, int32_t x, int32_t y) {
    return op == 0 ? Wrap(int64_t{x} + y) : op == 1 ? Wrap(int64_t{x} * y) : op == 2 ? x ^ y : Wrap(int64_t{x} - y);
  }
  // What an update leaves: add, max, exchange, unsigned min.
  static int32_t Update(int op, int32_t old, int32_t x) {
    const auto u = [](int32_t v) { return static_cast<uint32_t>(v); };
    return op == 0 ? Wrap(int64_t{old} + x) : op == 1 ? std::max(old, x) : op == 2 ? x : u(old) < u(x) ? old : x;
  }
  bool RunMemory(const TtirStmt& s, State& v);
  bool RunOne(const TtirStmt& s, State& v);

  const TtirProgram& p_;
  std::vector<int32_t>& memory_;
};

// False: it is no access.
bool Interpreter::RunMemory(const TtirStmt& s, State& v) {
  auto& dst = v.s[static_cast<size_t>(s.dst)];
  auto& tile = v.t[static_cast<size_t>(s.dst)];
  const auto a = v.t[static_cast<size_t>(s.a)], b = v.t[static_cast<size_t>(s.b)];
  const int32_t x = v.s[static_cast<size_t>(s.b)];
  const int64_t place = (v.s[static_cast<size_t>(s.a)] & 31) - 8;
  const auto each = [&](auto&& f) {
    for (int k = 0; k < kTileSize; ++k) f(static_cast<size_t>(k));
  };
  const auto on = [&](size_t k) { return !s.masked || a[k] < s.constant; };
  const auto block = [&](size_t k) -> int32_t* {
    const int64_t at = place + static_cast<int64_t>(k);
    return at >= 0 && at < 20 ? &memory_[static_cast<size_t>(p_.offsets[s.base] + at)] : nullptr;
  };
  switch (s.kind) {
    case Kind::kLoad: {
      std::array<int32_t, kTileSize> got;
      each([&](size_t k) { got[k] = on(k) ? At(s, v, static_cast<int>(k)) : b[k]; });
      tile = got;
      return true;
    }
    case Kind::kStore:
      each([&](size_t k) {
        if (on(k)) At(s, v, static_cast<int>(k)) = b[k];
      });
      return true;
    case Kind::kLoadScalar: dst = s.op == 2 ? static_cast<int16_t>(At(s, v) & 0xFFFF) : At(s, v); return true;
    case Kind::kStoreScalar:
      At(s, v) = s.op == 2 ? Wrap((int64_t{At(s, v)} & ~int64_t{0xFFFF}) | (x & 0xFFFF)) : x;
      return true;
    case Kind::kAtomic: {
      const int32_t old = At(s, v);
      At(s, v) = Update(s.op, old, x);
      dst = old;
      return true;
    }
    case Kind::kAtomicTile: {
      std::array<int32_t, kTileSize> old;
      each([&](size_t k) {
        old[k] = At(s, v, static_cast<int>(k));
        At(s, v, static_cast<int>(k)) = Update(s.op, old[k], b[k]);
      });
      tile = old;
      return true;
    }
    case Kind::kCas: {
      const int32_t old = At(s, v);
      if (old == v.s[static_cast<size_t>(s.a)]) At(s, v) = x;
      dst = old;
      return true;
    }
    case Kind::kDescLoad: {
      std::array<int32_t, kTileSize> got;
      each([&](size_t k) { got[k] = block(k) != nullptr ? *block(k) : 0; });
      tile = got;
      return true;
    }
    case Kind::kDescStore:
    case Kind::kDescAdd:
      each([&](size_t k) {
        if (block(k) != nullptr) *block(k) = s.kind == Kind::kDescAdd ? Wrap(int64_t{*block(k)} + b[k]) : b[k];
      });
      return true;
    default: return false;
  }
}

bool Interpreter::RunOne(const TtirStmt& s, State& v) {
  if (RunMemory(s, v)) return true;
  auto& dst = v.s[static_cast<size_t>(s.dst)];
  const auto a = v.t[static_cast<size_t>(s.a)], b = v.t[static_cast<size_t>(s.b)];
  const int32_t x = v.s[static_cast<size_t>(s.a)], y = v.s[static_cast<size_t>(s.b)], z = v.s[static_cast<size_t>(s.c)];
  switch (s.kind) {
    case Kind::kScalarOp: dst = Combine(s.op, x, Wrap(int64_t{y} + s.constant)); return true;
    case Kind::kTileOp:
      for (size_t k = 0; k < kTileSize; ++k) {
        v.t[static_cast<size_t>(s.dst)][k] = Combine(s.op, a[k], Wrap(int64_t{b[k]} + z));
      }
      return true;
    case Kind::kSum: {
      int32_t sum = 0;
      for (int32_t e : a) sum = Wrap(int64_t{sum} + e);
      dst = sum;
      return true;
    }
    case Kind::kGather:
      for (size_t k = 0; k < kTileSize; ++k) v.t[static_cast<size_t>(s.dst)][k] = a[static_cast<size_t>(b[k] & 3)];
      return true;
    case Kind::kFor:
    case Kind::kWhile:
      for (int i = x & 3; i > 0; --i) Run(s.body, v);
      return true;
    case Kind::kWalk: {
      const size_t from = static_cast<size_t>(&At(s, v) - memory_.data());
      for (size_t i = 0; i < static_cast<size_t>(x & 3); ++i) {
        std::array<int32_t, kTileSize> got;
        const auto at = [&](size_t k) -> int32_t& { return memory_[from + (k + i) * static_cast<size_t>(s.stride)]; };
        for (size_t k = 0; k < kTileSize; ++k) got[k] = at(k);
        v.t[static_cast<size_t>(s.dst)] = got;
        Run(s.body, v);
        for (size_t k = 0; k < kTileSize; ++k) at(k) = v.t[static_cast<size_t>(s.b)][k];
      }
      return true;
    }
    case Kind::kIf: Run(x < s.constant ? s.body : s.other, v); return true;
    case Kind::kCall: {
      State inner = v;
      Run(s.body, inner);
      dst = inner.s[0];
      return true;
    }
    case Kind::kReturn: return x >= s.constant;
    default: return true;
  }
}

}  // namespace

TtirProgram MakeTtirProgram(uint64_t seed) {
  Random r(seed);
  TtirProgram p;
  for (int& offset : p.offsets) offset = static_cast<int>(r.Of({0, 0, 1, 3, 8, 17, 40}));
  p.body = MakeBody(r, 3, true);
  return p;
}

std::vector<int32_t> StartOf(const TtirProgram& p) {
  std::vector<int32_t> memory(kMemory);
  for (size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<int32_t>((i * 37 + static_cast<size_t>(p.offsets[0])) % 23) - 5;
  return memory;
}

void InterpretTtir(const TtirProgram& p, std::vector<int32_t>* memory, std::vector<int32_t>* out) {
  State v;
  if (!Interpreter(p, memory).Run(p.body, v)) return;
  for (size_t i = 0; i < kScalars; ++i) (*out)[i] = v.s[i];
  for (size_t i = 0; i < kTiles; ++i) {
    for (size_t k = 0; k < kTileSize; ++k) (*out)[kScalars + i * kTileSize + k] = v.t[i][k];
  }
}

}  // namespace tile::fuzz
