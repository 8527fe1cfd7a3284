// Random programs as TTIR: every assignment gives a variable another name, and loops and branches carry all variables.

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/fuzz/random_ttir.h"

namespace tile::fuzz {
namespace {

using Kind = TtirStmt::Kind;

constexpr char kTile[] = "tensor<4xi32>", kPointer[] = "!tt.ptr<i32>", kPointers[] = "tensor<4x!tt.ptr<i32>>";

// What the variables are called at a place of the text.
struct Names {
  std::vector<std::string> s, t;
  std::vector<std::string> All() const {
    std::vector<std::string> out = s;
    out.insert(out.end(), t.begin(), t.end());
    return out;
  }
};

class Printer {
 public:
  // A function of the bases, %out or the variables, and a body.
  std::string Function(absl::string_view head, const std::vector<TtirStmt>& body, Names v, bool kernel) {
    std::string saved = std::exchange(text_, "");
    const bool was_kernel = std::exchange(kernel_, kernel);
    if (kernel) {
      for (int i = 0; i < kScalars; ++i) v.s.push_back(Constant("0"));
      for (int i = 0; i < kTiles; ++i) v.t.push_back(Dense(0));
    }
    Body(body, &v);
    if (kernel) {
      for (int i = 0; i < kScalars; ++i)
        Line("tt.store ", OutAt(i), ", ", v.s[static_cast<size_t>(i)], " : ", kPointer);
      for (int i = 0; i < kTiles; ++i) {
        const std::string p = Tiles(OutAt(kScalars + i * kTileSize), 1);
        Line("tt.store ", p, ", ", v.t[static_cast<size_t>(i)], " : ", kPointers);
      }
    }
    Return(v);
    kernel_ = was_kernel;
    return absl::StrCat(head, " {\n", std::exchange(text_, std::move(saved)), "}\n");
  }
  const std::string& functions() const { return functions_; }

 private:
  template <class... T>
  void Line(const T&... parts) {
    absl::StrAppend(&text_, "  ", parts..., "\n");
  }
  // `%name = ` and what follows.
  template <class... T>
  std::string Value(const T&... parts) {
    const std::string name = absl::StrCat("%v", next_++);
    Line(name, " = ", parts...);
    return name;
  }
  std::string Constant(absl::string_view v) { return Value("arith.constant ", v, " : i32"); }
  std::string Dense(int v) { return Value("arith.constant dense<", v, "> : ", kTile); }
  std::string And(const std::string& v, int mask) {
    return Value("arith.andi ", v, ", ", Constant(absl::StrCat(mask)), " : i32");
  }
  std::string OutAt(int i) { return Value("tt.addptr %out, ", Constant(absl::StrCat(i)), " : ", kPointer, ", i32"); }
  // Pointers to neighbours of a scalar pointer.
  std::string Tiles(const std::string& pointer, int stride) {
    const std::string range = Value("tt.make_range {end = 4 : i32, start = 0 : i32} : ", kTile);
    const std::string steps = Value("arith.muli ", range, ", ", Dense(stride), " : ", kTile);
    const std::string all = Value("tt.splat ", pointer, " : ", kPointer, " -> ", kPointers);
    return Value("tt.addptr ", all, ", ", steps, " : ", kPointers, ", ", kTile);
  }
  std::string Place(const TtirStmt& s, const Names& v) {
    const std::string at = Value("arith.addi ", And(v.s[static_cast<size_t>(s.c)], 31), ", ",
                                 Constant(absl::StrCat(s.constant)), " : i32");
    return Value("tt.addptr %b", s.base, ", ", at, " : ", kPointer, ", i32");
  }
  void Return(const Names& v) {
    if (kernel_) {
      Line("tt.return");
    } else {
      Line("tt.return ", v.s[0], " : i32");
    }
  }
  static std::string Types() {
    std::vector<std::string> out(kScalars, "i32");
    out.insert(out.end(), kTiles, kTile);
    return absl::StrJoin(out, ", ");
  }
  Names Fresh() {
    Names v;
    for (int i = 0; i < kScalars; ++i) v.s.push_back(absl::StrCat("%v", next_++));
    for (int i = 0; i < kTiles; ++i) v.t.push_back(absl::StrCat("%v", next_++));
    return v;
  }
  // The variables from result `first` on of what has several.
  static Names Results(const std::string& of, int first) {
    Names v;
    for (int i = 0; i < kScalars; ++i) v.s.push_back(absl::StrCat(of, "#", first++));
    for (int i = 0; i < kTiles; ++i) v.t.push_back(absl::StrCat(of, "#", first++));
    return v;
  }
  static std::string Inits(const Names& inner, const Names& outer) {
    std::string out;
    const std::vector<std::string> to = inner.All(), from = outer.All();
    for (size_t i = 0; i < to.size(); ++i) absl::StrAppend(&out, i == 0 ? "" : ", ", to[i], " = ", from[i]);
    return out;
  }
  static std::string Listed(const Names& v) { return absl::StrJoin(v.All(), ", "); }

  void Body(const std::vector<TtirStmt>& body, Names* v) {
    for (const TtirStmt& s : body) {
      if (!Access(s, v) && !Atomic(s, v) && !Compute(s, v)) Control(s, v);
    }
  }
  bool Access(const TtirStmt& s, Names* v);
  bool Atomic(const TtirStmt& s, Names* v);
  bool Compute(const TtirStmt& s, Names* v);
  void Control(const TtirStmt& s, Names* v);
  void Loop(const TtirStmt& s, Names* v);
  void Call(const TtirStmt& s, Names* v);

  std::string text_, functions_;
  int next_ = 0, next_function_ = 0;
  bool kernel_ = true;
};

bool Printer::Access(const TtirStmt& s, Names* v) {
  std::string& dst = v->s[static_cast<size_t>(s.dst)];
  std::string& tile = v->t[static_cast<size_t>(s.dst)];
  const std::string a = v->t[static_cast<size_t>(s.a)], b = v->t[static_cast<size_t>(s.b)];
  const std::string x = v->s[static_cast<size_t>(s.b)];
  const auto mask = [&] { return Value("arith.cmpi slt, ", a, ", ", Dense(s.constant), " : ", kTile); };
  const auto anywhere = [&] {
    return Value("arith.subi ", And(v->s[static_cast<size_t>(s.a)], 31), ", ", Constant("8"), " : i32");
  };
  const auto descriptor = [&] {
    const std::string one = Value("arith.constant 1 : i64");
    return Value("tt.make_tensor_descriptor %b", s.base, ", [", Constant("20"), "], [", one, "] : <i32>, <4xi32>");
  };
  if (s.kind == Kind::kLoad) {
    const std::string p = Tiles(Place(s, *v), s.stride);
    tile = s.masked ? Value("tt.load ", p, ", ", mask(), ", ", b, " : ", kPointers)
                    : Value("tt.load ", p, " : ", kPointers);
  } else if (s.kind == Kind::kStore) {
    const std::string p = Tiles(Place(s, *v), s.stride), m = s.masked ? absl::StrCat(", ", mask()) : "";
    Line("tt.store ", p, ", ", b, m, " : ", kPointers);
  } else if (s.kind == Kind::kLoadScalar || s.kind == Kind::kStoreScalar) {
    std::string p = Place(s, *v);
    const bool half = s.op == 2;
    if (half) p = Value("tt.bitcast ", p, " : ", kPointer, " -> !tt.ptr<i16>");
    if (s.kind == Kind::kLoadScalar) {
      dst = Value("tt.load ", p, s.op == 1 ? " {isVolatile = true}" : "", " : ", half ? "!tt.ptr<i16>" : kPointer);
      if (half) dst = Value("arith.extsi ", dst, " : i16 to i32");
    } else {
      const std::string value = half ? Value("arith.trunci ", x, " : i32 to i16") : x;
      Line("tt.store ", p, ", ", value, " : ", half ? "!tt.ptr<i16>" : kPointer);
    }
  } else if (s.kind == Kind::kDescLoad) {
    const std::string d = descriptor(), at = anywhere();
    tile = Value("tt.descriptor_load ", d, "[", at, "] : !tt.tensordesc<4xi32> -> ", kTile);
  } else if (s.kind == Kind::kDescStore || s.kind == Kind::kDescAdd) {
    const std::string d = descriptor(), at = anywhere();
    Line(s.kind == Kind::kDescAdd ? "tt.descriptor_reduce add, " : "tt.descriptor_store ", d, "[", at, "], ", b,
         " : !tt.tensordesc<4xi32>, ", kTile);
  } else {
    return false;
  }
  return true;
}

bool Printer::Atomic(const TtirStmt& s, Names* v) {
  static constexpr const char* kModes[] = {"add", "max", "exch", "umin"};
  if (s.kind == Kind::kAtomic) {
    const std::string p = Place(s, *v), yes = Value("arith.constant true");
    v->s[static_cast<size_t>(s.dst)] =
        Value("tt.atomic_rmw ", kModes[s.op], ", acq_rel, gpu, ", p, ", ", v->s[static_cast<size_t>(s.b)], ", ", yes,
              " : (", kPointer, ", i32, i1) -> i32");
  } else if (s.kind == Kind::kAtomicTile) {
    const std::string p = Tiles(Place(s, *v), s.stride);
    v->t[static_cast<size_t>(s.dst)] =
        Value("tt.atomic_rmw ", kModes[s.op], ", relaxed, gpu, ", p, ", ", v->t[static_cast<size_t>(s.b)], " : (",
              kPointers, ", ", kTile, ") -> ", kTile);
  } else if (s.kind == Kind::kCas) {
    const std::string p = Place(s, *v);
    v->s[static_cast<size_t>(s.dst)] =
        Value("tt.atomic_cas acq_rel, gpu, ", p, ", ", v->s[static_cast<size_t>(s.a)], ", ",
              v->s[static_cast<size_t>(s.b)], " : (", kPointer, ", i32, i32) -> i32");
  } else if (s.kind == Kind::kBarrier) {
    Line("gpu.barrier");
  } else {
    return false;
  }
  return true;
}

bool Printer::Compute(const TtirStmt& s, Names* v) {
  static constexpr const char* kOps[] = {"addi", "muli", "xori", "subi"};
  std::string& dst = v->s[static_cast<size_t>(s.dst)];
  std::string& tile = v->t[static_cast<size_t>(s.dst)];
  const std::string a = v->t[static_cast<size_t>(s.a)], b = v->t[static_cast<size_t>(s.b)];
  if (s.kind == Kind::kScalarOp) {
    const std::string y =
        Value("arith.addi ", v->s[static_cast<size_t>(s.b)], ", ", Constant(absl::StrCat(s.constant)), " : i32");
    dst = Value("arith.", kOps[s.op], " ", v->s[static_cast<size_t>(s.a)], ", ", y, " : i32");
  } else if (s.kind == Kind::kTileOp) {
    const std::string all = Value("tt.splat ", v->s[static_cast<size_t>(s.c)], " : i32 -> ", kTile);
    const std::string y = Value("arith.addi ", b, ", ", all, " : ", kTile);
    tile = Value("arith.", kOps[s.op], " ", a, ", ", y, " : ", kTile);
  } else if (s.kind == Kind::kSum) {
    const std::string x = absl::StrCat("%v", next_++), y = absl::StrCat("%v", next_++), z = absl::StrCat("%v", next_++);
    dst =
        Value("\"tt.reduce\"(", a, ") <{axis = 0 : i32}> ({\n  ^bb0(", x, ": i32, ", y, ": i32):\n    ", z,
              " = arith.addi ", x, ", ", y, " : i32\n    tt.reduce.return ", z, " : i32\n  }) : (", kTile, ") -> i32");
  } else if (s.kind == Kind::kGather) {
    const std::string at = Value("arith.andi ", b, ", ", Dense(3), " : ", kTile);
    tile = Value("tt.gather ", a, "[", at, "] {axis = 0 : i32} : (", kTile, ", ", kTile, ") -> ", kTile);
  } else {
    return false;
  }
  return true;
}

void Printer::Control(const TtirStmt& s, Names* v) {
  const std::string x = v->s[static_cast<size_t>(s.a)];
  if (s.kind == Kind::kCall) return Call(s, v);
  if (s.kind != Kind::kIf && s.kind != Kind::kReturn) return Loop(s, v);
  const std::string less = Value("arith.cmpi slt, ", x, ", ", Constant(absl::StrCat(s.constant)), " : i32");
  const std::string name = absl::StrCat("%v", next_++);
  if (s.kind == Kind::kReturn) {
    Line("cf.cond_br ", less, ", ^r", name.substr(1), ", ^n", name.substr(1));
    absl::StrAppend(&text_, "^r", name.substr(1), ":\n");
    Return(*v);
    absl::StrAppend(&text_, "^n", name.substr(1), ":\n");
    return;
  }
  Line(name, ":", kScalars + kTiles, " = scf.if ", less, " -> (", Types(), ") {");
  Names then = *v, other = *v;
  Body(s.body, &then);
  Line("scf.yield ", Listed(then), " : ", Types());
  Line("} else {");
  Body(s.other, &other);
  Line("scf.yield ", Listed(other), " : ", Types());
  Line("}");
  *v = Results(name, 0);
}

void Printer::Loop(const TtirStmt& s, Names* v) {
  const std::string times = And(v->s[static_cast<size_t>(s.a)], 3), zero = Constant("0"), one = Constant("1");
  Names inner = Fresh();
  if (s.kind == Kind::kWhile) {
    const Names test = Fresh();
    const std::string name = absl::StrCat("%v", next_++), n = name + "n", m = name + "m";
    Line(name, ":", 1 + kScalars + kTiles, " = scf.while (", n, " = ", times, ", ", Inits(test, *v), ") : (i32, ",
         Types(), ") -> (i32, ", Types(), ") {");
    const std::string more = Value("arith.cmpi sgt, ", n, ", ", zero, " : i32");
    Line("scf.condition(", more, ") ", n, ", ", Listed(test), " : i32, ", Types());
    std::string args = m + ": i32";
    for (const std::string& a : inner.s) absl::StrAppend(&args, ", ", a, ": i32");
    for (const std::string& a : inner.t) absl::StrAppend(&args, ", ", a, ": ", kTile);
    Line("} do {\n  ^bb0(", args, "):");
    Body(s.body, &inner);
    const std::string less = Value("arith.subi ", m, ", ", one, " : i32");
    Line("scf.yield ", less, ", ", Listed(inner), " : i32, ", Types());
    Line("}");
    *v = Results(name, 1);
    return;
  }
  const bool walks = s.kind == Kind::kWalk;
  const std::string start = walks ? Tiles(Place(s, *v), s.stride) : "", step = walks ? Dense(s.stride) : "";
  const std::string name = absl::StrCat("%v", next_++), p = name + "p";
  Line(name, ":", (walks ? 1 : 0) + kScalars + kTiles, " = scf.for ", name, "i = ", zero, " to ", times, " step ", one,
       " iter_args(", walks ? absl::StrCat(p, " = ", start, ", ") : "", Inits(inner, *v), ") -> (",
       walks ? absl::StrCat(kPointers, ", ") : "", Types(), ")  : i32 {");
  if (walks) inner.t[static_cast<size_t>(s.dst)] = Value("tt.load ", p, " : ", kPointers);
  Body(s.body, &inner);
  std::string next;
  if (walks) {
    Line("tt.store ", p, ", ", inner.t[static_cast<size_t>(s.b)], " : ", kPointers);
    next = Value("tt.addptr ", p, ", ", step, " : ", kPointers, ", ", kTile);
  }
  Line("scf.yield ", walks ? next + ", " : "", Listed(inner), " : ", walks ? absl::StrCat(kPointers, ", ") : "",
       Types());
  Line("}");
  *v = Results(name, walks ? 1 : 0);
}

void Printer::Call(const TtirStmt& s, Names* v) {
  std::string head = absl::StrCat("tt.func private @f", next_function_, "("), types;
  const std::string name = absl::StrCat("@f", next_function_++);
  const Names inner = Fresh();
  for (int i = 0; i < kBases; ++i) {
    absl::StrAppend(&head, i == 0 ? "" : ", ", "%b", i, ": ", kPointer);
    absl::StrAppend(&types, kPointer, ", ");
  }
  for (const std::string& a : inner.s) absl::StrAppend(&head, ", ", a, ": i32");
  for (const std::string& a : inner.t) absl::StrAppend(&head, ", ", a, ": ", kTile);
  absl::StrAppend(&functions_,
                  Function(absl::StrCat(head, ") -> i32 attributes {noinline = true}"), s.body, inner, false));
  v->s[static_cast<size_t>(s.dst)] =
      Value("tt.call ", name, "(%b0, %b1, %b2, ", Listed(*v), ") : (", types, Types(), ") -> i32");
}

}  // namespace

std::string PrintTtir(const TtirProgram& p) {
  Printer printer;
  const std::string kernel = printer.Function(
      "tt.func public @random(%b0: !tt.ptr<i32>, %b1: !tt.ptr<i32>, %b2: !tt.ptr<i32>, %out: !tt.ptr<i32>)", p.body, {},
      true);
  return absl::StrCat("module {\n", kernel, printer.functions(), "}\n");
}

}  // namespace tile::fuzz
