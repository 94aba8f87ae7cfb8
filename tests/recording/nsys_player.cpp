// nsys_player EXPORT.sqlite VERSION: plays what Nsight Systems once saw on a GPU again, as a program under the
// injection library and a libcupti of that version:
//
//     NVTX_EVENTS --> ranges by NVTX, in their domains, on a thread for every thread of the export
//     CUPTI_ACTIVITY_KIND_* --> activity records by NVIDIA's structs (nvidia_records.hpp), handed out by the fake
//     libcupti
//
// The clock that this process reads is that of the export, so that all times are those of the recording.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/recording/fake_driver.hpp"
#include "tests/recording/nsys_rows.hpp"
#include "tests/recording/nvidia_records.hpp"
#include "tests/recording/puppet.hpp"

namespace {

using namespace debubble::testing;

std::atomic<std::int64_t> clock_ns = 0;  // 0: the machine's own

}  // namespace

// In place of the C library's, for every library of this process (the executable exports it).
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): theirs are reserved names
extern "C" [[gnu::visibility("default")]] int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const std::int64_t set = clock_ns;
  if (clock != CLOCK_REALTIME || set == 0) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  time->tv_sec = set / 1'000'000'000;
  time->tv_nsec = set % 1'000'000'000;
  return 0;
}

namespace {

// What happens at one time, in this order. Begins and ends of ranges are made in their own order.
enum class Order { kRange, kCall, kMemory };

struct Happening {
  std::int64_t time = 0;
  Order order = Order::kRange;
  std::int64_t thread = 0;
  std::function<void()> play;
};

class Player {
 public:
  Player(const NsysRows& rows, std::uint32_t version) : rows_(rows), version_(version) {
    for (const NsysRange& range : rows.ranges) add_range(range);
    close_before(INT64_MAX);
    for (const NsysWork& work : rows.work) work_[work.correlation].push_back(&work);
    add_calls();
    for (const NsysMemory& memory : rows.memory) {
      happen(memory.time, Order::kMemory, 0, [this, &memory] { give(nvidia_memory(memory, version_)); });
    }
    std::stable_sort(happenings_.begin(), happenings_.end(), [](const Happening& a, const Happening& b) {
      return std::pair(a.time, a.order) < std::pair(b.time, b.order);
    });
  }

  void play() {
    driver_.init();
    gpu_ = find_fake_cupti();
    if (gpu_.play == nullptr) throw std::runtime_error("no fake libcupti is loaded");
    for (const auto& [number, name] : rows_.domains) domains_[number] = nvtx_.domain(name.c_str());
    std::map<std::int64_t, std::unique_ptr<Puppet>> threads;
    for (const Happening& happening : happenings_) {
      clock_ns = happening.time;
      std::unique_ptr<Puppet>& thread = threads[happening.thread];
      if (thread == nullptr) thread = std::make_unique<Puppet>();
      thread->tell(happening.play);
    }
    // Work whose call the export does not have: the recording began after it.
    for (const NsysWork* work : unlaunched_) give(nvidia_work(*work, version_));
  }

 private:
  void happen(std::int64_t time, Order order, std::int64_t thread, std::function<void()> play) {
    happenings_.push_back({time, order, thread, std::move(play)});
  }

  // Ranges come in order of their begins; those that end at the time of another's begin end before it.
  void add_range(const NsysRange& range) {
    close_before(range.begin);
    happen(range.begin, Order::kRange, range.thread, [this, &range] {
      if (range.domain == 0) return nvtx_.push(range.text);
      nvtx_.domain_push(domain(range.domain), range.text.c_str());
    });
    open_.emplace(std::pair(range.end, -static_cast<std::ptrdiff_t>(happenings_.size())), &range);
  }

  void close_before(std::int64_t time) {
    while (!open_.empty() && open_.begin()->first.first <= time) {
      const NsysRange& range = *open_.begin()->second;
      happen(range.end, Order::kRange, range.thread, [this, &range] {
        if (range.domain == 0) return nvtx_.pop();
        nvtx_.domain_pop(domain(range.domain));
      });
      open_.erase(open_.begin());
    }
  }

  void add_calls() {
    std::set<std::uint32_t> launched;
    for (const NsysCall& call : rows_.calls) {
      launched.insert(call.correlation);
      happen(call.begin, Order::kCall, call.thread, [this, &call] {
        give(nvidia_call(call));
        for (const NsysWork* work : work_[call.correlation]) give(nvidia_work(*work, version_));
      });
    }
    for (const NsysWork& work : rows_.work) {
      if (!launched.contains(work.correlation)) unlaunched_.push_back(&work);
    }
  }

  void give(const RecordBytes& record) const { gpu_.play(record.data(), record.size()); }

  const void* domain(std::int64_t number) {
    const void*& known = domains_[number];
    if (known == nullptr) known = nvtx_.domain(("domain " + std::to_string(number)).c_str());
    return known;
  }

  const NsysRows& rows_;
  std::uint32_t version_;
  FakeDriver driver_;
  FakeNvtx nvtx_;
  FakeCupti gpu_;
  std::map<std::int64_t, const void*> domains_;
  std::map<std::pair<std::int64_t, std::ptrdiff_t>, const NsysRange*> open_;  // by end, the innermost first
  std::map<std::uint32_t, std::vector<const NsysWork*>> work_;
  std::vector<const NsysWork*> unlaunched_;
  std::vector<Happening> happenings_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "nsys_player EXPORT.sqlite VERSION\n");
    return 96;
  }
  try {
    // Names of kernels live as long as the process, for CUPTI's records point to them.
    static const NsysRows rows = read_nsys_rows(words[1]);
    Player(rows, static_cast<std::uint32_t>(std::atol(words[2]))).play();
    std::printf("ranges %zu calls %zu work %zu\n", rows.ranges.size(), rows.calls.size(), rows.work.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nsys_player: %s\n", error.what());
    return 2;
  }
  return 0;
}
