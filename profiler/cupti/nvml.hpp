// Clocks of the GPUs from NVML, loaded at run time. Where there is no NVML, nothing is sampled.
//
// NVML numbers GPUs its own way (CUDA_VISIBLE_DEVICES does not concern it), so they are joined by UUID.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "profiler/records/record.hpp"

namespace debubble {

class ClockSampler {
 public:
  using Handle = void*;
  struct Functions {
    int (*init)() = nullptr;
    int (*by_uuid)(const char*, Handle*) = nullptr;
    int (*clock)(Handle, int, unsigned*) = nullptr;
    int (*reasons)(Handle, unsigned long long*) = nullptr;
    int (*driver)(char*, unsigned) = nullptr;
  };
  static constexpr int kClockSm = 1;  // NVML_CLOCK_SM

  explicit ClockSampler(std::string library = "libnvidia-ml.so.1");

  // Thread-safe against sample(): CUPTI tells of devices on another thread.
  void add(std::uint32_t device, const std::string& uuid);

  // One record per known device. The first call loads NVML, which takes a moment.
  void sample(const std::function<void(const ClockRecord&)>& take);

  // "580.65.06"; empty without NVML. After the first sample.
  [[nodiscard]] const std::string& driver() const { return driver_; }

 private:
  void load();

  std::string library_;
  bool tried_ = false;
  bool works_ = false;
  Functions nvml_;
  std::string driver_;
  std::mutex mutex_;
  std::map<std::uint32_t, std::string> uuids_;
  std::map<std::uint32_t, Handle> handles_;
};

}  // namespace debubble
