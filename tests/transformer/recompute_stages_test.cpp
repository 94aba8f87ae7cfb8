// --recompute-stages: some stages make their activations again, the others keep them.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using RunJson = nlohmann::json;

RunJson run_with(const Folder& folder, const Words& more) {
  Words flags = "simulate --model gpt-6.7b -p 4 -m 8 --hardware a100-80 --format json";
  flags.insert(flags.end(), more.begin(), more.end());
  return RunJson::parse(folder.data(flags));
}

std::int64_t peak(const RunJson& run, std::size_t device) {
  return run["devices"][device]["peak_activation_bytes"].get<std::int64_t>();
}

TEST_CASE_IN_FOLDER("all stages named is as without the list, and none named is another run") {
  const RunJson all = run_with(folder, "--recompute full");
  const RunJson named = run_with(folder, "--recompute full --recompute-stages 0-3");
  CHECK(named["makespan_ns"] == all["makespan_ns"]);
  for (std::size_t d = 0; d < 4; ++d) CHECK(named["devices"][d] == all["devices"][d]);
  CHECK(contains(named["assumptions"].dump(), "of every block, inside B, on stages 0-3"));
}

TEST_CASE_IN_FOLDER("the stages that recompute hold less and take longer, the others are as they were") {
  const Words even{"--partition", "even"};
  const auto with = [&](Words more) {
    more.insert(more.end(), even.begin(), even.end());
    return run_with(folder, more);
  };
  const RunJson none = with({});
  const RunJson full = with("--recompute full");
  const RunJson some = with("--recompute full --recompute-stages 0,2");
  for (const std::size_t d : {0U, 2U}) {
    CHECK(peak(some, d) == peak(full, d));
    CHECK(some["devices"][d]["busy_ns"] == full["devices"][d]["busy_ns"]);
  }
  for (const std::size_t d : {1U, 3U}) {
    CHECK(peak(some, d) == peak(none, d));
    CHECK(some["devices"][d]["busy_ns"] == none["devices"][d]["busy_ns"]);
  }
}

TEST_CASE_IN_FOLDER("the automatic cut weighs what each stage recomputes, and on clusters, too") {
  for (const Words& links : {Words{}, Words("--topology dgx-a100:1 --tp 2")}) {
    const auto with = [&](Words more) {
      more.insert(more.end(), links.begin(), links.end());
      return run_with(folder, more)["makespan_ns"].get<std::int64_t>();
    };
    const std::int64_t cut = with("--recompute full --recompute-stages 0-1");
    CHECK(cut < with("--recompute full --recompute-stages 0-1 --partition even"));
    CHECK(cut < with("--recompute full"));
    CHECK(cut > with({}));
  }
}

}  // namespace
}  // namespace debubble::testing
