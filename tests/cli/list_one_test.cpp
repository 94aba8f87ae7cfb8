// One thing of a list: `debubble list FAMILY NAME`.
#include "tests/support/command.hpp"

namespace debubble::testing {

TEST_CASE_IN_FOLDER("a name shows its own part of the list, in text and as JSON") {
  for (const auto& [family, name] :
       {std::pair{"schedules", "1f1b"}, std::pair{"transforms", "offload"}, std::pair{"planners", "dapple"},
        std::pair{"topologies", "dgx-h100"}, std::pair{"topologies", "ideal"}, std::pair{"cost-models", "profiled"},
        std::pair{"models", "llama3-70b"}, std::pair{"hardware", "h100"}, std::pair{"error-codes", "X010"},
        std::pair{"words", "bubble"}}) {
    const char* const listed = name;
    CAPTURE(listed);
    const std::string all = folder.data({"list", family});
    const std::string text = folder.data({"list", family, name});
    CHECK(text.starts_with(name));
    CHECK(text.size() < all.size());
    std::string key = family;
    std::replace(key.begin(), key.end(), '-', '_');
    const auto list = folder.json({"list", family, name, "--format", "json"})[key];
    REQUIRE(list.size() == 1);
    CHECK(list[0]["name"] == name);
  }
  CHECK(folder.data("list topologies dgx-h100:8") == folder.data("list topologies dgx-h100"));
}

TEST_CASE_IN_FOLDER("a planner is explained as it is listed") {
  CHECK(folder.data("explain planner dapple") == folder.data("list planners dapple"));
}

TEST_CASE_IN_FOLDER("text names a cluster's numbers in brief, and JSON says who measured them") {
  const std::string text = folder.data("simulate -p 4 --topology dgx-h100:1");
  CHECK_FALSE(contains(text, "NCCL's tables"));
  const std::string whole = folder.data("simulate -p 4 --topology dgx-h100:1 --assumptions");
  CHECK(whole.find("370.8 GB/s (18 links") != std::string::npos);
  const std::string json = folder.data("simulate -p 4 --topology dgx-h100:1 --format json");
  CHECK(json.find("370.8 GB/s (18 links of 20.6 GB/s in NCCL's tables") != std::string::npos);
  CHECK(contains(json, "machines per pod"));
}

}  // namespace debubble::testing
