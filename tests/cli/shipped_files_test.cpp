// Files that debubble brings with it, read from a folder that does not have them.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {

TEST_CASE("published profiles, records and measured runs are found from any folder") {
  const Folder folder;
  const std::string out =
      folder.data({"simulate", "--profile", "traces/published/zb-a100-1.5b-m24.json", "-p", "8", "-m", "24"});
  CHECK(out.find("traces/published/zb-a100-1.5b-m24.json") != std::string::npos);
  CHECK(folder.data({"simulate", "--profile", "traces/published/gpt-1.3b-v100", "--microbatch-size", "2", "-p", "4"})
            .size() > 0);
  CHECK(folder.data({"accuracy", "--source", "korthikanti"}).find("korthikanti") != std::string::npos);
  CHECK(folder.run({"check", "traces/measured/measured.suite.json"}).status == 0);
  CHECK(folder.files().empty());
}

TEST_CASE("a file of one's own comes first") {
  const Folder folder;
  std::filesystem::create_directories(folder.path("traces/published"));
  folder.write("traces/published/zb-a100-1.5b-m24.json", kProfile);
  const std::string out = folder.data({"simulate", "--profile", "traces/published/zb-a100-1.5b-m24.json", "-p", "2"});
  CHECK(out.find("tiny") != std::string::npos);
}

TEST_CASE("every verb has a manual page, and an unknown page is refused") {
  const Folder folder;
  CHECK(folder.data({"list", "man-pages", "debubble-simulate"}).find(".SH OPTIONS\n") != std::string::npos);
  CHECK(folder.data({"list", "man-pages", "debubble"}).find("\\fBdoctor\\fR\n") != std::string::npos);
}

}  // namespace debubble::testing
