// Streams, events and graphs of tilevm.h.
#include <utility>

#include "runtime/capi/handles.h"

using tile::runtime::Stream;
using tile::runtime::capi::Invalid;
using tile::runtime::capi::OnStream;
using tile::runtime::capi::Report;

namespace {

tilevm_status MakeStream(const SharedDevice& device, absl::StatusOr<std::unique_ptr<Stream>> made,
                         tilevm_stream** stream) {
  if (!made.ok()) return Report(made.status());
  *stream = new tilevm_stream{device, *std::move(made)};
  return TILEVM_OK;
}

tilevm_status OtherDevice() { return Invalid("stream and event belong to different devices"); }

}  // namespace

tilevm_status tilevm_stream_create(tilevm_device* device, tilevm_stream** stream) try {
  TILEVM_NEED(stream);
  *stream = nullptr;
  TILEVM_NEED(device);
  return MakeStream(device->shared, device->shared.device->CreateStream(), stream);
}
TILEVM_CATCH

tilevm_status tilevm_stream_wrap(tilevm_device* device, void* native, tilevm_stream** stream) try {
  TILEVM_NEED(stream);
  *stream = nullptr;
  TILEVM_NEED(device);
  return MakeStream(device->shared, device->shared.device->WrapStream(native), stream);
}
TILEVM_CATCH

void tilevm_stream_destroy(tilevm_stream* stream) { delete stream; }

tilevm_status tilevm_stream_synchronize(tilevm_stream* stream) try {
  TILEVM_NEED(stream);
  return Report(stream->stream->Synchronize());
}
TILEVM_CATCH

void* tilevm_stream_native(const tilevm_stream* stream) {
  return stream == nullptr ? nullptr : stream->stream->native();
}

tilevm_status tilevm_event_create(tilevm_device* device, tilevm_event** event) try {
  TILEVM_NEED(event);
  *event = nullptr;
  TILEVM_NEED(device);
  auto made = device->shared.device->CreateEvent();
  if (!made.ok()) return Report(made.status());
  *event = new tilevm_event{device->shared, *std::move(made)};
  return TILEVM_OK;
}
TILEVM_CATCH

void tilevm_event_destroy(tilevm_event* event) { delete event; }

tilevm_status tilevm_event_record(tilevm_event* event, tilevm_stream* stream) try {
  TILEVM_NEED(event);
  if (stream != nullptr && stream->device.device != event->device.device) return OtherDevice();
  return Report(event->event->Record(stream ? stream->stream.get() : event->device.device->default_stream()));
}
TILEVM_CATCH

tilevm_status tilevm_event_synchronize(tilevm_event* event) try {
  TILEVM_NEED(event);
  return Report(event->event->Synchronize());
}
TILEVM_CATCH

tilevm_status tilevm_event_elapsed_ms(tilevm_event* start, tilevm_event* end, double* milliseconds) try {
  TILEVM_NEED(start);
  TILEVM_NEED(end);
  TILEVM_NEED(milliseconds);
  if (start->device.device != end->device.device) return Invalid("the events belong to different devices");
  auto ms = end->event->MillisecondsSince(start->event.get());
  if (!ms.ok()) return Report(ms.status());
  *milliseconds = *ms;
  return TILEVM_OK;
}
TILEVM_CATCH

tilevm_status tilevm_stream_wait_event(tilevm_stream* stream, tilevm_event* event) try {
  TILEVM_NEED(stream);
  TILEVM_NEED(event);
  if (stream->device.device != event->device.device) return OtherDevice();
  return Report(stream->stream->Wait(event->event.get()));
}
TILEVM_CATCH

tilevm_status tilevm_stream_begin_capture(tilevm_stream* stream) try {
  TILEVM_NEED(stream);
  return Report(stream->stream->BeginCapture());
}
TILEVM_CATCH

tilevm_status tilevm_stream_end_capture(tilevm_stream* stream, tilevm_graph** graph) try {
  TILEVM_NEED(graph);
  *graph = nullptr;
  TILEVM_NEED(stream);
  auto made = stream->stream->EndCapture();
  if (!made.ok()) return Report(made.status());
  *graph = new tilevm_graph{stream->device, *std::move(made)};
  return TILEVM_OK;
}
TILEVM_CATCH

tilevm_status tilevm_graph_run(tilevm_graph* graph, tilevm_stream* stream) try {
  TILEVM_NEED(graph);
  return OnStream(graph->device, stream, [&](Stream* on) { return graph->graph->Run(on); });
}
TILEVM_CATCH

void tilevm_graph_destroy(tilevm_graph* graph) { delete graph; }
