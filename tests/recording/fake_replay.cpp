// fake_replay FILE: plays a record file again, as a program under the injection library. What a real GPU recorded once
// goes through the whole path on machines without one:
//
//     FILE.dbrec --> ranges by NVTX, on a thread for every thread it names
//                --> GPU work by the fake libcupti, of the recorded names and lengths, inside the recorded ranges
//
// Work is issued right behind the push of its range; work without a range at the end. Correlations, addresses of ranges
// and absolute times are new ones.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/records/record_file.hpp"
#include "sim/core/error.hpp"
#include "tests/recording/fake_driver.hpp"
#include "tests/recording/puppet.hpp"

namespace {

using namespace debubble;
using testing::FakeDriver;
using testing::FakeNvtx;
using testing::Puppet;

struct Work {
  GpuWork kind = GpuWork::kKernel;
  std::string name;
  Nanoseconds length = 0;
  Bytes bytes = 0;
};

struct Event {
  Nanoseconds time = 0;
  std::uint32_t thread = 0;
  enum class Kind { kPush, kPop, kMemory } kind = Kind::kPush;
  std::uint64_t range = 0;  // of a push; of memory: the address
  Bytes bytes = 0;
  std::string text;
};

// The whole file, in memory.
class Recorded : public RecordSink {
 public:
  using RecordSink::on;
  void on(const RangePush& record) override {
    std::string text(record.name);
    if (record.sequence != -1) text += ", seq = " + std::to_string(record.sequence);
    if (!record.sizes.empty()) text += ", sizes = " + std::string(record.sizes);
    events.push_back({record.time, record.thread, Event::Kind::kPush, record.range, 0, text});
  }
  void on(const RangePop& record) override {
    events.push_back({record.time, record.thread, Event::Kind::kPop, 0, 0, ""});
  }
  void on(const MemoryRecord& record) override {
    events.push_back({record.time, 0, Event::Kind::kMemory, record.address, record.bytes, ""});
  }
  void on(const LinkRecord& record) override { ranges_[record.correlation] = record.range; }
  void on(const KernelRecord& record) override {
    work_.emplace_back(record.correlation,
                       Work{record.work, std::string(record.name), record.end - record.begin, record.bytes});
  }

  // Work by range; 0: in none.
  [[nodiscard]] std::map<std::uint64_t, std::vector<Work>> work() const {
    std::map<std::uint64_t, std::vector<Work>> by_range;
    for (const auto& [correlation, work] : work_) {
      const auto range = ranges_.find(correlation);
      by_range[range == ranges_.end() ? 0 : range->second].push_back(work);
    }
    return by_range;
  }

  std::vector<Event> events;

 private:
  std::map<std::uint32_t, std::uint64_t> ranges_;
  std::vector<std::pair<std::uint32_t, Work>> work_;
};

void issue(const std::vector<Work>& works, FakeDriver& driver) {
  for (const Work& work : works) {
    const auto length = static_cast<std::uint64_t>(std::max<Nanoseconds>(work.length, 0));
    if (work.kind == GpuWork::kKernel) {
      driver.kernel(work.name, length);
    } else {
      driver.copy_to_device(static_cast<std::uint64_t>(std::max<Bytes>(work.bytes, 0)), length);
    }
  }
}

void replay(const Recorded& recorded, FakeDriver& driver, FakeNvtx& nvtx) {
  std::map<std::uint64_t, std::vector<Work>> work = recorded.work();
  std::map<std::uint32_t, std::unique_ptr<Puppet>> threads;
  for (const Event& event : recorded.events) {
    if (event.kind == Event::Kind::kMemory) {
      driver.memory(event.range, event.bytes);
      continue;
    }
    std::unique_ptr<Puppet>& thread = threads[event.thread];
    if (thread == nullptr) thread = std::make_unique<Puppet>();
    thread->tell([&] {
      if (event.kind == Event::Kind::kPop) return nvtx.pop();
      nvtx.push(event.text);
      issue(work[event.range], driver);
    });
  }
  issue(work[0], driver);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "fake_replay FILE\n");
    return 96;
  }
  Recorded recorded;
  try {
    read_record_file(words[1], recorded);
  } catch (const InputError& error) {
    std::fprintf(stderr, "%s", error.what());
    return 2;
  }
  std::stable_sort(recorded.events.begin(), recorded.events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  FakeDriver driver;
  driver.init();
  FakeNvtx nvtx;
  replay(recorded, driver, nvtx);
  std::printf("works %llu total %llu\n", static_cast<unsigned long long>(driver.works()),
              static_cast<unsigned long long>(driver.total()));
  return 0;
}
