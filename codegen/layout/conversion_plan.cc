#include "codegen/layout/conversion_plan.h"

#include <algorithm>

namespace tile::codegen {
namespace {

using Problem = ConversionProblem;
using Plan = ConversionPlan;

class Planner {
 public:
  explicit Planner(const Problem& problem)
      : in_(problem), registers_(problem.src_reg), lanes_(problem.src_lane), both_(problem.src_reg) {
    for (Mask basis : problem.src_lane) both_.Insert(basis);
  }

  std::optional<Plan> InThread() {
    FindKeys();
    Plan plan;
    plan.result = result_;
    for (Mask basis : keys_) {
      const auto reg = registers_.Express(basis);
      if (!reg) return std::nullopt;
      plan.keys.push_back({*reg, 0});
    }
    for (size_t i = 0; i < in_.dst_lane.size(); ++i) {
      const auto reg = registers_.Express(in_.dst_lane[i] ^ in_.src_lane[i]);
      if (!reg) return std::nullopt;
      plan.t.push_back(*reg);
      plan.q.push_back(Mask{1} << i);
    }
    for (size_t i = 0; i < in_.dst_warp.size(); ++i) {
      const auto reg = registers_.Express(in_.dst_warp[i] ^ in_.src_warp[i]);
      if (!reg) return std::nullopt;
      plan.g.push_back(*reg);
    }
    plan.p.assign(in_.dst_lane.size(), 0);
    plan.c.assign(in_.dst_warp.size(), 0);
    return plan;
  }

  std::optional<Plan> InWarp() {
    FindKeys();
    Plan plan;
    plan.result = result_;
    for (Mask basis : keys_) {
      const auto from = Lift(basis, std::nullopt);
      if (!from) return std::nullopt;
      plan.keys.push_back(*from);
    }
    for (size_t i = 0; i < in_.dst_warp.size(); ++i) {
      const auto from = Lift(in_.dst_warp[i] ^ in_.src_warp[i], std::nullopt);
      if (!from) return std::nullopt;
      plan.c.push_back(from->lane);
      plan.g.push_back(from->reg);
    }
    if (!PlanLanes(plan)) return std::nullopt;
    return plan;
  }

 private:
  // The bits of k: register bits of the result that are independent of those below.
  void FindKeys() {
    Subspace space;
    Masks number;  // of an independent bit: its bit of k, else 0
    keys_.clear();
    result_.clear();
    for (Mask basis : in_.dst_reg) {
      if (const auto same = space.Express(basis)) {
        number.push_back(0);
        result_.push_back(Combine(number, *same));
      } else {
        number.push_back(Mask{1} << keys_.size());
        result_.push_back(number.back());
        keys_.push_back(basis);
      }
      space.Insert(basis);
    }
  }

  // A place in the source of an element. Preferred: the lane bit itself, only registers or only lanes.
  std::optional<From> Lift(Mask element, std::optional<size_t> lane) const {
    if (lane && in_.src_lane[*lane] == element) return From{0, Mask{1} << *lane};
    if (!lane) {
      if (const auto reg = registers_.Express(element)) return From{*reg, 0};
    }
    if (const auto only = lanes_.Express(element)) return From{0, *only};
    const auto place = both_.Express(element);
    if (!place) return std::nullopt;
    const size_t bits = in_.src_reg.size();
    return From{*place & ((Mask{1} << bits) - 1), *place >> bits};
  }

  // Sets q, p and t.
  bool PlanLanes(Plan& plan) {
    const size_t num_lanes = in_.dst_lane.size();
    const size_t own_keys = keys_.size();
    // What the source has twice, as pairs of places whose sum is no element: freedom to choose.
    Froms twice;
    Masks columns = in_.src_reg;
    columns.insert(columns.end(), in_.src_lane.begin(), in_.src_lane.end());
    for (Mask v : Gf2Map(columns, 64).Kernel()) {
      twice.push_back({v & ((Mask{1} << in_.src_reg.size()) - 1), v >> in_.src_reg.size()});
    }

    Subspace wanted(keys_);  // elements of the result, by key and then lane bit
    Subspace asked;          // the image of Q
    Masks asked_by;          // the lane numbers n that gave the image's basis, …
    Masks offered;           // … and (E P + F) n
    plan.p.assign(num_lanes, 0);
    plan.q.assign(num_lanes, 0);
    for (size_t i = 0; i < num_lanes; ++i) {
      const Mask unit = Mask{1} << i;
      const auto same = wanted.Express(in_.dst_lane[i]);
      wanted.Insert(in_.dst_lane[i]);
      if (same) {
        // This lane holds what another does, in register `keys` more: it asks what that one asks.
        const Mask lanes = *same >> own_keys;
        const Mask keys = *same & ((Mask{1} << own_keys) - 1);
        plan.q[i] = Combine(plan.q, lanes);
        plan.p[i] = keys ^ Combine(plan.p, lanes);
        continue;
      }
      const auto found = Lift(in_.dst_lane[i], i);
      if (!found) return false;
      if (!asked.Contains(found->lane)) {
        asked.Insert(found->lane);
        asked_by.push_back(unit);
        offered.push_back(found->reg);
        plan.q[i] = found->lane;
        continue;
      }
      // Lanes that differ by `unit ^ others` ask one lane, for two registers. Tell them apart: by a replica in the
      // source, by having them ask for different registers of the result in one round, or else in two rounds.
      const Mask which = ExpressIn(asked, found->lane);
      const Mask others = Combine(asked_by, which);
      const Mask same_lane = found->reg ^ Combine(offered, which);
      From apart;
      Mask key = 0;
      const auto replica =
          std::find_if(twice.begin(), twice.end(), [&](const From& f) { return !asked.Contains(f.lane); });
      if (replica != twice.end()) {
        apart = *replica;
      } else {
        size_t k = 0;
        while (k < plan.keys.size() && asked.Contains(plan.keys[k].lane)) ++k;
        if (k == plan.keys.size()) {
          Mask lane = 1;
          while (asked.Contains(lane)) lane <<= 1;
          plan.keys.push_back({0, lane});
        }
        apart = plan.keys[k];
        key = Mask{1} << k;
      }
      asked.Insert(apart.lane);
      asked_by.push_back(unit ^ others);
      offered.push_back(same_lane ^ apart.reg);
      plan.q[i] = apart.lane ^ Combine(plan.q, others);
      plan.p[i] = key;
    }
    // T, on the image of Q; zero on the rest.
    const Masks rest = Complement(asked.basis(), static_cast<int>(num_lanes));
    Subspace all(asked.basis());
    for (Mask v : rest) all.Insert(v);
    offered.resize(num_lanes, 0);
    for (size_t i = 0; i < num_lanes; ++i) plan.t.push_back(Combine(offered, *all.Express(Mask{1} << i)));
    return true;
  }

  // Which of the vectors of the basis make v up.
  static Mask ExpressIn(const Subspace& space, Mask v) { return *Subspace(space.basis()).Express(v); }

  const Problem& in_;
  const Subspace registers_, lanes_;
  Subspace both_;
  Masks keys_;
  Masks result_;
};

}  // namespace

std::optional<ConversionPlan> PlanInThread(const ConversionProblem& problem) { return Planner(problem).InThread(); }
std::optional<ConversionPlan> PlanInWarp(const ConversionProblem& problem) { return Planner(problem).InWarp(); }

}  // namespace tile::codegen
