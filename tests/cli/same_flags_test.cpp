// The same thing has the same flag in every verb: checked over `debubble list commands --format json`.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using FlagNames = std::set<std::string>;

// Of every verb: the spellings of each of its flags.
std::map<std::string, std::vector<FlagNames>> spellings_by_verb(const Folder& folder) {
  const auto listed = folder.json("list commands");
  std::map<std::string, std::vector<FlagNames>> verbs;
  for (const auto& verb : listed["commands"]) {
    for (const auto& flag : verb["flags"]) {
      FlagNames names{flag["name"].get<std::string>()};
      for (const auto& alias : flag["aliases"]) names.insert(alias.get<std::string>());
      verbs[verb["name"]].push_back(names);
    }
  }
  return verbs;
}

TEST_CASE_IN_FOLDER("names that mean the same are accepted together, by every verb that accepts one of them") {
  const std::vector<FlagNames> same{{"--schedule", "--schedules"},
                                    {"--devices", "--pp"},
                                    {"--global-batch", "--gbs"},
                                    {"--microbatch-size", "--mbs", "--microbatch"},
                                    {"--sequence", "--seq-length", "--seq"},
                                    {"--objective", "--best"},
                                    {"--latency", "--latency-scale"}};
  const auto verbs = spellings_by_verb(folder);
  for (const auto& entry : verbs) {
    for (const FlagNames& names : entry.second) {
      for (const FlagNames& group : same) {
        bool any = false;
        for (const std::string& name : group) any = any || names.contains(name);
        CAPTURE(entry.first);
        CAPTURE(*group.begin());
        if (any) CHECK(names == group);
      }
    }
  }
  CHECK(verbs.at("sweep").size() > 50);
}

TEST_CASE_IN_FOLDER("flags under their other names do the same") {
  const auto alike = [&](const Words& one, const Words& other) { CHECK(folder.data(one) == folder.data(other)); };
  alike("simulate --schedules zb-h1", "simulate --schedule zb-h1");
  alike("sweep --schedules 1f1b,gpipe --objective bubble", "sweep --schedule 1f1b,gpipe --best bubble");
  alike("whatif --comm 0.1 --latency-scale x2", "whatif --comm 0.1 --latency x2");
  alike("live -p 2 -m 2 --clock logical --iterations 2", "live -p 2 -m 2 --clock logical --repetitions 2");
}

}  // namespace
}  // namespace debubble::testing
