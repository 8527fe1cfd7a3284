#include "ir/probe.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/clone.h"
#include "ir/compare.h"
#include "ir/ops.h"

namespace tile::ir {
namespace {

namespace op = ops;

void Collect(const Function& f, const Block* block, int* next, std::vector<ProbePoint>* points) {
  if (block == nullptr) return;
  for (const Op* o : *block) {
    const int position = (*next)++;
    const bool combines = o->opcode() == Opcode::kReduce || o->opcode() == Opcode::kScan;
    std::vector<ProbePoint> inside;
    for (int r = 0; r < o->num_regions(); ++r) Collect(f, o->region(r), next, combines ? &inside : points);
    if (o->num_operands() == 0) continue;
    for (int r = 0; r < o->num_results(); ++r) {
      const Type type = o->result(r)->type();
      if (!type.is_tile() || type.elem() == Elem::kPtr || IsSubByte(type.elem())) continue;
      points->push_back({position, r, type, std::string(o->info()->mnemonic), f.module()->Where(o->loc, o->pos)});
    }
  }
}

// Appended to the builder's block: value → [probe + number of this block · elements].
void StoreValue(Builder& b, Value* value, Value* probe) {
  const Type i64 = b.types().Scalar(Elem::kI64), type = value->type();
  const auto id = op::GetTileBlockId(b), count = op::GetNumTileBlocks(b);
  const auto wide = [&](Value* v) { return op::Exti(b, i64, v, Signedness::kUnsigned); };
  Value* at = op::Addi(b, op::Muli(b, wide(id[2]), wide(count[1])), wide(id[1]));
  at = op::Addi(b, op::Muli(b, at, wide(count[0])), wide(id[0]));
  Value* base = op::Offset(b, probe, op::Muli(b, at, op::Integer(b, i64, type.num_elements())));
  if (type.is_scalar()) {
    op::StorePtr(b, base, value);
    return;
  }
  const std::vector<int64_t> shape(type.shape().begin(), type.shape().end());
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * shape[d];
  const Type tensor = b.types().TensorView(type.element(), shape, strides);
  Value* view =
      op::MakePartitionView(b, b.types().PartitionView(shape, tensor), op::MakeTensorView(b, tensor, base, {}, {}));
  op::StoreView(b, value, view, op::Values(shape.size(), op::Integer(b, i64, 0)));
}

}  // namespace

std::string ProbePoint::Key() const { return absl::StrCat(name, " ", result, " ", type.ToString()); }

std::vector<ProbePoint> ProbePoints(const Function& f) {
  std::vector<ProbePoint> points;
  int next = 0;
  Collect(f, f.body(), &next, &points);
  return points;
}

std::unique_ptr<Module> WithProbe(const Module& module, const Function& f, const ProbePoint& point) {
  std::unique_ptr<Module> copy = CloneModule(module);
  Module& m = *copy;
  Function* old = m.FindFunction(f.name);

  // The kernel again, with one more parameter.
  std::vector<Type> params;
  for (int i = 0; i < old->num_params(); ++i) params.push_back(old->param(i)->type());
  params.push_back(m.types().Scalar(Element::Pointer(point.type.elem())));
  const absl::string_view name = old->name;
  old->name = m.Copy(absl::StrCat(name, ".unprobed"));
  Function* probed = m.AddFunction(name, params);
  probed->hints = old->hints;
  std::copy(std::begin(old->blocks_per_cluster), std::end(old->blocks_per_cluster), probed->blocks_per_cluster);
  probed->loc = old->loc;
  for (int i = 0; i < old->num_params(); ++i) old->param(i)->ReplaceAllUsesWith(probed->param(i));
  int next = 0;
  Op* target = nullptr;
  Walk(old->body(), [&](Op* o) {
    if (next++ == point.op) target = o;
  });
  while (!old->body()->empty()) {
    Op* o = old->body()->front();
    o->Unlink();
    m.Append(probed->body(), o);
  }
  m.functions.erase(
      std::find_if(m.functions.begin(), m.functions.end(), [&](const auto& g) { return g.get() == old; }));

  Block* made = m.CreateBlock({});
  Builder b(&m, made);
  StoreValue(b, target->result(point.result), probed->param(probed->num_params() - 1));
  Block* block = target->block();
  Op* behind = target->next();
  while (!made->empty()) {
    Op* o = made->front();
    o->Unlink();
    m.InsertBefore(block, behind, o);
  }
  return copy;
}

std::vector<std::pair<const ProbePoint*, const ProbePoint*>> MatchProbePoints(const std::vector<ProbePoint>& a,
                                                                              const std::vector<ProbePoint>& b) {
  std::vector<std::string> ka, kb;
  for (const ProbePoint& p : a) ka.push_back(p.Key());
  for (const ProbePoint& p : b) kb.push_back(p.Key());
  std::vector<std::pair<const ProbePoint*, const ProbePoint*>> pairs;
  if (a.size() * b.size() > size_t{1} << 26)
    return pairs;  // long programs of two files: that would take too much memory
  // longest[i][j]: of what is left from a[i] and b[j] on.
  const size_t width = b.size() + 1;
  std::vector<uint32_t> longest((a.size() + 1) * width);
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      longest[i * width + j] = ka[i] == kb[j] ? longest[(i + 1) * width + j + 1] + 1
                                              : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  // What stands alone on both sides between two pairs, as long and of the same types: other operations in the same
  // places.
  size_t ga = 0, gb = 0;
  const auto pair_gap = [&](size_t i, size_t j) {
    bool alike = i - ga == j - gb;
    for (size_t k = 0; alike && k < i - ga; ++k) alike = Equal(a[ga + k].type, b[gb + k].type);
    for (size_t k = 0; alike && k < i - ga; ++k) pairs.emplace_back(&a[ga + k], &b[gb + k]);
    ga = i + 1;
    gb = j + 1;
  };
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (ka[i] == kb[j]) {
      pair_gap(i, j);
      pairs.emplace_back(&a[i++], &b[j++]);
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  pair_gap(a.size(), b.size());
  return pairs;
}

}  // namespace tile::ir
