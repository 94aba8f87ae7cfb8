// `debubble explain CODE` and `debubble list error-codes`: codes, and what to do.
#include "tests/support/command.hpp"

namespace debubble::testing {

TEST_CASE_IN_FOLDER("a code says what went wrong and what to do") {
  CHECK(folder.data("explain X005") == R"(X005  the simulation
      a run that is too large: devices, links, replicas, ops or a tensor
      what to do: make it smaller
)");
  CHECK(folder.data("list error-codes X005") == folder.data("explain X005"));
}

TEST_CASE_IN_FOLDER("the list of codes names each code once") {
  const auto list = folder.json("list error-codes");
  CHECK(list["schema_version"] == 1);
  std::set<std::string> once;
  for (const auto& code : list["error_codes"]) {
    CAPTURE(code["name"].get<std::string>());
    CHECK(once.insert(code["name"]).second);
    CHECK(!code["meaning"].get<std::string>().empty());
    CHECK(!code["remedy"].get<std::string>().empty());
  }
  CHECK(list["error_codes"].size() <= 190);
}

}  // namespace debubble::testing
