#include "live/cuda/executor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "gpu/cuda_check_kernels.hpp"
#include "live/checksum.hpp"
#include "live/stall.hpp"
#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"

namespace debubble::live {
namespace {

// The part of an op's identity that is known before the iteration is; see identity() in live/checksum.cpp.
std::uint64_t op_number(const Op& op) {
  std::uint64_t name = mix(pipeline_end_chain(), op.kind == OpKind::kForward ? 'F' : 'B');
  for (const std::int32_t part : {op.stage, op.microbatch}) name = mix(name, static_cast<std::uint64_t>(part));
  return name;
}

// The one part of the GPU, apart from the lanes' own, that a transfer of this lane runs on.
const GpuPart& transfer_part(const GpuParts& parts, const LaneDevice& lane) { return parts.transfer_part(lane.part()); }

}  // namespace

Executor::Executor(const Job& job, const IssueOrder& order, const GpuParts& parts, const Lanes& lanes,
                   const Works& works)
    : job_(job),
      order_(order),
      parts_(parts),
      lanes_(lanes),
      works_(works),
      lost_messages_(parts.libraries().driver),
      reader_(parts.make_stream(parts.primary(0), true)),
      gate_(parts, *lanes.front()) {
  for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
    lane(device).set_issue_callback([this](cuda::Stream stream) { gate_.issuing(stream); });
    trace_buffers_.push_back(std::make_unique<TraceBuffer>(job_, device, lane(device)));
    gate_.add(lane(device).part(), lane(device).stream());
    for (const auto& [tensor, word] : trace_buffers_.back()->sends()) {
      auto& stream = transfers_[{device, user(job_.schedule(), tensor)}];
      if (stream.get() != nullptr) continue;
      const GpuPart& part = transfer_part(parts_, lane(device));
      stream = parts_.make_stream(part, true);
      gate_.add(part, stream.get());
    }
  }
}

Executor::~Executor() {
  lost_messages_.set(1);  // streams of dropped messages wait for it; they must end before they are destroyed
  for (const auto& lane : lanes_) {
    lane->set_issue_callback({});
    lane->enter();
    parts_.libraries().driver.call.stream_synchronise(lane->stream());
  }
}

void Executor::check(cuda::Result result, const std::string& what) const {
  check_cuda(parts_.libraries().driver, result, what);
}

void Executor::enter_transfer(std::int32_t device) const { parts_.enter(transfer_part(parts_, lane(device))); }

cuda::Event Executor::event(std::map<Tensor, OwnedHandle<cuda::Event>>& events, const Tensor& tensor,
                            const GpuPart& part) {
  OwnedHandle<cuda::Event>& owned = events[tensor];
  if (owned.get() == nullptr) owned = parts_.make_event(part);
  return owned.get();
}

void Executor::stamp(std::int32_t device, cuda::Stream stream, DeviceAddress slot) {
  const std::array<void*, 1> arguments{&slot};
  lane(device).launch_on(stream, {"debubble_live_stamp", 1, 1, 0, arguments});
}

// The kernel of finish_op with its usual loads and stores, on the words of op 0, which no run is using meanwhile.
void Executor::end_stamp(std::int32_t device, DeviceAddress slot) {
  const TraceBuffer& own = trace_buffer(device);
  DeviceAddress chain = own.address(own.of_op(0, OpWord::kChain));
  DeviceAddress sent = own.address(own.of_op(0, OpWord::kEnd));
  DeviceAddress seen = own.address(own.of_op(0, OpWord::kSeen));
  DeviceAddress used = own.address(TraceBuffer::kPipelineEnd);
  std::uint64_t name = 0;
  DeviceAddress iteration = own.address(TraceBuffer::kIteration);
  DeviceAddress weights = own.address(own.of_op(0, OpWord::kBegin));
  const std::array<void*, 9> arguments{&slot, &chain, &sent, &seen, &used, &chain, &name, &iteration, &weights};
  lane(device).launch({"debubble_live_end", 1, 1, 0, arguments});
}

void Executor::record(cuda::Event event, cuda::Stream stream, const char* what) {
  gate_.issuing(stream);
  check(parts_.libraries().driver.call.event_record(event, stream), what);
}

void Executor::wait_for(cuda::Stream stream, cuda::Event event, const char* what) {
  gate_.issuing(stream);
  check(parts_.libraries().driver.call.stream_wait(stream, event, 0), what);
}

void Executor::set_costs(const StageCosts& costs) {
  costs_ = costs;
  if (lengthens_ops()) captured_.reset();  // the durations are arguments in the captured graph
}

bool Executor::lengthens_ops() const {
  if (costs_.stages.empty()) return false;
  for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
    if (job_.slowdown(device) > 1.0) return true;
  }
  return false;
}

void Executor::checksum(std::int32_t device, DeviceAddress data, std::size_t word) {
  long long words = Arena::rounded(work(device).payload_bytes()) / 8;
  DeviceAddress sum = at(trace_buffers_, device)->address(word);
  const std::array<void*, 3> arguments{&data, &words, &sum};
  lane(device).launch({"debubble_live_checksum", std::clamp<std::int64_t>(words / 1024, 1, 256), 256, 0, arguments});
}

void Executor::copy(std::int32_t from, std::int32_t to, DeviceAddress source, DeviceAddress target, Bytes bytes) {
  const cuda::LiveFunctions& live = parts_.libraries().driver.live;
  const cuda::Stream stream = transfer_stream(from, to);
  const auto size = static_cast<std::size_t>(bytes);
  const GpuPart& sender = lane(from).part();
  const GpuPart& receiver = lane(to).part();
  gate_.issuing(stream);
  check(sender.gpu == receiver.gpu ? live.copy(target, source, size, stream)
                                   : live.copy_peer(target, receiver.context, source, sender.context, size, stream),
        "a transfer between devices");
}

// Marks the end of an op, and makes its chain value from what it really used.
void Executor::finish_op(std::int32_t device, std::size_t position) {
  const Op& op = at(job_.schedule().rows, device)[position];
  const TraceBuffer& trace_buffer = *at(trace_buffers_, device);
  StageWork& stages = work(device);
  const auto chain_of = [&](OpKind kind) -> DeviceAddress {
    const std::int32_t id = job_.ops().find(kind, op.stage, op.microbatch);
    if (id < 0 || job_.ops().device(id) != device) return 0;
    return trace_buffer.address(trace_buffer.of_op(static_cast<std::size_t>(job_.ops().position(id)), OpWord::kChain));
  };
  Tensor tensor;
  const auto to_chain = static_cast<DeviceAddress>(stages.chain_offset());
  DeviceAddress slot = trace_buffer.address(trace_buffer.of_op(position, OpWord::kEnd));
  DeviceAddress chain = trace_buffer.address(trace_buffer.of_op(position, OpWord::kChain));
  DeviceAddress seen = trace_buffer.address(trace_buffer.of_op(position, OpWord::kSeen));
  DeviceAddress used = 0;
  DeviceAddress kept = 0;
  if (op.kind == OpKind::kWeightGrad) {
    chain = chain_of(OpKind::kInputGrad);
  } else {
    used = input_of(job_.schedule(), op, tensor) ? stages.incoming(tensor) + to_chain
                                                 : trace_buffer.address(TraceBuffer::kPipelineEnd);
    if (op.kind != OpKind::kForward) kept = chain_of(OpKind::kForward);
  }
  DeviceAddress sent = output_of(job_.schedule(), op, tensor) ? stages.outgoing(tensor) + to_chain : 0;
  const std::int32_t replica = at(job_.schedule().replica_of, op.microbatch);
  DeviceAddress weights =
      makes_weight_gradient(op.kind) ? trace_buffer.address(trace_buffer.of_weights(replica, op.stage)) : 0;
  std::uint64_t name = op_number(op);
  DeviceAddress iteration = trace_buffer.address(TraceBuffer::kIteration);
  const std::array<void*, 9> arguments{&slot, &chain, &sent, &seen, &used, &kept, &name, &iteration, &weights};
  lane(device).launch({"debubble_live_end", 1, 1, 0, arguments});
}

void Executor::lengthen(std::int32_t device, const Op& op) {
  const double more = job_.slowdown(device) - 1.0;
  if (more <= 0.0 || costs_.stages.empty()) return;
  const StageCost& cost = at(costs_.stages, op.stage);
  const Nanoseconds whole = piece_of(duration_of(op.kind, cost), job_.schedule().pieces);
  long long duration = std::llround(static_cast<double>(whole) * more);
  const std::array<void*, 1> arguments{&duration};
  lane(device).launch({kHoldKernel, 1, 1, 0, arguments});
}

void Executor::issue_cell(std::int32_t device, const Action& action, const Mode& mode) {
  LaneDevice& on = lane(device);
  const TraceBuffer& trace_buffer = *at(trace_buffers_, device);
  on.enter();
  // The events exist: issue_order puts every receive after its send. Waiting is the stream's; the host goes on.
  for (const Hop& hop : action.receives) {
    wait_for(on.stream(), arrived_.at(hop.tensor).get(), "waiting for a transfer");
  }
  if (mode.payloads) {
    for (const Hop& hop : action.receives) {
      checksum(device, work(device).incoming(hop.tensor), trace_buffer.of_receive(hop.tensor));
    }
  }
  // Members of an overlapped pair run one after the other on the lane's one stream.
  auto position = static_cast<std::size_t>(action.position);
  for (const Op& op : job_.cell(device, action.position)) {
    stamp(device, on.stream(), trace_buffer.address(trace_buffer.of_op(position, OpWord::kBegin)));
    work(device).run(op);
    lengthen(device, op);
    finish_op(device, position++);
  }
  for (const Hop& hop : action.sends) {
    on.enter();  // a pair sends twice, and a send leaves the thread in the transfers' context
    if (mode.payloads)
      checksum(device, work(device).outgoing(hop.tensor), trace_buffer.of_send(hop.tensor, SendWord::kSum));
    const cuda::Event ready = event(made_, hop.tensor, on.part());
    on.enter();
    record(ready, on.stream(), "marking an output");
    issue_send(device, hop, ready, !mode.loading);
  }
}

void Executor::issue_send(std::int32_t device, const Hop& hop, cuda::Event ready, bool faults) {
  const TraceBuffer& trace_buffer = *at(trace_buffers_, device);
  const cuda::Stream stream = transfer_stream(device, hop.peer);
  const cuda::Event arrival = event(arrived_, hop.tensor, transfer_part(parts_, lane(device)));
  const Op maker_op = job_.maker_of(hop.tensor);
  enter_transfer(device);
  wait_for(stream, ready, "waiting for an output");
  stamp(device, stream, trace_buffer.address(trace_buffer.of_send(hop.tensor, SendWord::kBegin)));
  DeviceAddress target = work(hop.peer).incoming(hop.tensor);
  // A dropped message: the transfer's stream stops for good where the copy would be, as if it had never arrived.
  if (faults && job_.has_fault(Fault::Kind::kDrop, maker_op)) {
    DeviceAddress never = lost_messages_.address();
    unsigned value = 1;
    const std::array<void*, 2> arguments{&never, &value};
    lane(device).launch_on(stream, {"debubble_live_wait", 1, 1, 0, arguments});
  } else {
    copy(device, hop.peer, work(device).outgoing(hop.tensor), target, work(device).tensor_bytes());
  }
  if (faults && job_.has_fault(Fault::Kind::kCorrupt, maker_op)) {
    const std::array<void*, 1> arguments{&target};
    lane(device).launch_on(stream, {"debubble_live_flip", 1, 1, 0, arguments});
  }
  stamp(device, stream, trace_buffer.address(trace_buffer.of_send(hop.tensor, SendWord::kEnd)));
  record(arrival, stream, "marking a transfer");
}

void Executor::issue(const Mode& mode) {
  std::vector<std::int64_t> before;
  for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
    LaneDevice& on = lane(device);
    const TraceBuffer& trace_buffer = *at(trace_buffers_, device);
    on.enter();
    on.zero(trace_buffer.address(TraceBuffer::kFirst),
            trace_buffer.bytes() - static_cast<Bytes>(TraceBuffer::kFirst * sizeof(std::uint64_t)));
    before.push_back(on.launches());
  }
  for (const IssueStep& step : order_.steps) {
    const auto device = static_cast<std::size_t>(step.device);
    issue_cell(step.device, at(job_.plan().devices[device], step.action), mode);
  }
  launches_ = 0;
  for (std::size_t device = 0; device < before.size(); ++device)
    launches_ += lanes_[device]->launches() - before[device];
}

std::optional<Stall> Executor::run(std::int32_t iteration, const Mode& mode) {
  for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
    TraceBuffer& trace_buffer = *at(trace_buffers_, device);
    const std::array<std::uint64_t, TraceBuffer::kFirst> start{static_cast<std::uint64_t>(iteration),
                                                               pipeline_end_chain()};
    lane(device).upload(trace_buffer.address(TraceBuffer::kIteration), start.data(), static_cast<Bytes>(sizeof start));
  }
  if (mode.graph) {
    if (captured_ != mode.payloads) gate_.capture([&] { issue(mode); });
    captured_ = mode.payloads;
    gate_.launch();
  } else if (mode.loading) {
    gate_.run_open([&] { issue(mode); });
  } else {
    gate_.run([&] { issue(mode); });
    opened_ = gate_.opened();
  }
  const auto progress = [this] { return stamps_written(); };
  if (wait(progress)) {
    read_trace_buffers();
    return std::nullopt;
  }
  Stall stall = where_it_stands();
  give_up(progress);
  return stall;
}

void Executor::give_up(const std::function<std::int64_t()>& progress) {
  lost_messages_.set(1);
  lost_ = !wait(progress);
}

// Looks several times within the patience, so that a stall is reported once it has lasted so long, or a quarter longer.
bool Executor::wait(const std::function<std::int64_t()>& progress) {
  using Host = std::chrono::steady_clock;
  const auto patience = std::chrono::nanoseconds(job_.request().patience);
  auto moved = Host::now();
  auto looked = moved;
  std::int64_t seen = -1;  // a first look at once would disturb what is measured
  for (std::chrono::microseconds pause(20); !gate_.finished();
       pause = std::min(2 * pause, std::chrono::microseconds(500))) {
    std::this_thread::sleep_for(pause);
    const auto now = Host::now();
    if (now - looked < patience / 4) continue;
    looked = now;
    const std::int64_t written = progress();
    if (written != seen) {
      seen = written;
      moved = now;
    } else if (now - moved >= patience) {
      return false;
    }
  }
  return true;
}

void Executor::read(void* to, DeviceAddress from, Bytes bytes) {
  const CudaDriver& driver = parts_.libraries().driver;
  parts_.enter(parts_.primary(0));
  check(driver.call.download(to, from, static_cast<std::size_t>(bytes), reader_.get()), "reading the stamps");
  check(driver.call.stream_synchronise(reader_.get()), "reading the stamps");
}

void Executor::read_trace_buffers() {
  for (const auto& trace_buffer : trace_buffers_)
    read(trace_buffer->words().data(), trace_buffer->address(0), trace_buffer->bytes());
}

std::int64_t Executor::stamps_written() {
  read_trace_buffers();
  std::int64_t count = 0;
  for (const auto& trace_buffer : trace_buffers_) {
    for (const std::uint64_t word : trace_buffer->words()) count += word == 0 ? 0 : 1;
  }
  return count;
}

// Read from the stamps: a device is at its first action whose last op has no end stamp, and waits for the first of that
// action's inputs whose transfer has no end stamp. With all inputs there it is at work, and this is no deadlock.
Stall Executor::where_it_stands() {
  std::vector<DeviceStatus> statuses;
  bool at_work = false;
  for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
    const TraceBuffer& own = trace_buffer(device);
    DeviceStatus status;
    status.position = -1;
    for (const Action& action : at(job_.plan().devices, device)) {
      const auto last = static_cast<std::size_t>(action.position) + job_.cell(device, action.position).size() - 1;
      if (own[own.of_op(last, OpWord::kEnd)] != 0) continue;
      status.position = action.position;
      for (const Hop& hop : action.receives) {
        const TraceBuffer& sender = trace_buffer(hop.peer);
        if (status.waits || sender[sender.of_send(hop.tensor, SendWord::kEnd)] != 0) continue;
        status.waits = true;
        status.tensor = hop.tensor;
        status.from = hop.peer;
      }
      at_work = at_work || !status.waits;
      break;
    }
    statuses.push_back(status);
  }
  Stall stall = explain_stall(job_, statuses);
  if (at_work) {
    stall.cause = "no progress for " + format_with_unit(job_.request().patience, scale_of("s"));
  }
  return stall;
}

}  // namespace debubble::live
