#include "tests/verify/unwritable.h"

#include "ir/ops.h"

namespace tile::ir {
namespace {

namespace op = ops;

// An entry with parameters of these types that `body` fills; the return follows.
std::function<void(Module&)> Kernel(std::function<void(Module&, Builder&)> body) {
  return [body](Module& m) {
    const Type f32 = m.types().Scalar(Elem::kF32);
    Function* f =
        m.AddFunction("k", {f32, m.types().Scalar(Elem::kI32), m.types().Scalar(Element::Pointer(Elem::kF32))});
    Builder b(&m, f->body());
    body(m, b);
    op::Return(b);
  };
}

std::function<void(Module&)> OneGlobal(std::function<void(Module&, Global&)> change) {
  return [change](Module& m) {
    static constexpr uint8_t kZeros[16] = {};
    Global* g = m.AddGlobal("g", Elem::kI32, 4);
    g->value.bytes = kZeros;
    change(m, *g);
  };
}

// `in x: f32[?]` on a kernel with one pointer, changed.
std::function<void(Module&)> OneInterface(std::function<void(Interface&)> change) {
  return [change](Module& m) {
    Function* f = m.AddFunction("k", {m.types().Scalar(Element::Pointer(Elem::kF32))});
    Builder b(&m, f->body());
    op::Return(b);
    f->interface = std::make_unique<Interface>();
    ArrayArg x;
    x.name = "x";
    x.element = Element::Number(Elem::kF32);
    x.pointer_param = 0;
    x.shape.resize(1);
    f->interface->arrays.push_back(x);
    change(*f->interface);
  };
}

std::function<void(Module&)> OneDebugRecord(DebugRecord::Kind kind) {
  return [kind](Module& m) {
    DebugRecord r;
    r.kind = kind;
    m.debug.push_back(r);
  };
}

}  // namespace

std::vector<UnwritableCase> UnwritableCases() {
  return {
      // General rules.
      {"addf.c1", "0 operands for rhs", Kernel([](Module&, Builder& b) {
         Value* x = b.block()->arg(0);
         b.Create(Opcode::kAddf, {{x}}, {x->type()});
       })},
      {"addf.c1", "2 operands for lhs", Kernel([](Module&, Builder& b) {
         Value* x = b.block()->arg(0);
         b.Create(Opcode::kAddf, {{x, x}, {x}}, {x->type()});
       })},
      {"addf.c1", "has 3 operands, takes 2", Kernel([](Module&, Builder& b) {
         Value* x = b.block()->arg(0);
         Value* const values[] = {x, x, x};
         const uint32_t ends[] = {1, 2};
         const Type results[] = {x->type()};
         OpSpec spec;
         spec.info = GetOp(Opcode::kAddf);
         spec.operands = values;
         spec.operand_ends = ends;
         spec.results = results;
         b.module()->Append(b.block(), b.module()->CreateOp(spec));
       })},
      {"negf.c1", "operand 0 is missing", Kernel([](Module&, Builder& b) {
         Op* neg = op::Negf(b, b.block()->arg(0))->def();
         neg->set_operand(0, nullptr);
       })},
      {"addf.c2", "has 2 results, gives 1", Kernel([](Module&, Builder& b) {
         Value* x = b.block()->arg(0);
         b.Create(Opcode::kAddf, {{x}, {x}}, {x->type(), x->type()});
       })},
      {"load_ptr_tko.c2", "has 1 results, gives 2", Kernel([](Module&, Builder& b) {
         b.Create(Opcode::kLoadPtr, {{b.block()->arg(2)}}, {b.block()->arg(0)->type()});
       })},
      {"constant.c3", "lacks the attribute value",
       Kernel([](Module&, Builder& b) { b.Create(Opcode::kConstant, {}, {b.block()->arg(0)->type()}); })},
      {"addf.c3", "rounding is of another kind", Kernel([](Module&, Builder& b) {
         op::Negf(b, b.block()->arg(0));
         op::Addf(b, b.block()->arg(0), b.block()->arg(0))
             ->def()
             ->set_attr("rounding", Attr::String(AttrKind::kString, "x"));
       })},
      {"addf.c4", "rounding is 77, no value of Rounding", Kernel([](Module&, Builder& b) {
         op::Addf(b, b.block()->arg(0), b.block()->arg(0))->def()->set_attr("rounding", Attr::Int(AttrKind::kEnum, 77));
       })},
      {"addf.c4", "rounding is -1", Kernel([](Module&, Builder& b) {
         op::Addf(b, b.block()->arg(0), b.block()->arg(0))->def()->set_attr("rounding", Attr::Int(AttrKind::kEnum, -1));
       })},
      {"negf.c7", "operand 0 is not defined before", Kernel([](Module&, Builder& b) {
         Op* first = op::Negf(b, b.block()->arg(0))->def();
         Value* later = op::Absf(b, b.block()->arg(0));
         first->set_operand(0, later);
       })},
      {"negf.c7", "or in a region that has ended", Kernel([](Module& m, Builder& b) {
         Value *x = b.block()->arg(0), *inside = nullptr;
         op::If(b, op::Splat(b, m.types().Scalar(Elem::kI1), 1), [&]() -> op::Values {
           inside = op::Absf(b, x);
           return {};
         });
         op::Negf(b, inside);
       })},
      {"for.c8", "the region body has no block", Kernel([](Module&, Builder& b) {
         Value* n = b.block()->arg(1);
         b.Create(Opcode::kFor, {{n}, {n}, {n}, {}}, {});
       })},
      {"loop.c8", "belongs to another place", Kernel([](Module&, Builder& b) {
         Op* a = b.Create(Opcode::kLoop, {{}}, {});
         Op* c = b.Create(Opcode::kLoop, {{}}, {});
         Block* body = b.module()->CreateBlock({});
         {
           Builder::Scope s(b, body);
           op::Break(b);
         }
         a->set_region(0, body);
         c->set_region(0, body);
       })},

      // Types.
      {"type.c5", "1 sizes and 0 strides", Kernel([](Module& m, Builder& b) {
         op::AllocShared(b, m.types().TensorView(Element::Number(Elem::kF32), {4}, {}, MemorySpace::kShared), 4);
       })},
      {"type.c15", "a value has no type", Kernel([](Module&, Builder& b) { op::Iota(b, Type()); })},
      {"type.c15", "a value cannot be a function",
       Kernel([](Module& m, Builder& b) { op::Iota(b, m.types().Function({}, {})); })},
      {"type.c16", "has rank 17", Kernel([](Module& m, Builder& b) {
         op::Constant(b, m.types().Tile(Element::Number(Elem::kI32), std::vector<int64_t>(17, 1)), nullptr);
       })},

      // Module, globals, values.
      {"module.c3", "more than 64 regions deep", Kernel([](Module& m, Builder& b) {
         Value* yes = op::Splat(b, m.types().Scalar(Elem::kI1), 1);
         std::function<op::Values(int)> nest = [&](int depth) -> op::Values {
           if (depth > 0) op::If(b, yes, [&] { return nest(depth - 1); });
           return {};
         };
         nest(65);
       })},
      {"module.c4", "does not belong to the tile level", Kernel([](Module&, Builder& b) {
         static const OpInfo* foreign = new OpInfo(*GetOp(Opcode::kMakeToken));
         OpSpec spec;
         spec.info = foreign;
         const Type token[] = {b.types().Token()};
         spec.results = token;
         b.module()->Append(b.block(), b.module()->CreateOp(spec));
       })},
      {"entry.c1", "has 4097 parameters",
       [](Module& m) {
         Function* f = m.AddFunction("k", std::vector<Type>(4097, m.types().Scalar(Elem::kI32)));
         Builder b(&m, f->body());
         op::Return(b);
       }},
      {"global.c1", "the value 4 of i32", OneGlobal([](Module&, Global& g) { g.type = Type(); })},
      {"global.c1", "the value -1 of i32", OneGlobal([](Module&, Global& g) { g.count = -1; })},
      {"global.c2", "has 3 elements", OneGlobal([](Module&, Global& g) { g.value.bytes = g.value.bytes.first(12); })},
      {"global.c4", "bits that tf32 does not use", OneGlobal([](Module& m, Global& g) {
         static constexpr uint8_t kBits[4] = {1, 0, 0, 0};
         g.value.elem = Elem::kTF32;
         g.value.splat = true;
         g.value.bytes = kBits;
         g.type = m.types().Tile(Element::Number(Elem::kTF32), {4});
       })},
      {"constant.c12", "bits that i1 does not use", Kernel([](Module& m, Builder& b) {
         static constexpr uint8_t kTwo[1] = {2};
         Dense* d = m.arena().New<Dense>();
         d->elem = Elem::kI1;
         d->splat = true;
         d->bytes = kTwo;
         op::Constant(b, m.types().Scalar(Elem::kI1), d);
       })},

      // Interface.
      {"interface.c1", "binds parameter 3 of 1", OneInterface([](Interface& i) {
         i.scalars.push_back({"n", 3, {}, {}});
       })},
      {"interface.c3", "lacks operands", OneInterface([](Interface& i) { i.grid = {{{ExprOp::kAdd}}}; })},
      {"interface.c3", "yields more than one value", OneInterface([](Interface& i) {
         i.grid = {{{ExprOp::kNumSms}, {ExprOp::kNumSms}}};
       })},
      {"interface.c3", "is empty", OneInterface([](Interface& i) { i.grid = {{}}; })},
      {"interface.c3", "unknown operation", OneInterface([](Interface& i) { i.grid = {{{static_cast<ExprOp>(99)}}}; })},
      {"interface.c3", "refers to an array", OneInterface([](Interface& i) {
         i.grid = {{{ExprOp::kShape, -1, 0}}};
       })},
      {"interface.c7", "has too many nodes",
       OneInterface([](Interface& i) { i.grid = {Expr(300, {ExprOp::kNumSms})}; })},
      {"interface.c7", "has too many arguments",
       OneInterface([](Interface& i) { i.grid.assign(4, {{ExprOp::kNumSms}}); })},

      // Debug records.
      {"debug.c1", "is of an unknown kind", OneDebugRecord(static_cast<DebugRecord::Kind>(9))},
      {"debug.c1", "refers to record 0", OneDebugRecord(DebugRecord::Kind::kLexicalBlock)},
  };
}

}  // namespace tile::ir
