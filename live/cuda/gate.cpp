#include "live/cuda/gate.hpp"

#include <array>
#include <atomic>

namespace debubble::live {

HostFlag::HostFlag(const CudaDriver& driver) : driver_(driver) {
  void* memory = nullptr;
  check_cuda(
      driver_,
      driver_.live.host_allocate(&memory, sizeof(std::uint32_t), cuda::kHostMemoryMapped | cuda::kHostMemoryPortable),
      "allocating a word of host memory");
  word_ = static_cast<std::uint32_t*>(memory);
  *word_ = 0;
  const cuda::Result result = driver_.live.host_address(&address_, memory, 0);
  if (result != cuda::kSuccess) driver_.live.host_release(memory);
  check_cuda(driver_, result, "finding a word of host memory from the GPU");
}

HostFlag::~HostFlag() {
  driver_.live.host_release(const_cast<std::uint32_t*>(word_));  // NOLINT: volatile only while it is shared
}

Gate::Gate(const GpuParts& parts, LaneDevice& lane)
    : parts_(parts),
      lane_(lane),
      home_(parts.primary(0)),
      origin_(parts.make_stream(home_, true)),
      forked_(parts.make_event(home_)),
      finished_(parts.make_event(home_)),
      flag_(parts.libraries().driver) {}

Gate::~Gate() {
  if (closed_) open();
}

void Gate::check(cuda::Result result, const std::string& what) const {
  check_cuda(parts_.libraries().driver, result, what);
}

void Gate::add(const GpuPart& part, cuda::Stream stream) {
  members_.push_back({part, stream, parts_.make_event(part)});
}

void Gate::close() {
  const cuda::LiveFunctions& live = parts_.libraries().driver.live;
  parts_.enter(home_);
  ++rounds_;
  closed_ = true;
  opened_early_ = false;
  if (!wait_by_kernel_) {
    wait_by_kernel_ =
        live.stream_wait_value(origin_.get(), flag_.address(), rounds_, cuda::kWaitUntilAtLeast) != cuda::kSuccess;
  }
  if (!wait_by_kernel_) return;
  DeviceAddress address = flag_.address();
  const std::array<void*, 2> arguments{&address, &rounds_};
  lane_.launch_on(origin_.get(), {"debubble_live_wait", 1, 1, 0, arguments});
}

void Gate::open() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  flag_.set(rounds_);
  closed_ = false;
}

void Gate::launched(std::int64_t on_one_stream) {
  if (!closed_ || on_one_stream <= kMostWaiting) return;
  opened_early_ = true;
  open();
}

void Gate::fork_and_join(const std::function<void()>& issue) {
  const cuda::Functions& call = parts_.libraries().driver.call;
  parts_.enter(home_);
  check(call.event_record(forked_.get(), origin_.get()), "starting a run");
  for (const Member& member : members_) {
    parts_.enter(member.part);
    check(call.stream_wait(member.stream, forked_.get(), 0), "starting a run");
  }
  issue();
  for (const Member& member : members_) {
    parts_.enter(member.part);
    check(call.event_record(member.joined.get(), member.stream), "ending a run");
  }
  parts_.enter(home_);
  for (const Member& member : members_) {
    check(call.stream_wait(origin_.get(), member.joined.get(), 0), "ending a run");
  }
}

void Gate::run(const std::function<void()>& issue) {
  close();
  try {
    fork_and_join(issue);
    check(parts_.libraries().driver.call.event_record(finished_.get(), origin_.get()), "ending a run");
  } catch (...) {
    if (closed_) open();  // or whoever gives the streams back would wait for ever
    throw;
  }
  if (closed_) open();
}

void Gate::capture(const std::function<void()>& issue) {
  const cuda::LiveFunctions& live = parts_.libraries().driver.live;
  parts_.enter(home_);
  check(live.capture_begin(origin_.get(), cuda::kCaptureThreadLocal), "beginning to capture a graph");
  cuda::Graph made = nullptr;
  try {
    fork_and_join(issue);
  } catch (...) {
    live.capture_end(origin_.get(), &made);
    if (made != nullptr) live.graph_destroy(made);
    throw;
  }
  check(live.capture_end(origin_.get(), &made), "capturing a graph");
  const OwnedHandle<cuda::Graph> graph(made, live.graph_destroy);
  check(live.graph_nodes(made, nullptr, &nodes_), "counting a graph's nodes");
  cuda::GraphExec exec = nullptr;
  check(live.graph_instantiate(&exec, made, 0), "instantiating a graph");
  graph_ = {exec, live.graph_exec_destroy};
  check(live.graph_upload(exec, origin_.get()), "uploading a graph");
}

void Gate::launch() {
  parts_.enter(home_);
  check(parts_.libraries().driver.live.graph_launch(graph_.get(), origin_.get()), "launching a graph");
  check(parts_.libraries().driver.call.event_record(finished_.get(), origin_.get()), "ending a run");
}

bool Gate::finished() const {
  parts_.enter(home_);
  const cuda::Result result = parts_.libraries().driver.live.event_query(finished_.get());
  if (result == cuda::kNotReady) return false;
  check(result, "waiting for the GPU: a kernel or one issued shortly before it");
  return true;
}

}  // namespace debubble::live
