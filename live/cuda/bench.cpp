#include "live/cuda/bench.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/core/at.hpp"
#include "sim/core/error.hpp"

namespace debubble::live {

Bench::Bench(const Lanes& lanes, Executor& executor)
    : lanes_(lanes), executor_(executor), flag_(lanes.front()->driver()), rows_(lanes.size()) {
  for (std::size_t device = 0; device < lanes_.size(); ++device) {
    rows_[device].data = lanes_[device]->allocate(static_cast<Bytes>(kSlots * sizeof(std::uint64_t)));
  }
}

Bench::~Bench() {
  for (std::size_t device = 0; device < lanes_.size(); ++device) lanes_[device]->release(rows_[device].data);
}

DeviceAddress Bench::next(std::int32_t device) {
  Row& row = at(rows_, device);
  if (row.used == kSlots) throw std::logic_error("a calibration takes more stamps than it has room for");
  return row.data + row.used++ * sizeof(std::uint64_t);
}

void Bench::clear() {
  for (std::size_t device = 0; device < lanes_.size(); ++device) {
    LaneDevice& lane = *lanes_[device];
    lane.enter();
    lane.zero(rows_[device].data, static_cast<Bytes>(rows_[device].used * sizeof(std::uint64_t)));
    lane.synchronise();
    rows_[device].used = 0;
  }
}

void Bench::run(const std::function<void()>& issue, const std::function<void()>& meanwhile) {
  clear();
  const std::int64_t early = executor_.gate().opened_early();
  executor_.gate().run(issue);
  opened_early_ += executor_.gate().opened_early() - early;
  if (meanwhile) meanwhile();
  const auto progress = [this] { return written(); };
  if (executor_.wait(progress)) return;
  executor_.give_up(progress);
  throw UnavailableError({"U027", "", "the GPU makes no progress while its ops are timed",
                          "does nvidia-smi show errors, or another program on this GPU?"});
}

std::vector<std::uint64_t> Bench::words(const Row& row) {
  std::vector<std::uint64_t> found(row.used);
  if (row.used > 0) {
    executor_.read(found.data(), row.data, static_cast<Bytes>(row.used * sizeof(std::uint64_t)));
  }
  return found;
}

std::vector<Nanoseconds> Bench::read(std::int32_t device) {
  const std::vector<std::uint64_t> found = words(at(rows_, device));
  return {found.begin(), found.end()};
}

std::int64_t Bench::written() {
  std::int64_t count = 0;
  for (const Row& row : rows_) {
    const std::vector<std::uint64_t> found = words(row);
    count += std::count_if(found.begin(), found.end(), [](std::uint64_t word) { return word != 0; });
  }
  return count;
}

}  // namespace debubble::live
