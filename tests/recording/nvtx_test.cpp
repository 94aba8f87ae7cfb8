// NVIDIA's NVTX headers against our injection library.
#include "tests/recording/recorded_run.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

TEST_CASE("real NVTX in two shared objects and four threads gives one stack per thread") {
  const testing::RecordedRun run = testing::run_recorded(DEBUBBLE_NVTX_PROGRAM " " DEBUBBLE_NVTX_PLUGIN);
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  const testing::Tally& tally = run.only();
  CHECK(tally.end.complete);
  CHECK(tally.range_names.at("before the plugin") == 1);
  CHECK(tally.range_names.at("program, main thread") == 25);
  CHECK(tally.range_names.at("program, other thread") == 75);
  CHECK(tally.range_names.at("with attributes") == 100);
  CHECK(tally.range_names.at("plugin, registered") == 100);
  CHECK(tally.range_names.at("plugin, default domain") == 100);
  CHECK(tally.range_names.size() == 6);
  CHECK(tally.losses.size() == 1);
  CHECK(tally.losses.at("process_ranges") == 100);
  CHECK(tally.open.size() == 5);
  for (const auto& [thread, open] : tally.open) CHECK(open == 0);
}

}  // namespace
}  // namespace debubble
