// Gate: all streams of a run leave one origin together and meet there again. What is issued between waits until the
// gate opens, so that the host's launch time does not show; or it is captured, and runs as one CUDA graph.
//
//     origin   [wait for the host]──fork──────────────────────────join──[finished]
//     lanes                          └──► work of all devices ──►──┘
//
// A stream holds only so many launches that cannot begin: then the host would wait for the GPU, and the GPU for the
// host. `launched` therefore opens the gate early, and `opened_early` says so.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "live/cuda/gpu_parts.hpp"
#include "live/cuda/lane.hpp"

namespace debubble::live {

// A word of the host's memory that the GPU reads.
class HostFlag {
 public:
  explicit HostFlag(const CudaDriver& driver);
  ~HostFlag();
  HostFlag(const HostFlag&) = delete;
  HostFlag& operator=(const HostFlag&) = delete;
  [[nodiscard]] DeviceAddress address() const { return static_cast<DeviceAddress>(address_); }
  void set(std::uint32_t value) { *word_ = value; }

 private:
  const CudaDriver& driver_;
  volatile std::uint32_t* word_ = nullptr;
  cuda::Address address_ = 0;
};

class Gate {
 public:
  // Launches on one stream that may wait behind a closed gate.
  static constexpr std::int64_t kMostWaiting = 900;

  // `lane` launches the kernel that stands in where the driver cannot make a stream wait for a value.
  Gate(const GpuParts& parts, LaneDevice& lane);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // A stream that leaves with the others; once, before anything is issued.
  void add(const GpuPart& part, cuda::Stream stream);

  // Issues everything behind a closed gate, then opens it and returns; does not wait.
  void run(const std::function<void()>& issue);
  // Captures the same; `launch` then runs it.
  void capture(const std::function<void()>& issue);
  void launch();
  [[nodiscard]] std::size_t graph_nodes() const { return nodes_; }

  // While issuing: so many launches have gone to one stream.
  void launched(std::int64_t on_one_stream);
  [[nodiscard]] bool opened_early() const { return opened_early_; }

  // Whether all of the last run is over. Throws UnavailableError U027 when something failed on the GPU.
  [[nodiscard]] bool finished() const;

 private:
  struct Member {
    GpuPart part;
    cuda::Stream stream;
    OwnedHandle<cuda::Event> joined;
  };
  void check(cuda::Result result, const std::string& what) const;
  void close();
  void open();
  void fork_and_join(const std::function<void()>& issue);

  const GpuParts& parts_;
  LaneDevice& lane_;
  GpuPart home_;
  OwnedHandle<cuda::Stream> origin_;
  OwnedHandle<cuda::Event> forked_;
  OwnedHandle<cuda::Event> finished_;
  std::vector<Member> members_;
  HostFlag flag_;
  std::uint32_t rounds_ = 0;
  bool closed_ = false;
  bool opened_early_ = false;
  bool wait_by_kernel_ = false;
  OwnedHandle<cuda::GraphExec> graph_;
  std::size_t nodes_ = 0;
};

}  // namespace debubble::live
