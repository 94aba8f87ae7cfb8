// `debubble explain CODE` and `debubble list error-codes`: codes, and what to do.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {

TEST_CASE("a code says what went wrong and what to do") {
  const Folder folder;
  CHECK(folder.data({"explain", "X005"}) == R"(X005  the simulation
      a run that is too large: devices, links, replicas, ops or a tensor
      what to do: make it smaller
)");
  CHECK(folder.data({"list", "error-codes", "X005"}) == folder.data({"explain", "X005"}));
}

TEST_CASE("the list of codes names each code once") {
  const Folder folder;
  const auto list = nlohmann::json::parse(folder.data({"list", "error-codes", "--format", "json"}));
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

TEST_CASE("a fault of JSON has one code, whatever the file: the place names it") {
  const Folder folder;
  folder.write("t.json", "{");
  const std::string error = "error[P001]: ";
  CHECK(folder.refusal({"simulate", "--profile", "t.json"}).starts_with(error));
  CHECK(folder.refusal({"simulate", "--schedule", "t.json"}).starts_with(error));
  CHECK(folder.refusal({"simulate", "--topology", "t.json"}).starts_with(error));
  CHECK(folder.refusal({"simulate", "--factors", "t.json"}).starts_with(error));
  CHECK(folder.run({"check", "t.json"}).err.starts_with(error));
}

TEST_CASE("what is no code gets a suggestion") {
  const Folder folder;
  CHECK(folder.refusal({"explain", "X019"}).starts_with("error[C003]: nothing here is called \"X019\""));
  CHECK(folder.refusal({"list", "error-codes", "H001", "--format", "json"}).starts_with("error[C003]: "));
}

}  // namespace debubble::testing
