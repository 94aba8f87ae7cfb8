// Clock samples through a fake NVML.
#include "profiler/cupti/nvml.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

TEST_CASE("clocks of known GPUs are sampled, joined by their UUID") {
  ClockSampler sampler(DEBUBBLE_FAKE_NVML);
  std::vector<ClockRecord> records;
  const auto take = [&](const ClockRecord& record) { records.push_back(record); };
  sampler.sample(take);
  CHECK(records.empty());
  CHECK(sampler.driver() == "580.65.06");
  sampler.add(3, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  sampler.add(4, "GPU-ffffffff-ffff-ffff-ffff-ffffffffffff");
  sampler.sample(take);
  sampler.sample(take);
  REQUIRE(records.size() == 2);
  CHECK(records[0].device == 3);
  CHECK(records[0].sm_mhz == 1980);
  CHECK(records[0].slowed_by == 4);
  CHECK(records[1].sm_mhz == 1965);
  CHECK(records[0].time > 0);
}

TEST_CASE("without NVML nothing is sampled") {
  ClockSampler sampler("/nonexistent/libnvidia-ml.so.1");
  sampler.add(0, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  int records = 0;
  sampler.sample([&](const ClockRecord&) { ++records; });
  CHECK(records == 0);
  CHECK(sampler.driver().empty());
}

}  // namespace
}  // namespace debubble
