// Fabric: the links between device threads: one bounded queue per directed pair, one mutex, a condition per device.
//
//     device 0 ──send──► [0F0][0F1]│ inbox of device 1 ──► kept until asked for
//
// Because there is one mutex, the fabric knows when every device waits: then nothing can move any more, and all of
// them get Stalled at once. No patience is needed, and no slow machine is taken for a deadlock.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "live/stall.hpp"
#include "live/transport.hpp"

namespace debubble::live {

class Fabric {
 public:
  // `capacity`: messages per directed link. `spin`: who waits looks again and again for a while before it sleeps, which
  // wall clocks need and crowded machines do not like.
  Fabric(std::int32_t devices, std::size_t capacity, bool spin);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Of one device, for its thread alone.
  [[nodiscard]] Transport& transport(std::int32_t device);

  // Every call of every device throws Stalled from now on, so that each device's status stays as it is.
  void stop();
  // True once all devices waited for each other.
  [[nodiscard]] bool stalled() const;
  // What the devices are at; after a stop, what they were at.
  [[nodiscard]] std::vector<DeviceStatus> status() const;
  // Grows whenever any device does a step; a device at work does none.
  [[nodiscard]] std::int64_t steps() const { return steps_.load(); }

 private:
  class Port;
  struct Slot;
  using Lock = std::unique_lock<std::mutex>;

  void block(Slot& slot, Lock& lock);
  void unblock(Slot& slot);
  void stop_locked();
  bool absorb(Slot& slot);

  mutable std::mutex mutex_;
  std::size_t capacity_;
  bool spin_;
  std::atomic<bool> stopped_ = false;  // written under the mutex; read without it by a wait for time
  bool stalled_ = false;
  std::size_t blocked_ = 0;
  std::size_t at_barrier_ = 0;
  std::int64_t barriers_ = 0;
  std::atomic<std::int64_t> steps_ = 0;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace debubble::live
