// optimal by a MILP solver, which not every build has; optimal.transcript is about the rest.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using nlohmann::json;

std::string note_of(const json& run) {
  for (const json& finding : run["findings"]) {
    if (finding["code"] == "S020") return finding["message"];
  }
  return "";
}

TEST_CASE_IN_FOLDER("optimal: a MILP solver, where there is one, finds the same step and plans copies to the host") {
  Surroundings nowhere;
  nowhere.environment = {"DEBUBBLE_CBC_PLUGIN=/nowhere/libdebubble_cbc.so"};
  const Outcome missing = folder.run("simulate --schedule optimal --param memory_limit=3 --param solver=cbc", nowhere);
  CHECK(missing.status == 3);
  CHECK(missing.out.empty());
  CHECK(contains(missing.err,
                 "error[U064]: this debubble has no solver for MILPs: there is no "
                 "/nowhere/libdebubble_cbc.so\n  = help: install debubble-cbc, a package of the release (a build of "
                 "your own: apt-get install coinor-libcbc-dev, and build again)"));
  const Words small = "simulate --schedule optimal -p 2 -m 3 --comm 6 --format json --param backward=whole --param";
  const auto with = [&](const Words& more) { return folder.run(joined(small, more)); };
  const Outcome solved = with("memory_limit=2,3 --param solver=cbc");
  if (solved.status == 3) {
    MESSAGE("SKIPPED: built without CBC");
    return;
  }
  const json found = json::parse(solved.out);
  const json searched = json::parse(with({"memory_limit=2,3"}).out);
  CHECK(found["makespan_ns"] == searched["makespan_ns"]);
  CHECK(found["schedule"]["params"]["solver"] == "cbc");
  const json copied = json::parse(with("memory_limit=2,3 --param solver=cbc --param offload=yes").out);
  CHECK(copied["makespan_ns"] < searched["makespan_ns"]);
  CHECK(copied["makespan_ns"] == 24'000'000);
  CHECK(searched["makespan_ns"] == 36'000'000);
  CHECK(copied["devices"][0]["peak_activation_shares"] <= 2);
  CHECK(copied["devices"][0]["peak_host_bytes"] > 0);
  CHECK(contains(note_of(copied), "no order of these stages within this memory takes less"));
  // A time that is over at once leaves the best row.
  const json late = json::parse(with("memory_limit=2,3 --param solver=cbc --param offload=yes --param budget=0s").out);
  CHECK(late["makespan_ns"].get<std::int64_t>() >= 24'000'000);
}

}  // namespace
}  // namespace debubble::testing
