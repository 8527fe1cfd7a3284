#include "ir/testing/tbc_samples.h"

#include <algorithm>

#include "ir/builder.h"

namespace tile::ir {
namespace {

const Element kF32 = Element::Number(Elem::kF32);

const Dense* MakeDense(Module* m, Elem elem, bool splat, std::vector<uint8_t> bytes) {
  Dense* d = m->arena().New<Dense>();
  d->elem = elem;
  d->splat = splat;
  d->bytes = m->arena().Copy(absl::MakeConstSpan(bytes));
  return d;
}

const Hints* MakeHints(Module* m) {
  const Hint hints[] = {
      {.name = "latency", .kind = Hint::Kind::kInt, .number = 3, .int_bits = 64},
      {.name = "allow_tma", .kind = Hint::Kind::kBool, .number = 1},
      {.name = "note", .kind = Hint::Kind::kString, .text = "text"},
  };
  const ArchHints archs[] = {{.arch = "sm_90", .hints = m->arena().Copy(absl::MakeConstSpan(hints))},
                             {.arch = "default"},
                             {.arch = "default", .hints = m->arena().Copy(absl::MakeConstSpan(hints, 1))}};
  Hints* out = m->arena().New<Hints>();
  out->archs = m->arena().Copy(absl::MakeConstSpan(archs));
  return out;
}

const Predicate* MakePredicate(Module* m, int which) {
  Predicate* p = m->arena().New<Predicate>();
  p->kind = static_cast<Predicate::Kind>(which % 3);
  if (which % 3 == 0) {
    p->divisor = uint64_t{1} << 40;
    p->every = 4;
    p->along = 0;
  } else if (which % 3 == 1) {
    p->lower = -5;
  } else {
    static const int64_t kGroups[] = {1, 4};
    p->groups = m->arena().Copy(absl::MakeConstSpan(kGroups));
  }
  return p;
}

// The last value of the enumeration: never the default where there are two or more.
int64_t LastValue(EnumId id) {
  int64_t last = 0;
  for (const EnumValueInfo& v : kEnumValues) {
    if (v.id == id) last = v.number;
  }
  return last;
}

Attr MakeAttr(Module* m, const AttrInfo& info, bool full, int salt) {
  static const int64_t kInts[] = {2, 0, -1};
  static const uint8_t kBools[] = {1, 0, 1};
  static const Scalar kScalars[] = {{Elem::kF32, 0x3f800000}, {Elem::kI64, ~uint64_t{0}}};
  switch (info.kind) {
    case AttrKind::kFlag:
    case AttrKind::kBool: return Attr::Int(info.kind, full);
    case AttrKind::kInt: return Attr::Int(info.kind, full ? -salt : 0);
    case AttrKind::kEnum: return full ? Attr::Int(info.kind, LastValue(info.enum_id)) : Attr();
    case AttrKind::kString:
    case AttrKind::kSymbol: return Attr::String(info.kind, full ? m->Copy(absl::string_view("text\0\xff\"", 7)) : "");
    case AttrKind::kInts: return Attr::Ints(m->arena().Copy(absl::MakeConstSpan(kInts, full ? 3 : 0)));
    case AttrKind::kBools: return Attr::Bools(m->arena().Copy(absl::MakeConstSpan(kBools, full ? 3 : 0)));
    case AttrKind::kDense:
      return Attr::Of(full ? MakeDense(m, Elem::kI16, false, {1, 2, 3, 4}) : MakeDense(m, Elem::kF16, true, {0, 60}));
    case AttrKind::kPredicate: return Attr::Of(MakePredicate(m, salt));
    case AttrKind::kHints: return Attr::Of(MakeHints(m));
    case AttrKind::kScalars: return Attr::Scalars(m->arena().Copy(absl::MakeConstSpan(kScalars, full ? 2 : 0)));
  }
  return Attr();
}

int Count(Arity arity, bool full) {
  if (arity == Arity::kOne) return 1;
  if (!full) return 0;
  return arity == Arity::kOptional ? 1 : 3;
}

void AddOp(Module* m, const OpInfo& info, bool full) {
  const Type types[] = {m->types().Scalar(Elem::kI32), m->types().Token(), m->types().Tile(kF32, {4, 8})};
  Function* f = m->AddFunction(absl::StrCat("op_", info.mnemonic), types);
  Builder b(m, f->body());
  int next = info.index;
  Builder::Groups operands;
  for (const FieldInfo& field : info.format->operands) {
    operands.emplace_back();
    for (int i = 0; i < Count(field.arity, full); ++i) operands.back().push_back(f->param(next++ % 3));
  }
  std::vector<Type> results;
  for (const FieldInfo& field : info.format->results) {
    for (int i = 0; i < Count(field.arity, full); ++i) results.push_back(types[next++ % 3]);
  }
  Builder::NamedAttrs attrs;
  for (const AttrInfo& a : info.format->attrs) {
    if (full || !a.optional) attrs.push_back({a.name, MakeAttr(m, a, full, info.index)});
  }
  Op* op = b.Create(info.opcode, operands, results, attrs);
  for (int r = 0; full && r < op->num_regions(); ++r) {
    Builder::Scope scope(b, b.AddRegion(op, r, {types[r], types[2]}));
    b.Create(Opcode::kYield, {{b.block()->arg(1), f->param(0)}}, {});
  }
}

Expr CeilDivShape(int64_t by) {
  return {{ExprOp::kShape, 0, 1, 0}, {ExprOp::kConst, 0, 0, by}, {ExprOp::kCeilDiv, 0, 0, 0}};
}

std::unique_ptr<Interface> MakeInterface() {
  auto i = std::make_unique<Interface>();
  ArrayArg a;
  a.name = "x";
  a.direction = Direction::kInOut;
  a.element = Element::Pointer(Elem::kBF16);
  a.pointer_param = 0;
  a.shape = {{.param = 1}, {.constant = 64}, {.size = CeilDivShape(4)}};
  a.strides = {{.param = 2}, {.constant = 1}, {}};
  a.init = InitKind::kValue;
  a.init_bits = ~uint64_t{0};
  i->arrays = {a, ArrayArg()};
  i->scalars = {{.name = "f", .param = 2, .value = CeilDivShape(2), .default_bits = 7}, {}};
  i->workspaces = {{.name = "w", .pointer_param = 0, .element = kF32, .count = CeilDivShape(1)}};
  i->grid = {CeilDivShape(128), {}, CeilDivShape(1)};
  return i;
}

void AddDebug(Module* m, Function* f) {
  using Kind = DebugRecord::Kind;
  m->debug = {
      {.kind = Kind::kFile, .name = "k.py", .directory = "src"},
      {.kind = Kind::kCompileUnit, .file = 1},
      // Refers to a later record.
      {.kind = Kind::kCallSite, .callee = 5, .caller = 6},
      {.kind = Kind::kSubprogram,
       .scope = 2,
       .file = 1,
       .name = "k",
       .linkage_name = "k",
       .line = 3,
       .scope_line = 4,
       .flags = 1},
      {.kind = Kind::kLocation, .scope = 4, .name = "k.py", .line = 7, .column = 9},
      {.kind = Kind::kLexicalBlock, .scope = 4, .file = 1, .line = 8, .column = 2},
  };
  f->loc = 4;
  f->body()->front()->loc = 3;
}

}  // namespace

std::unique_ptr<Module> EveryOp(bool full) {
  auto m = std::make_unique<Module>();
  for (const OpInfo& info : AllOps()) AddOp(m.get(), info, full);
  return m;
}

std::unique_ptr<Module> EverythingElse() {
  auto m = std::make_unique<Module>();
  m->name = "everything";
  m->producer = "test";
  TypeContext& t = m->types();
  const Type tensor = t.TensorView(Element::Number(Elem::kF8E5M3FNU), {kDynamic, 8}, {kDynamic, 1});
  const Type shared = t.TensorView(kF32, {16, 8}, {8, 1}, MemorySpace::kShared);
  const std::vector<Type> params = {t.Scalar(Element::Pointer(Elem::kI4)),
                                    t.Scalar(Elem::kI64),
                                    t.Scalar(Elem::kTF32),
                                    tensor,
                                    shared,
                                    t.PartitionView({4, 2}, tensor),
                                    t.PartitionView({4, 2}, shared, {1, 0}, Padding::kNegInf),
                                    t.StridedView({4, 2}, {3, 5}, tensor, {1, 0}, Padding::kZero),
                                    t.StridedView({8, 1}, {8, 1}, tensor),
                                    t.GatherScatterView({4, 2}, tensor, 1, Padding::kNan),
                                    t.Token()};
  Function* f = m->AddFunction("k", params);
  f->visibility = Visibility::kPrivate;
  f->hints = MakeHints(m.get());
  f->blocks_per_cluster[0] = 2;
  f->interface = MakeInterface();
  Builder b(m.get(), f->body());
  Op* outer = b.Create(Opcode::kLoop, {{f->param(1)}}, {params[1]});
  Block* block = b.AddRegion(outer, 0, {params[1]});
  for (int depth = 0; depth < 10; ++depth) {
    Builder::Scope scope(b, block);
    Op* branch = b.Create(Opcode::kIf, {{block->arg(0)}}, {params[1]});
    if (depth % 2 == 1) {
      Builder::Scope inner(b, b.AddRegion(branch, 0, {}));
      b.Create(Opcode::kYield, {{block->arg(0)}}, {});
    }
    b.Create(Opcode::kContinue, {{branch->result(0)}}, {});
    block = b.AddRegion(branch, 1, {params[1]});
  }
  b.Create(Opcode::kReturn, {}, {});
  AddDebug(m.get(), f);
  m->AddFunction("empty", {});

  Global* g = m->AddGlobal("g", Elem::kF16, 4);
  g->value = *MakeDense(m.get(), Elem::kF16, false, {1, 2, 3, 4, 5, 6, 7, 8});
  g->constant = true;
  g->alignment = 64;
  g->visibility = Visibility::kPrivate;
  Global* zeros = m->AddGlobal("zeros", Elem::kF64, 1 << 20);
  zeros->value = *MakeDense(m.get(), Elem::kF64, true, std::vector<uint8_t>(8));
  return m;
}

std::unique_ptr<Module> Typical(int num_ops) {
  auto m = std::make_unique<Module>();
  TypeContext& t = m->types();
  const Type p = t.Scalar(Element::Pointer(Elem::kF32)), i32 = t.Scalar(Elem::kI32), token = t.Token();
  const Type tile = t.Tile(kF32, {64, 64}), tensor = t.TensorView(kF32, {kDynamic, kDynamic}, {kDynamic, 1});
  const Type view = t.PartitionView({64, 64}, tensor);
  Function* f = m->AddFunction("k", {p, i32, i32, i32});
  Value *n = f->param(1), *i = f->param(2);
  Builder b(m.get(), f->body());
  Value* v = b.Create(Opcode::kMakeTensorView, {{f->param(0)}, {n, n}, {n}}, {tensor})->result(0);
  v = b.Create(Opcode::kMakePartitionView, {{v}}, {view})->result(0);
  Value* last_token = b.Create(Opcode::kMakeToken, {}, {token})->result(0);
  const Dense* one = MakeDense(m.get(), Elem::kF32, true, {0, 0, 128, 63});
  Value* x = b.Create(Opcode::kConstant, {}, {tile}, {{"value", Attr::Of(one)}})->result(0);
  for (int k = 4; k + 9 < num_ops; k += 9) {
    Op* load = b.Create(Opcode::kLoadView, {{v}, {i, i}, {last_token}}, {tile, token});
    Value* y = b.Create(Opcode::kAddf, {{load->result(0)}, {x}}, {tile})->result(0);
    y = b.Create(Opcode::kMulf, {{y}, {y}}, {tile}, {{"flush_to_zero", Attr::Flag(true)}})->result(0);
    y = b.Create(Opcode::kMaxf, {{y}, {x}}, {tile})->result(0);
    Op* loop = b.Create(Opcode::kFor, {{i}, {n}, {i}, {y}}, {tile});
    {
      Builder::Scope scope(b, b.AddRegion(loop, 0, {i32, tile}));
      Value* sum = b.Create(Opcode::kSubf, {{b.block()->arg(1)}, {y}}, {tile})->result(0);
      b.Create(Opcode::kContinue, {{sum}}, {});
    }
    i = b.Create(Opcode::kAddi, {{i}, {n}}, {i32})->result(0);
    last_token = b.Create(Opcode::kStoreView, {{loop->result(0)}, {v}, {i, i}, {load->result(1)}}, {token})->result(0);
  }
  b.Create(Opcode::kReturn, {}, {});
  return m;
}

Image SampleImage() {
  static const uint8_t kPayload[] = "machine code";
  const Expr expr = {{ExprOp::kScalar, 1, 0, 0}, {ExprOp::kConst, 0, 0, 16}, {ExprOp::kMod, 0, 0, 0}};
  Image i;
  i.kind = ImageKind::kPtx;
  i.arch = "sm_90a";
  i.symbol = "k";
  i.requirements = {{expr, "rows are aligned"}};
  i.threads = 128;
  i.shared_bytes = 4096;
  i.cluster = {2, 1, 1};
  i.grid = {expr, expr, expr};
  i.params = {{ImageParam::Kind::kKernelParam, 0, {}},
              {ImageParam::Kind::kWorkspace, 0, {}},
              {ImageParam::Kind::kTmaDescriptor, 0, {}},
              {ImageParam::Kind::kValue64, 0, expr}};
  i.workspaces = {{expr, 128, true}};
  TmaDescriptor tma;
  tma.element = Elem::kBF16;
  tma.base_param = 1;
  tma.offset = expr;
  tma.sizes = {expr, expr};
  tma.strides = {expr};
  tma.box = {64, 32};
  tma.element_strides = {1, 1};
  tma.swizzle = 3;
  tma.interleave = 1;
  tma.l2_promotion = 2;
  tma.fill = 1;
  i.tma = {tma};
  i.driver_floor = 12040;
  i.registers = 168;
  i.flags = kProgrammaticLaunch;
  i.static_shared_bytes = 48;
  i.sites = {{"vm.assert", "k.tile:3:1", "assert", "n is positive", {}},
             {"", "", "print_tko", "%d %f", {{Elem::kI32, {}}, {Elem::kF16, {4, 8}}}}};
  i.code_hash.fill(0xab);
  i.payload = kPayload;
  return i;
}

}  // namespace tile::ir
