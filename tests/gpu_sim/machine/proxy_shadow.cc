#include "tests/gpu_sim/machine/proxy_shadow.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tile::gpu_sim {
namespace {

// The first event behind this time; the end of all times if there is none.
uint64_t FirstAfter(const std::vector<uint64_t>& events, uint64_t time) {
  const auto at = std::upper_bound(events.begin(), events.end(), time);
  return at == events.end() ? ~uint64_t{0} : *at;
}

// The last event before this time; 0 if there is none.
uint64_t LastBefore(const std::vector<uint64_t>& events, uint64_t time) {
  const auto at = std::lower_bound(events.begin(), events.end(), time);
  return at == events.begin() ? 0 : *(at - 1);
}

uint64_t Now(const Thread& t) { return ++t.block->launch->events; }

}  // namespace

void MakeShadow(Block& block) {
  block.proxies = std::make_shared<ProxyShadow>();
  block.proxies->writes.resize(block.shared.size() / kShadowBytes + 1);
  block.proxies->fences.resize(block.threads.size());
  block.proxies->arrivals.resize(block.threads.size());
}

void NoteWrite(const Thread& t, const Instr& i, Block& block, uint64_t offset, uint64_t bytes) {
  if (block.proxies == nullptr) return;
  const ProxyShadow::Write write = {&t, i.line, Now(t)};
  for (uint64_t at = offset / kShadowBytes; at * kShadowBytes < offset + bytes; ++at) block.proxies->writes[at] = write;
}

void NoteAsyncWrite(Block& block, uint64_t offset, uint64_t bytes) {
  if (block.proxies == nullptr) return;
  for (uint64_t at = offset / kShadowBytes; at * kShadowBytes < offset + bytes; ++at) block.proxies->writes[at] = {};
}

void NoteFence(const Thread& t) {
  if (t.block->proxies != nullptr) t.block->proxies->fences[t.index].push_back(Now(t));
}

void NoteArrival(const Thread& t) {
  if (t.block->proxies != nullptr) t.block->proxies->arrivals[t.index].push_back(Now(t));
}

AsyncReader AsyncReaderOf(const Thread& starter) { return {&starter, Now(starter)}; }

absl::Status CheckProxy(const Block& block, const AsyncReader& reader, uint64_t offset, uint64_t bytes) {
  if (block.proxies == nullptr) return absl::OkStatus();
  for (uint64_t at = offset / kShadowBytes; at * kShadowBytes < offset + bytes; ++at) {
    const ProxyShadow::Write& write = block.proxies->writes[at];
    if (write.writer == nullptr || write.time > reader.time) continue;
    const ProxyShadow& of_writer = *write.writer->block->proxies;
    if (FirstAfter(of_writer.fences[write.writer->index], write.time) < reader.time) continue;
    const uint64_t arrival = FirstAfter(of_writer.arrivals[write.writer->index], write.time);
    const auto& own = reader.starter->block->proxies->fences[reader.starter->index];
    if (write.writer != reader.starter && LastBefore(own, reader.time) > arrival) continue;
    return absl::FailedPreconditionError(absl::StrCat("its shared memory at ", at * kShadowBytes - kSharedBase,
                                                      " was written by thread ", write.writer->index, " at line ",
                                                      write.line, ", and no fence.proxy.async stands between"));
  }
  return absl::OkStatus();
}

}  // namespace tile::gpu_sim
