// The emulation of a block: what stands between the kernels and the tests must be right itself.
#include "tests/workload/block_runner.hpp"

#include "gpu/workload/kernels.hpp"
#include "tests/support/test.hpp"
#include "tests/workload/cuda_shim.hpp"
#include "tests/workload/host_device.hpp"

namespace debubble::test {
namespace {

TEST_CASE("nobody passes a barrier before all have reached it") {
  BlockRunner runner;
  std::vector<int> before(64);
  bool all_seen = true;
  for (int round = 0; round < 3; ++round) {
    runner.run(64, [&] {
      before[static_cast<std::size_t>(BlockRunner::current())] = round + 1;
      BlockRunner::barrier();
      for (const int mark : before) all_seen = all_seen && mark == round + 1;
    });
  }
  CHECK(all_seen);
}

TEST_CASE("a barrier that some threads never reach is refused") {
  BlockRunner runner;
  CHECK_THROWS_AS(runner.run(32,
                             [] {
                               if (BlockRunner::current() != 7) BlockRunner::barrier();
                             }),
                  std::runtime_error);
}

TEST_CASE("a shuffle hands every thread its partner's value") {
  BlockRunner runner;
  std::vector<float> sums(64);
  runner.run(64, [&] {
    const int self = BlockRunner::current();
    auto value = static_cast<float>(self);
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffU, value, distance);
    sums[static_cast<std::size_t>(self)] = value;
  });
  for (int i = 0; i < 64; ++i) CHECK(sums[static_cast<std::size_t>(i)] == (i < 32 ? 496.0F : 1520.0F));
}

TEST_CASE("launches that the kernels do not allow are refused") {
  HostDevice device(DataType::kFp32);
  const auto launch = [&](std::int64_t blocks, std::int32_t threads, Bytes shared) {
    device.launch({"add_partials", blocks, threads, shared, {}});
  };
  CHECK_THROWS_AS(launch(0, 32, 0), std::invalid_argument);
  CHECK_THROWS_AS(launch(1, 33, 0), std::invalid_argument);
  CHECK_THROWS_AS(launch(1, 512, 0), std::invalid_argument);
  CHECK_THROWS_AS(launch(1, 32, 16), std::invalid_argument);
}

}  // namespace
}  // namespace debubble::test
