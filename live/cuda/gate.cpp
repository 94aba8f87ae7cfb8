#include "live/cuda/gate.hpp"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

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

HostFlag::~HostFlag() { driver_.live.host_release(word_); }

Gate::Gate(const GpuParts& parts, LaneDevice& lane)
    : parts_(parts),
      lane_(lane),
      home_(parts.primary(0)),
      origin_(parts.make_stream(home_, true)),
      forked_(parts.make_event(home_)),
      finished_(parts.make_event(home_)),
      flag_(parts.libraries().driver) {}

Gate::~Gate() { open(Opened::kInTime); }

void Gate::check(cuda::Result result, const std::string& what) const {
  check_cuda(parts_.libraries().driver, result, what);
}

void Gate::add(const GpuPart& part, cuda::Stream stream) {
  members_.push_back({part, stream, parts_.make_event(part)});
}

void Gate::close() {
  const cuda::LiveFunctions& live = parts_.libraries().driver.live;
  parts_.enter(home_);
  // The stream waits until the flag is at least the number of this round. A flag that only grows is never reset, so no
  // wait of an earlier round can be caught by a reset.
  ++rounds_;
  issued_ = 0;
  waiting_.clear();
  opened_ = Opened::kInTime;
  if (!wait_by_kernel_) {
    const cuda::Result result =
        live.stream_wait_value(origin_.get(), flag_.address(), rounds_, cuda::kWaitUntilAtLeast);
    wait_by_kernel_ = result == cuda::kNotSupported;
    if (!wait_by_kernel_) check(result, "holding a stream back");
  }
  closed_ = true;
  if (!wait_by_kernel_) return;
  DeviceAddress address = flag_.address();
  const std::array<void*, 2> arguments{&address, &rounds_};
  lane_.launch_on(origin_.get(), {"debubble_live_wait", 1, 1, 0, arguments});
}

void Gate::open(Opened when) {
  if (!closed_.exchange(false)) return;  // the other thread was first
  opened_ = when;
  flag_.set(rounds_);
}

void Gate::issuing(cuda::Stream stream) {
  if (!closed_) return;
  ++issued_;
  if (++waiting_[stream] > kMostWaiting) open(Opened::kFull);
}

// Fork and join by events: every stream waits for one event of `origin_`, and `origin_` for one of every stream. Stream
// capture follows exactly these events, which is how capturing `origin_` captures all streams into one graph.
void Gate::fork_and_join(const std::function<void()>& issue) {
  const cuda::Functions& call = parts_.libraries().driver.call;
  parts_.enter(home_);
  check(call.event_record(forked_.get(), origin_.get()), "starting a run");
  for (const Member& member : members_) {
    parts_.enter(member.part);
    issuing(member.stream);
    check(call.stream_wait(member.stream, forked_.get(), 0), "starting a run");
  }
  issue();
  for (const Member& member : members_) {
    parts_.enter(member.part);
    issuing(member.stream);
    check(call.event_record(member.joined.get(), member.stream), "ending a run");
  }
  parts_.enter(home_);
  for (const Member& member : members_) {
    check(call.stream_wait(origin_.get(), member.joined.get(), 0), "ending a run");
  }
}

// Opens the gate when nothing more is issued, for as long as it exists.
class Gate::Watch {
 public:
  explicit Watch(Gate& gate) : gate_(gate), thread_([this] { watch(); }) {}
  ~Watch() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
    }
    ended_.notify_one();
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  void watch() {
    using Host = std::chrono::steady_clock;
    auto moved = Host::now();
    std::int64_t seen = gate_.issued_;
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ended_.wait_for(lock, kIdleLimit / 5, [this] { return done_; })) {
      if (const std::int64_t now = gate_.issued_; now != seen) {
        seen = now;
        moved = Host::now();
      } else if (Host::now() - moved >= kIdleLimit) {
        gate_.open(Opened::kIdle);
      }
    }
  }

  Gate& gate_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;  // last: it uses the others
};

void Gate::issue_all(const std::function<void()>& issue) {
  fork_and_join(issue);
  check(parts_.libraries().driver.call.event_record(finished_.get(), origin_.get()), "ending a run");
}

void Gate::run(const std::function<void()>& issue) {
  close();
  try {
    const Watch watch(*this);
    issue_all(issue);
  } catch (...) {
    open(Opened::kInTime);  // else destroying the streams would wait for ever
    throw;
  }
  open(Opened::kInTime);
  if (opened_ != Opened::kInTime) ++early_runs_;
}

// A kernel's first launch may load it, and loading may wait for all work on the GPU: behind a closed gate that would be
// a deadlock until the gate opens early.
void Gate::run_open(const std::function<void()>& issue) {
  parts_.enter(home_);
  opened_ = Opened::kInTime;
  issue_all(issue);
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
