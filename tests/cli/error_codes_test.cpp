// `debubble explain CODE` and `debubble list error-codes`: codes, former codes, and what to do.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {

TEST_CASE("a code says what went wrong, what to do, and which codes it had before") {
  const Folder folder;
  CHECK(folder.data({"explain", "X005"}) == R"(X005  the simulation
      a run that is too large: devices, links, replicas, ops or a tensor
      what to do: make it smaller
      former codes, aliases until the next release: B006 B036 W006
)");
  CHECK(folder.data({"explain", "X003"}).find("former") == std::string::npos);
  CHECK(folder.data({"list", "error-codes", "X005"}) == folder.data({"explain", "X005"}));
}

TEST_CASE("a former code is an alias: it is answered with the code that took its place") {
  const Folder folder;
  CHECK(folder.data({"explain", "B036"}) ==
        "B036 is a former code, kept as an alias until the next release: it is X005 now.\n" +
            folder.data({"explain", "X005"}));
  for (const std::string former : {"J001", "K004", "Q001", "V001", "W020"}) {
    CAPTURE(former);
    CHECK(folder.data({"explain", former}).find(": it is P001 now.\nP001  files\n") != std::string::npos);
  }
}

TEST_CASE("the list of codes names each code and each former code once") {
  const Folder folder;
  const auto list = nlohmann::json::parse(folder.data({"list", "error-codes", "--format", "json"}));
  CHECK(list["schema_version"] == 1);
  std::set<std::string> once;
  for (const auto& code : list["error_codes"]) {
    CAPTURE(code["name"].get<std::string>());
    CHECK(once.insert(code["name"]).second);
    for (const auto& former : code["former"]) CHECK(once.insert(former).second);
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
