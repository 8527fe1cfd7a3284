// Blocks that end in branches, and functions. TTIR has branches where a function returns early; what follows one is repeated
// on both of its sides where both reach it, up to a limit. A function that Triton did not inline is read where it is called:
//
//   tt.func private @f(%x: f32) -> f32 attributes {noinline = true} { … cf.cond_br %c, ^a, ^b … tt.return %y : f32 … }
//   %r = tt.call @f(%v) : (f32) -> f32        // becomes: … %r = if %c { … yield %y } else { … yield %z }

#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/limits.h"
#include "ir/ttir/translator.h"

namespace tile::ir::ttir {
namespace {
constexpr int kMaxCalls = 32;  // of functions within each other
}

void Translator::SetBlocks(const NodeRegion& region) {
  blocks_ = Blocks();
  for (const NodeBlock& block : region.blocks) blocks_.labels.emplace(block.label, &block);
  blocks_.path = {&region.blocks[0]};
  blocks_.on_path = {&region.blocks[0]};
}

void Translator::LeavePath(size_t mark) {
  for (; blocks_.path.size() > mark; blocks_.path.pop_back()) blocks_.on_path.erase(blocks_.path.back());
}

bool Translator::EnterBlock(const Node& from, const Successor& to, const NodeBlock** block) {
  const auto it = blocks_.labels.find(to.block);
  if (it == blocks_.labels.end()) {
    return Fail(from, "ttir.value", absl::StrCat("leads to ^", to.block, ", which is not here"));
  }
  const NodeBlock& next = *it->second;
  if (!blocks_.on_path.insert(&next).second) {
    return Unsupported(from, "leads back, which makes a loop of branches", "write the loop as for or while");
  }
  blocks_.path.push_back(&next);
  std::vector<Val> args;
  if (!Lookup(from, to.args, &args)) return false;
  if (args.size() != next.args.size()) {
    return Fail(from, "ttir.type",
                absl::StrCat("hands ", args.size(), " values to ^", to.block, ", which takes ", next.args.size()));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].type != next.args[i].type) return WrongType(from, "hands on a value of another type");
    Bind(next.args[i].name, {args[i]});
  }
  *block = &next;
  return true;
}

bool Translator::TranslateCfg(const NodeBlock* block, int depth) {
  for (;;) {
    if (block->ops.empty()) {
      Node nothing;
      nothing.name = "block";
      return Fail(nothing, "ttir.syntax", absl::StrCat("^", block->label, " is empty"));
    }
    if (!TranslateOps(block->ops)) return false;
    const Node& end = block->ops.back();
    b_.set_loc(LocOf(end));
    if (--budget_ < 0) return Unsupported(end, "is repeated too often", "return at the end only");
    if (end.name == (exit_ == nullptr ? "tt.return" : exit_->op)) {
      std::vector<Val> values;
      if (!Lookup(end, end.operands, &values)) return false;
      Lift(&values);
      if (exit_ != nullptr) return HandOn(end, std::move(values), depth);
      if (!values.empty()) return WrongType(end, "returns a value of a kernel");
      ops::Return(b_);
      return true;
    }
    if (end.name == "cf.br" && end.successors.size() == 1) {
      if (!EnterBlock(end, end.successors[0], &block)) return false;
      continue;
    }
    if (end.name != "cf.cond_br" || end.successors.size() != 2 || end.operands.size() != 1) {
      return Fail(end, "ttir.syntax", "does not end a block of a kernel");
    }
    if (depth >= kMaxNesting - 1) return Unsupported(end, "nests too deep", "return at the end only");
    const Val* condition = Find(end, end.operands[0]);
    if (condition == nullptr) return false;
    if (!condition->is_tile() || !(condition->type.tile == b_.types().Scalar(Elem::kI1))) {
      return WrongType(end, "branches by what is no i1");
    }
    if (exit_ != nullptr) return BranchToExits(block, condition->tile(), depth);
    if (!BranchToReturn(&block, condition->tile(), depth)) return false;
  }
}

// One side goes into a region, in which it runs to its return; the other one follows. The shorter one nests.
bool Translator::BranchToReturn(const NodeBlock** block, Value* condition, int depth) {
  const Node& end = (*block)->ops.back();
  const NodeBlock* inner = *block;
  const size_t mark = OpenScope(), path = blocks_.path.size();
  const Order before = order_;
  Op* branch = b_.Create(Opcode::kIf, {{condition}}, {});
  const auto returns = [&](const Successor& s) {
    const auto it = blocks_.labels.find(s.block);
    if (it == blocks_.labels.end()) return false;
    const std::vector<Node>& ops = it->second->ops;
    return ops.size() == 1 && ops[0].name == "tt.return";
  };
  const int side = returns(end.successors[1]) && !returns(end.successors[0]) ? 1 : 0;
  if (side == 1) {
    Builder::Scope scope(b_, b_.AddRegion(branch, 0, {}));
    ops::Yield(b_);
  }
  {
    Builder::Scope scope(b_, b_.AddRegion(branch, side, {}));
    if (!EnterBlock(end, end.successors[static_cast<size_t>(side)], &inner) || !TranslateCfg(inner, depth + 1)) {
      return false;
    }
  }
  CloseScope(mark);
  LeavePath(path);
  order_ = before;
  return EnterBlock(end, end.successors[static_cast<size_t>(1 - side)], block);
}

// Both sides run to an exit and give its values.
bool Translator::BranchToExits(const NodeBlock* block, Value* condition, int depth) {
  const Node& end = block->ops.back();
  std::vector<Type> results;
  for (const TtType& t : exit_->types) {
    const std::vector<Type> parts = PartTypes(t);
    results.insert(results.end(), parts.begin(), parts.end());
  }
  if (exit_->effect != kNone) results.push_back(b_.types().Token());
  const Order before = order_;
  Op* branch = b_.Create(Opcode::kIf, {{condition}}, results);
  for (int side = 0; side < 2; ++side) {
    const size_t mark = OpenScope(), path = blocks_.path.size();
    const NodeBlock* inner = block;
    order_ = before;
    Builder::Scope scope(b_, b_.AddRegion(branch, side, {}));
    if (!EnterBlock(end, end.successors[static_cast<size_t>(side)], &inner) || !TranslateCfg(inner, depth + 1)) {
      return false;
    }
    CloseScope(mark);
    LeavePath(path);
  }
  order_ = before.After(exit_->effect, results.empty() ? nullptr : branch->result(branch->num_results() - 1));
  return HandOn(end, Unflatten(exit_->types, {}, branch), depth);
}

// Values at an exit: for the caller, or out of the branch around.
bool Translator::HandOn(const Node& end, std::vector<Val> values, int depth) {
  bool good = values.size() == exit_->types.size();
  for (size_t i = 0; good && i < values.size(); ++i) good = values[i].type == exit_->types[i];
  if (!good) return WrongType(end, "gives values of other types than its function says");
  if (depth == 0) {
    exit_->values = std::move(values);
    return true;
  }
  Builder::Groups flat(1);
  for (const Val& v : values) {
    if (v.nan_padding) return PaddingDiffers(end);
    flat[0].insert(flat[0].end(), v.parts.begin(), v.parts.end());
  }
  if (exit_->effect == kWrites) flat[0].push_back(order_.ForRegion(b_));
  if (exit_->effect == kReads) flat[0].push_back(order_.Reads(b_));
  b_.Create(Opcode::kYield, flat, {});
  return true;
}

// --- functions --------------------------------------------------------------------------------------------------------

Effect Translator::EffectOfFunction(absl::string_view symbol) {
  const auto it = functions_.find(symbol);
  if (it == functions_.end() || it->second->regions.empty()) return kNone;
  const auto [known, is_new] = effects_.try_emplace(symbol, kNone);  // of a function that calls itself: refused later
  if (!is_new) return known->second;
  const Effect effect = EffectOf(it->second->regions[0]);
  return effects_[symbol] = effect;
}

// tt.call @f(%a, %b) : (T, T) -> R
bool Translator::Call(const Node& n, const OpRow&) {
  const auto it = functions_.find(n.symbol);
  if (it == functions_.end() || it->second->regions.empty()) {
    return Fail(n, "ttir.value", absl::StrCat("calls @", n.symbol, ", which is not here"));
  }
  if (calls_ >= kMaxCalls) {
    return Unsupported(n, absl::StrCat("calls @", n.symbol, " more than ", kMaxCalls, " functions deep"),
                       "call without recursion");
  }
  int nesting = 0;
  for (const Block* b = b_.block(); b->parent() != nullptr; b = b->parent()->block()) ++nesting;
  if (nesting >= kMaxNesting) {
    return Fail(n, "ttir.limit", absl::StrCat("stands more than ", kMaxNesting, " regions deep"));
  }
  const Node& f = *it->second;
  const NodeBlock& entry = f.regions[0].blocks[0];
  const std::vector<Val> args = in_;
  bool good = args.size() == entry.args.size();
  for (size_t i = 0; good && i < args.size(); ++i) good = args[i].type == entry.args[i].type;
  for (const TtType& t : f.outputs) good &= t.kind != TtType::Kind::kNone;
  if (!good) return WrongType(n, absl::StrCat("calls @", n.symbol, ", whose types are others"));
  Exit exit = {"tt.return", f.outputs, EffectOfFunction(n.symbol), {}};
  // Names within the function are its own.
  auto values = std::exchange(values_, {});
  auto undo = std::exchange(undo_, {});
  Blocks blocks = std::move(blocks_);
  Exit* const outer = std::exchange(exit_, &exit);
  const LocId caller = std::exchange(caller_, LocOf(n));
  ++calls_;
  for (size_t i = 0; i < args.size(); ++i) Bind(entry.args[i].name, {args[i]});
  SetBlocks(f.regions[0]);
  if (!TranslateCfg(&entry, 0)) return false;
  --calls_;
  caller_ = caller;
  exit_ = outer;
  blocks_ = std::move(blocks);
  undo_ = std::move(undo);
  values_ = std::move(values);
  b_.set_loc(LocOf(n));
  return Define(n, std::move(exit.values));
}

}  // namespace tile::ir::ttir
