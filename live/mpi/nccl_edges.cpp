#include "live/mpi/nccl_edges.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "live/mpi/exchange.hpp"

namespace debubble::live {

namespace {

constexpr int kMostProcessors = 2;  // of the GPU that a transfer may take from the work
constexpr Bytes kGreeting = 256;
constexpr Nanoseconds kLeastPatience = 30 * Nanoseconds{1'000'000'000};  // NCCL finds out about the network first

nccl::UniqueId id_from(const std::string& text) {
  nccl::UniqueId id;
  std::memcpy(id.bytes, text.data(), std::min(text.size(), sizeof id.bytes));
  return id;
}

}  // namespace

NcclEdges::NcclEdges(const Nccl& nccl, const GpuParts& parts, const GpuPart& part, WorkDevice& memory, int own,
                     const Plan& plan)
    : nccl_(nccl), parts_(parts), part_(part), memory_(memory) {
  for (const auto& [from, to] : edges_of(plan)) {
    if (from != own && to != own) continue;
    Edge& edge = from == own ? out_[to] : in_[from];
    edge.side = from == own ? 0 : 1;
    edge.peer = from == own ? to : from;
    order_.push_back(&edge);
  }
}

NcclEdges::~NcclEdges() { abort(); }

void NcclEdges::check(cuda::Result result, const std::string& what) const {
  check_cuda(parts_.libraries().driver, result, what);
}

// All sends before the first wait: every rank has edges in both directions, so waiting first would be a deadlock.
// A rank that cannot make an id sends an empty one: its peers wait for exactly one message per edge.
void NcclEdges::exchange_ids(ControlChannel& channel) {
  nccl::Result result = nccl::kSuccess;
  for (Edge* const edge : order_) {
    if (edge->side != 0) continue;
    if (result == nccl::kSuccess) result = nccl_.call.unique_id(&edge->id);
    const std::string_view id(edge->id.bytes, result == nccl::kSuccess ? sizeof edge->id.bytes : 0);
    channel.send(edge->peer, MessageWriter().text(id));
  }
  for (Edge* const edge : order_) {
    if (edge->side == 1) edge->id = id_from(channel.wait(edge->peer).message.text());
  }
  check_nccl(nccl_, result, "making an id");
}

bool NcclEdges::connect(Nanoseconds patience) {
  if (next_ == order_.size()) return true;
  const auto now = std::chrono::steady_clock::now();
  if (greeting_ == 0) {
    greeting_ = memory_.allocate(kGreeting);
    parts_.enter(part_);
    reading_ = parts_.make_stream(part_, true);
    moved_ = now;
  }
  Edge& edge = *order_[next_];
  if (connect(edge)) {
    moved_ = now;
    if (++next_ < order_.size()) return false;
    memory_.release(greeting_);
    return true;
  }
  if (now - moved_ > std::chrono::nanoseconds(std::max(patience, kLeastPatience))) {
    throw UnavailableError({"U027", nccl_.library,
                            "the edge between this rank and rank " + std::to_string(edge.peer) + " is not connected",
                            "--watchdog SECONDS gives it more time; NCCL_DEBUG=WARN makes NCCL say more on stderr"});
  }
  return false;
}

// NCCL connects for good when an edge is first used, so one small message goes over each.
bool NcclEdges::connect(Edge& edge) {
  if (edge.state == Edge::State::kNew) {
    edge.stream = parts_.make_stream(part_, true);
    edge.last = parts_.make_event(part_);
    nccl::Config config;
    config.blocking = 0;
    config.max_ctas = kMostProcessors;
    check_start(nccl_.call.init(&edge.communicator, 2, edge.id, edge.side, &config), "connecting two ranks");
    edge.state = Edge::State::kConnecting;
  }
  if (edge.state == Edge::State::kConnecting && is_idle(edge)) {
    check_start(transfer(edge, greeting_, kGreeting), "the first transfer of an edge");
    edge.state = Edge::State::kGreeting;
  } else if (edge.state == Edge::State::kGreeting && is_idle(edge)) {
    check(parts_.libraries().driver.call.event_record(edge.last.get(), edge.stream.get()), "marking a transfer");
    edge.state = Edge::State::kGreeted;
  }
  return edge.state == Edge::State::kGreeted && has_happened(edge.last.get());
}

nccl::Result NcclEdges::transfer(Edge& edge, DeviceAddress data, Bytes bytes) const {
  void* const memory = reinterpret_cast<void*>(data);  // NOLINT: an address of the GPU
  const auto count = static_cast<std::size_t>(bytes);
  return edge.side == 0 ? nccl_.call.send(memory, count, nccl::kBytes, 1, edge.communicator, edge.stream.get())
                        : nccl_.call.receive(memory, count, nccl::kBytes, 0, edge.communicator, edge.stream.get());
}

// Calls of a non-blocking communicator may go on after they have returned.
void NcclEdges::check_start(nccl::Result result, const std::string& what) const {
  if (result != nccl::kInProgress) check_nccl(nccl_, result, what);
}

bool NcclEdges::is_idle(const Edge& edge) const {
  nccl::Result error = nccl::kSuccess;
  check_nccl(nccl_, nccl_.call.async_error(edge.communicator, &error), "asking for errors");
  if (error == nccl::kInProgress) return false;
  check_nccl(nccl_, error, "the edge between this rank and rank " + std::to_string(edge.peer));
  return true;
}

// Once an edge is connected this is the time that a launch takes.
void NcclEdges::issue(Edge& edge, DeviceAddress data, Bytes bytes, cuda::Event marker) {
  const nccl::Result result = transfer(edge, data, bytes);
  check_start(result, edge.side == 0 ? "a send" : "a receive");
  const auto begin = std::chrono::steady_clock::now();
  while (result == nccl::kInProgress && !is_idle(edge)) {
    if (std::chrono::steady_clock::now() - begin > std::chrono::nanoseconds(kLeastPatience)) {
      throw UnavailableError({"U027", nccl_.library,
                              "a transfer with rank " + std::to_string(edge.peer) + " has not been launched",
                              "NCCL_DEBUG=WARN makes NCCL say more on stderr"});
    }
    std::this_thread::yield();
  }
  check(parts_.libraries().driver.call.event_record(marker, edge.stream.get()), "marking a transfer");
}

void NcclEdges::send(int to, DeviceAddress data, Bytes bytes) {
  Edge& edge = out_.at(to);
  issue(edge, data, bytes, edge.last.get());
  edge.used = 1;
}

cuda::Event NcclEdges::receive(int from, DeviceAddress data, Bytes bytes) {
  Edge& edge = in_.at(from);
  if (edge.events.empty()) {
    for (int k = 0; k < 64; ++k) edge.events.push_back(parts_.make_event(part_));
  }
  // Reused in turn: NcclTransport never has so many receives of one edge posted that an event is needed twice.
  const cuda::Event event = edge.events[edge.used++ % edge.events.size()].get();
  issue(edge, data, bytes, event);
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

void NcclEdges::read(void* to, DeviceAddress data, Bytes bytes) {
  const cuda::Functions& call = parts_.libraries().driver.call;
  check(call.download(to, data, static_cast<std::size_t>(bytes), reading_.get()), "reading a tensor");
  check(call.stream_synchronise(reading_.get()), "reading a tensor");
}

void NcclEdges::check_edges() const {
  for (const Edge* const edge : order_) (void)is_idle(*edge);
}

void NcclEdges::close() { end(nccl_.call.destroy); }
void NcclEdges::abort() { end(nccl_.call.abort); }

// In the order of edges_of, the same on both ends of each: ending one may wait for its peer.
void NcclEdges::end(nccl::Result (*how)(nccl::Communicator)) {
  parts_.libraries().driver.call.context_set(part_.context);
  for (Edge* const edge : order_) {
    nccl::Communicator const communicator = std::exchange(edge->communicator, nullptr);
    if (communicator != nullptr) how(communicator);
  }
}

}  // namespace debubble::live
