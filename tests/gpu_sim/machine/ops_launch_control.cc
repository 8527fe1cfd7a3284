// clusterlaunchcontrol (sm_100 and newer): a running cluster takes the work of one that has not begun. PTX ISA 9.7.13.17.
//
// The response has 16 bytes, which the ISA leaves open. Ours: the coordinates x and y of the first block, then z and whether there was one.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/gpu_sim/machine/access.h"
#include "tests/gpu_sim/machine/block.h"
#include "tests/gpu_sim/machine/bulk.h"
#include "tests/gpu_sim/machine/ops.h"
#include "tests/gpu_sim/machine/proxy_shadow.h"
#include "tests/gpu_sim/tensor/mbarrier.h"

namespace tile::gpu_sim {
namespace {

constexpr uint32_t kResponseBytes = 16;

struct Response {
  uint32_t x, y, z, canceled;
};
static_assert(sizeof(Response) == kResponseBytes);

struct CancelExtra : Extra {
  Place barrier;
  bool to_all = false;  // .multicast::cluster::all
};

absl::Status Answer(Block& block, const Response& response, uint32_t offset, uint32_t barrier) {
  if (HasEnded(block)) return absl::OutOfRangeError("a response for a block of the cluster that has ended");
  if (offset < kSharedBase || offset % 16 != 0 || offset + kResponseBytes > block.shared.size() ||
      barrier < kSharedBase || barrier + 8 > block.shared.size()) {
    return absl::OutOfRangeError("the response or its barrier is outside of the block's shared memory, or misaligned");
  }
  std::memcpy(block.shared.data() + offset, &response, sizeof response);
  NoteAsyncWrite(block, offset, sizeof response);
  return Mbarrier(reinterpret_cast<uint64_t*>(block.shared.data() + barrier)).CompleteTx(kResponseBytes);
}

Step TryCancel(Thread& t, const Instr& i) {
  const auto& x = static_cast<const CancelExtra&>(*i.extra);
  Launch& launch = *t.block->launch;
  Response response = {};
  if (launch.next_cluster < launch.clusters) {
    const std::array<uint32_t, 3> id = BlockOfCluster(launch, launch.next_cluster++, 0);
    response = {id[0], id[1], id[2], 1};
  }
  const auto to = static_cast<uint32_t>(AddressOf(t, i.at)) & kOffsetMask,
             barrier = static_cast<uint32_t>(AddressOf(t, x.barrier)) & kOffsetMask;
  for (const auto& b : t.block->cluster->blocks) {
    Block* block = b.get();
    if (!x.to_all && block != t.block) continue;
    Deferred answer = [block, response, to, barrier] { return Answer(*block, response, to, barrier); };
    if (absl::Status s = StartCopy(*t.block->cluster, block->rank << kRankShift | barrier, std::move(answer)); !s.ok())
      return Fault(t, i, s.message());
  }
  return Step::kNext;
}

Response ResponseIn(const Thread& t, uint32_t slot) {
  Response response;
  std::memcpy(&response, &t.r[slot], sizeof response);
  return response;
}
Step IsCanceled(Thread& t, const Instr& i) {
  t.r[i.d] = ResponseIn(t, i.a).canceled;
  return Step::kNext;
}
// imm: which coordinate; 3: all
Step FirstBlock(Thread& t, const Instr& i) {
  const Response r = ResponseIn(t, i.a);
  if (r.canceled == 0) return Fault(t, i, "the response has no block: nothing was canceled");
  const uint32_t id[] = {r.x, r.y, r.z, 0};
  for (uint32_t k = 0; k < i.count; ++k) Put<uint32_t>(t, i.list[k], id[i.imm == 3 ? k : static_cast<uint32_t>(i.imm)]);
  return Step::kNext;
}

// clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{.multicast::cluster::all}.b128 [response], [barrier]
absl::Status DecodeTryCancel(Form& f, Instr* i) {
  f.Ignore({"shared::cta", "b128"});
  if (!f.Take("async") || !f.Take("mbarrier::complete_tx::bytes")) f.Fail("it reports to no barrier");
  auto* x = f.NewExtra<CancelExtra>(i);
  x->to_all = f.Take("multicast::cluster::all");
  i->run = &TryCancel;
  i->at = f.Address(0);
  x->barrier = f.Address(1);
  return f.Finish();
}

// clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, response; .get_first_ctaid.v4.b32.b128 {x, y, z, _}, response
absl::Status DecodeQueryCancel(Form& f, Instr* i) {
  if (!f.Take("b128") || f.Bits(1, 0) != 128) f.Fail("a response in a register of 128 bits");
  i->a = f.Source(1);
  if (f.Take("is_canceled")) {
    f.Ignore({"pred"});
    i->run = &IsCanceled;
    i->d = f.Destination(0);
    return f.Finish();
  }
  f.Ignore({"b32"});
  i->run = &FirstBlock;
  i->imm = f.TakeOf<int64_t>(
      {{"get_first_ctaid::x", 0}, {"get_first_ctaid::y", 1}, {"get_first_ctaid::z", 2}, {"get_first_ctaid", 3}}, -1);
  if (i->imm < 0 || f.Take("v4") != (i->imm == 3)) f.Fail("what it asks for");
  i->list = f.Destinations(0, &i->count);
  if (i->count != (i->imm == 3 ? 4u : 1u)) f.Fail("this number of registers");
  return f.Finish();
}

absl::Status DecodeLaunchControl(Form& f, Instr* i) {
  if (f.Take("try_cancel")) return DecodeTryCancel(f, i);
  if (f.Take("query_cancel")) return DecodeQueryCancel(f, i);
  return f.Unknown("what it does");
}

}  // namespace

absl::Span<const OpRow> LaunchControlOps() {
  static constexpr OpRow kRows[] = {{"clusterlaunchcontrol", DecodeLaunchControl}};
  return kRows;
}

}  // namespace tile::gpu_sim
