#include "live/mpi/nccl_edges.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "live/mpi/exchange.hpp"

namespace debubble::live {

namespace {

constexpr int kMostProcessors = 2;  // of the GPU that a transfer may take from the work
constexpr Bytes kGreeting = 256;

nccl::UniqueId id_from(const std::string& text) {
  nccl::UniqueId id;
  std::memcpy(id.bytes, text.data(), std::min(text.size(), sizeof id.bytes));
  return id;
}

}  // namespace

NcclEdges::NcclEdges(const Nccl& nccl, const GpuParts& parts, const GpuPart& part, WorkDevice& memory,
                     MessagePassing& passing, ControlLine& line, const Plan& plan)
    : nccl_(nccl), parts_(parts), part_(part) {
  const DeviceAddress greeting = memory.allocate(kGreeting);
  const int own = passing.rank();
  for (const auto& [from, to] : edges_of(plan)) {
    if (from != own && to != own) continue;
    const int side = from == own ? 0 : 1;
    const int peer = from == own ? to : from;
    Edge& edge = (side == 0 ? out_ : in_)[peer];
    open(edge, side, peer, line);
    warm_up(edge, side, greeting);
  }
  memory.release(greeting);
}

NcclEdges::~NcclEdges() {
  parts_.libraries().driver.call.context_set(part_.context);
  for (auto* const edges : {&out_, &in_}) {
    for (auto& [peer, edge] : *edges) {
      if (edge.communicator != nullptr && !aborted_) nccl_.call.destroy(edge.communicator);
    }
  }
}

void NcclEdges::check(cuda::Result result, const std::string& what) const {
  check_cuda(parts_.libraries().driver, result, what);
}

void NcclEdges::open(Edge& edge, int side, int peer, ControlLine& line) {
  nccl::UniqueId id;
  if (side == 0) {
    check_nccl(nccl_, nccl_.call.unique_id(&id), "making an id");
    line.send(peer, LetterWriter().text({id.bytes, sizeof id.bytes}));
    line.flush();
  } else {
    id = id_from(line.wait(peer).letter.text());
  }
  parts_.enter(part_);
  edge.stream = parts_.make_stream(part_, true);
  edge.last = parts_.make_event(part_);
  nccl::Config config;
  config.max_ctas = kMostProcessors;
  check_nccl(nccl_, nccl_.call.init(&edge.communicator, 2, id, side, &config), "connecting two ranks");
}

void NcclEdges::warm_up(Edge& edge, int side, DeviceAddress data) {
  void* const memory = reinterpret_cast<void*>(data);  // NOLINT: an address of the GPU
  const auto bytes = static_cast<std::size_t>(kGreeting);
  const nccl::Result result =
      side == 0 ? nccl_.call.send(memory, bytes, nccl::kBytes, 1, edge.communicator, edge.stream.get())
                : nccl_.call.receive(memory, bytes, nccl::kBytes, 0, edge.communicator, edge.stream.get());
  check_nccl(nccl_, result, "the first transfer of an edge");
  check(parts_.libraries().driver.call.stream_synchronise(edge.stream.get()), "the first transfer of an edge");
}

void NcclEdges::send(int to, DeviceAddress data, Bytes bytes) {
  Edge& edge = out_.at(to);
  const void* const memory = reinterpret_cast<const void*>(data);  // NOLINT: an address of the GPU
  check_nccl(
      nccl_,
      nccl_.call.send(memory, static_cast<std::size_t>(bytes), nccl::kBytes, 1, edge.communicator, edge.stream.get()),
      "a send");
  check(parts_.libraries().driver.call.event_record(edge.last.get(), edge.stream.get()), "marking a send");
  edge.used = 1;
}

cuda::Event NcclEdges::receive(int from, DeviceAddress data, Bytes bytes) {
  Edge& edge = in_.at(from);
  void* const memory = reinterpret_cast<void*>(data);  // NOLINT: an address of the GPU
  check_nccl(nccl_,
             nccl_.call.receive(memory, static_cast<std::size_t>(bytes), nccl::kBytes, 0, edge.communicator,
                                edge.stream.get()),
             "a receive");
  if (edge.events.empty()) {
    for (int k = 0; k < 64; ++k) edge.events.push_back(parts_.make_event(part_));
  }
  // In turn: nobody has 64 receives of one edge under way that it has not asked for.
  const cuda::Event event = edge.events[edge.used++ % edge.events.size()].get();
  check(parts_.libraries().driver.call.event_record(event, edge.stream.get()), "marking a receive");
  return event;
}

bool NcclEdges::has_happened(cuda::Event event) {
  const cuda::Result result = parts_.libraries().driver.live.event_query(event);
  if (result == cuda::kNotReady) return false;
  check(result, "a transfer");
  return true;
}

bool NcclEdges::sends_have_left() {
  for (auto& [peer, edge] : out_) {
    if (edge.used != 0 && !has_happened(edge.last.get())) return false;
    edge.used = 0;
  }
  return true;
}

void NcclEdges::read(int from, void* to, DeviceAddress data, Bytes bytes) {
  const cuda::Functions& call = parts_.libraries().driver.call;
  const cuda::Stream stream = in_.at(from).stream.get();
  check(call.download(to, data, static_cast<std::size_t>(bytes), stream), "reading a chain value");
  check(call.stream_synchronise(stream), "reading a chain value");
}

void NcclEdges::check_edges() const {
  for (const auto* const edges : {&out_, &in_}) {
    for (const auto& [peer, edge] : *edges) {
      nccl::Result error = nccl::kSuccess;
      check_nccl(nccl_, nccl_.call.async_error(edge.communicator, &error), "asking for errors");
      if (error != nccl::kInProgress) {
        check_nccl(nccl_, error, "the edge between this rank and rank " + std::to_string(peer));
      }
    }
  }
}

void NcclEdges::abort() {
  if (std::exchange(aborted_, true)) return;
  for (auto* const edges : {&out_, &in_}) {
    for (auto& [peer, edge] : *edges) nccl_.call.abort(edge.communicator);
  }
}

}  // namespace debubble::live
