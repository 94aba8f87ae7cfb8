// Bench: runs that are no iterations, for calibration: issued while the executor's gate is closed, watched for
// progress, and read as stamps, which each device has a row of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "live/cuda/executor.hpp"

namespace debubble::live {

class Bench {
 public:
  static constexpr std::size_t kSlots = 65'536;  // stamps of one device in one run

  // Both must outlive it. Throws UnavailableError U026.
  Bench(const Lanes& lanes, Executor& executor);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // The place of the device's next stamp; only while a run is being issued.
  [[nodiscard]] DeviceAddress next(std::int32_t device);

  // Forgets all stamps, issues, and waits for the end. `meanwhile`: done between issuing and waiting. Throws
  // UnavailableError U027 when no stamp comes for the request's patience: the executor has given up then, and what it
  // cannot free it calls lost.
  void run(const std::function<void()>& issue, const std::function<void()>& meanwhile = {});
  // In the order of `next`.
  [[nodiscard]] std::vector<Nanoseconds> read(std::int32_t device);

  // Of the runs so far, those that began before all was launched.
  [[nodiscard]] std::int64_t opened_early() const { return opened_early_; }

  // A word that GPUs watch; it lives as long as the bench, as its release would wait for a GPU that hangs.
  [[nodiscard]] HostFlag& flag() { return flag_; }

 private:
  struct Row {
    DeviceAddress data = 0;
    std::size_t used = 0;
  };
  void clear();
  [[nodiscard]] std::vector<std::uint64_t> words(const Row& row);
  [[nodiscard]] std::int64_t written();

  const Lanes& lanes_;
  Executor& executor_;
  HostFlag flag_;
  std::vector<Row> rows_;
  std::int64_t opened_early_ = 0;
};

}  // namespace debubble::live
