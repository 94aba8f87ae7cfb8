#include "live/device_runner.hpp"

#include <ctime>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble::live {

namespace {

Bytes resident(const Job& job, std::int32_t device) {
  Bytes sum = 0;
  for (const Job::Resident& each : job.residents(device)) sum += each.bytes;
  return sum;
}

}  // namespace

Nanoseconds thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

bool hashes_bytes(const LiveRequest& request, std::int32_t iteration) {
  return request.clock != Clock::kWall || iteration < std::max(1, request.warm_up);
}

DeviceRunner::DeviceRunner(const Job& job, std::int32_t device, Transport& transport, Worker& worker, WallClock now)
    : job_(job), device_(device), transport_(transport), worker_(worker), now_(std::move(now)), chains_(job, device) {}

DeviceRun DeviceRunner::run(std::int32_t iteration) {
  iteration_ = iteration;
  hashes_ = hashes_bytes(job_.request(), iteration);
  free_ = 0;
  result_ = {};
  chains_.start(iteration);
  ledger_.start(resident(job_, device_));
  worker_.start(ledger_);
  transport_.at(0);
  for (const Action& action : at(job_.plan().devices, device_)) {
    action.kind == Action::Kind::kCompute ? compute(action) : exchange(action);
  }
  chains_.check_weights();
  transport_.at(-1);
  const Ledger::Peaks peaks = ledger_.peaks();
  result_.peak_activation = peaks.activation;
  result_.peak_memory = peaks.memory;
  return std::move(result_);
}

void DeviceRunner::compute(const Action& action) {
  const std::vector<Op> cell = job_.cell(device_, action.position);
  ready_ = 0;
  take_inputs(action, cell);
  const Nanoseconds begin = uses_wall_clock() ? now_() : std::max(free_, ready_);
  ledger_.cell_begins(begin);
  std::vector<Payload> outputs;
  const Nanoseconds end = work(cell, begin, outputs);
  free_ = end;
  ObservedOp seen{cell[0], {}, cell.size() == 2, device_, begin, end};
  if (seen.paired) seen.partner = cell[1];
  result_.ops.push_back(seen);
  // What `finish` frees counts at the cell's end: the ledger books changes at the last begin or end that it was
  // given.
  ledger_.cell_ends(end);
  for (const Op& op : cell) finish(op);
  for (std::size_t k = 0; k < cell.size(); ++k) deliver_output(cell[k], std::move(outputs[k]));
  transport_.at(action.position + static_cast<std::int32_t>(cell.size()));
  for (const Hop& hop : action.sends) post(hop, free_);
}

// Overlapped transfers are waited for here; where they hold lanes, an action before this one has brought them.
void DeviceRunner::take_inputs(const Action& action, const std::vector<Op>& cell) {
  for (const Hop& hop : action.receives) {
    Message message = transport_.receive(Message::Kind::kPayload, hop.tensor, hop.peer, iteration_);
    const Nanoseconds begin = message.time;
    const Nanoseconds end = message.arrival;
    ready_ = std::max(ready_, end);
    keep(hop, std::move(message), begin, end);
  }
  for (const Op& op : cell) check_input(op);  // before the wait: it costs time
  if (uses_wall_clock()) wait_until(ready_);
}

Nanoseconds DeviceRunner::work(const std::vector<Op>& cell, Nanoseconds begin, std::vector<Payload>& outputs) {
  const bool by_cpu_time = job_.request().clock == Clock::kLogicalCpuTime;
  const Nanoseconds cpu = by_cpu_time ? thread_cpu_time() : 0;
  // Both members of a pair hold their memory from its begin to its end, though the worker runs them in turn.
  for (const Op& op : cell) worker_.begin(op);
  for (const Op& op : cell) {
    Tensor tensor;
    std::span<const std::byte> input;
    if (input_of(job_.schedule(), op, tensor)) input = inputs_.at(tensor).payload;
    outputs.push_back(worker_.work(op, input));
  }
  switch (job_.request().clock) {
    case Clock::kLogicalGiven:
      return begin + job_.duration(device_, cell);
    case Clock::kLogicalCpuTime:
      return begin + thread_cpu_time() - cpu;
    case Clock::kWall:
      break;
  }
  return now_();
}

// The op has ended: its input goes.
void DeviceRunner::finish(const Op& op) {
  worker_.end(op);
  Tensor tensor;
  if (!input_of(job_.schedule(), op, tensor)) return;
  if (maker(job_.schedule(), tensor) != device_) ledger_.change_other(-job_.bytes(tensor));
  inputs_.erase(tensor);
}

// The op's output goes to a stage on this device, or waits to be sent.
void DeviceRunner::deliver_output(const Op& op, Payload payload) {
  const std::uint64_t chain = chains_.output(op);
  Tensor tensor;
  if (!output_of(job_.schedule(), op, tensor)) return;
  Message message;
  message.tensor = tensor;
  message.iteration = iteration_;
  message.from = device_;
  message.chain = chain;
  message.checksum = hashes_ ? checksum_of(payload) : 0;
  message.payload = std::move(payload);
  if (job_.has_fault(Fault::Kind::kCorrupt, op)) {
    if (message.payload.empty()) message.chain ^= 1;
    if (!message.payload.empty()) message.payload[0] ^= std::byte{1};
  }
  if (user(job_.schedule(), tensor) == device_) {
    inputs_[tensor] = {std::move(message.payload), message.chain, message.checksum};
  } else {
    outgoing_[tensor] = std::move(message);
  }
}

// Blocking: one transfer; coupled: all of an exchange. All are posted before any is waited for: the other end does the
// same, so neither waits for a post that the other has yet to make.
void DeviceRunner::exchange(const Action& action) {
  const Nanoseconds posted = time();
  for (const Hop& hop : action.sends) post(hop, posted);
  for (const Hop& hop : action.receives) ask_for(hop, posted);
  Nanoseconds end = posted;
  for (const Hop& hop : action.sends) end = std::max(end, finish_send(hop, posted));
  for (const Hop& hop : action.receives) end = std::max(end, finish_receive(hop, posted));
  free_ = end;
  if (uses_wall_clock()) wait_until(end);
}

void DeviceRunner::post(const Hop& hop, Nanoseconds posted) {
  auto found = outgoing_.extract(hop.tensor);
  Message& message = found.mapped();
  message.time = posted;
  message.arrival = posted + job_.transfer(hop.tensor).total();
  if (job_.has_fault(Fault::Kind::kDrop, job_.maker_of(hop.tensor))) return;
  transport_.send(hop.peer, std::move(message));
}

void DeviceRunner::ask_for(const Hop& hop, Nanoseconds posted) {
  Message message;
  message.kind = Message::Kind::kReady;
  message.tensor = hop.tensor;
  message.iteration = iteration_;
  message.from = device_;
  message.time = message.arrival = posted;
  transport_.send(hop.peer, std::move(message));
}

// Both ends come to the same times, each from its own and the other's.
Nanoseconds DeviceRunner::finish_send(const Hop& hop, Nanoseconds posted) {
  const Message ready = transport_.receive(Message::Kind::kReady, hop.tensor, hop.peer, iteration_);
  return std::max(posted, ready.time) + job_.transfer(hop.tensor).total();
}

Nanoseconds DeviceRunner::finish_receive(const Hop& hop, Nanoseconds posted) {
  Message message = transport_.receive(Message::Kind::kPayload, hop.tensor, hop.peer, iteration_);
  const Nanoseconds begin = std::max(posted, message.time);
  // A transport that takes time of its own may bring it later than the emulated link.
  const Nanoseconds late = std::max(Nanoseconds{0}, message.arrival - message.time - job_.transfer(hop.tensor).total());
  const Nanoseconds end = begin + job_.transfer(hop.tensor).total() + late;
  keep(hop, std::move(message), begin, end);
  return end;
}

void DeviceRunner::keep(const Hop& hop, Message message, Nanoseconds begin, Nanoseconds end) {
  const Bytes bytes = job_.bytes(hop.tensor);
  if (bytes > 0) ledger_.arrived(end, bytes);
  result_.transfers.push_back(
      {job_.maker_of(hop.tensor), hop.peer, device_, begin, end, job_.transfer(hop.tensor).latency, bytes});
  inputs_[hop.tensor] = {std::move(message.payload), message.chain, message.checksum};
}

// Checks what the op is about to use.
void DeviceRunner::check_input(const Op& op) {
  Tensor tensor;
  if (!input_of(job_.schedule(), op, tensor)) {
    chains_.take(op, pipeline_end_chain());
    return;
  }
  const auto found = inputs_.find(tensor);
  if (found == inputs_.end()) {
    throw WrongDataError(debubble::to_string(op) + " on device " + std::to_string(device_) + " needs " +
                         to_string(tensor) + ", and nothing has made it yet");
  }
  const Arrived& arrived = found->second;
  chains_.check(op, tensor, arrived.chain);
  if (hashes_) chains_.check_bytes(op, tensor, arrived.checksum, arrived.payload);
  chains_.take(op, arrived.chain);
  ++result_.tensors_checked;
}

void DeviceRunner::wait_until(Nanoseconds time) const {
  while (now_() < time) {
    if (transport_.stopped()) throw Stalled{};
  }
}

}  // namespace debubble::live
