// Gate: all streams of a run leave one origin together and meet there again. What is issued between waits until the
// gate opens, so that the host's launch time does not show; or it is captured, and runs as one CUDA graph.
//
//     origin   [wait for the host]──fork──────────────────────────join──[finished]
//     lanes                          └──► work of all devices ──►──┘
//
// A stream holds only so much that cannot begin: then the host waits for the GPU, and the GPU for the host. The gate
// therefore opens early in two cases, and `opened` says in which: kMostWaiting things wait on one stream, or nothing
// was issued for kIdleLimit. The second is seen by a thread of its own, as the host's may wait inside the driver, for
// room in a queue that is smaller than we think, or to load a kernel.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "live/cuda/gpu_parts.hpp"
#include "live/cuda/lane.hpp"

namespace debubble::live {

// A word of the host's memory that the GPU reads. Any thread may set it; no CUDA context is needed.
class HostFlag {
 public:
  explicit HostFlag(const CudaDriver& driver);
  ~HostFlag();
  HostFlag(const HostFlag&) = delete;
  HostFlag& operator=(const HostFlag&) = delete;
  [[nodiscard]] DeviceAddress address() const { return static_cast<DeviceAddress>(address_); }
  void set(std::uint32_t value) { std::atomic_ref<std::uint32_t>(*word_).store(value, std::memory_order_seq_cst); }

 private:
  const CudaDriver& driver_;
  std::uint32_t* word_ = nullptr;
  cuda::Address address_ = 0;
};

enum class Opened : std::uint8_t { kInTime, kFull, kIdle };

class Gate {
 public:
  // Launches, copies, memsets and events on one stream that may wait behind a closed gate; streams are said to hold
  // about 1024 launches.
  static constexpr std::int64_t kMostWaiting = 500;
  static constexpr std::chrono::milliseconds kIdleLimit{50};

  // `lane` launches the kernel that is used where the driver cannot make a stream wait for a value.
  Gate(const GpuParts& parts, LaneDevice& lane);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // A stream that leaves with the others; once, before anything is issued.
  void add(const GpuPart& part, cuda::Stream stream);

  // Issues everything behind a closed gate, then opens it and returns; does not wait. Throws UnavailableError U027.
  void run(const std::function<void()>& issue);
  // The same with an open gate: for what may load kernels, which can wait for all that was launched before.
  void run_open(const std::function<void()>& issue);
  // Captures the same; `launch` then runs it.
  void capture(const std::function<void()>& issue);
  void launch();
  [[nodiscard]] std::size_t graph_nodes() const { return nodes_; }

  // While issuing, before anything goes to a stream.
  void issuing(cuda::Stream stream);
  [[nodiscard]] Opened opened() const { return opened_; }                  // in the last run
  [[nodiscard]] std::int64_t opened_early() const { return early_runs_; }  // runs so far

  // Whether all of the last run is over. Throws UnavailableError U027 when something failed on the GPU.
  [[nodiscard]] bool finished() const;

 private:
  struct Member {
    GpuPart part;
    cuda::Stream stream;
    OwnedHandle<cuda::Event> joined;
  };
  class Watch;
  void check(cuda::Result result, const std::string& what) const;
  void close();
  void open(Opened when);
  void fork_and_join(const std::function<void()>& issue);
  void issue_all(const std::function<void()>& issue);

  const GpuParts& parts_;
  LaneDevice& lane_;
  GpuPart home_;
  OwnedHandle<cuda::Stream> origin_;
  OwnedHandle<cuda::Event> forked_;
  OwnedHandle<cuda::Event> finished_;
  std::vector<Member> members_;
  HostFlag flag_;
  std::uint32_t rounds_ = 0;
  std::atomic<bool> closed_ = false;
  std::atomic<Opened> opened_ = Opened::kInTime;
  std::atomic<std::int64_t> issued_ = 0;          // in this round, on all streams
  std::map<cuda::Stream, std::int64_t> waiting_;  // in this round
  std::int64_t early_runs_ = 0;
  bool wait_by_kernel_ = false;
  OwnedHandle<cuda::GraphExec> graph_;
  std::size_t nodes_ = 0;
};

}  // namespace debubble::live
