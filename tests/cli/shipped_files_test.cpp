// Files that debubble brings with it, read from a folder that does not have them.
#include <filesystem>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {

TEST_CASE_IN_FOLDER("published profiles, records and measured runs are found from any folder") {
  const std::string out = folder.data("simulate --profile traces/published/zb-a100-1.5b-m24.json -p 8 -m 24");
  CHECK(contains(out, "traces/published/zb-a100-1.5b-m24.json"));
  CHECK(folder.data("simulate --profile traces/published/gpt-1.3b-v100 --microbatch-size 2 -p 4").size() > 0);
  CHECK(contains(folder.data("accuracy --source korthikanti"), "korthikanti"));
  CHECK(folder.run("check traces/measured/measured.suite.json").status == 0);
  CHECK(folder.files().empty());
}

TEST_CASE_IN_FOLDER("a file of one's own comes first") {
  std::filesystem::create_directories(folder.path("traces/published"));
  folder.write("traces/published/zb-a100-1.5b-m24.json", kProfile);
  const std::string out = folder.data("simulate --profile traces/published/zb-a100-1.5b-m24.json -p 2");
  CHECK(contains(out, "tiny"));
}

TEST_CASE_IN_FOLDER("every verb has a manual page, and an unknown page is refused") {
  CHECK(contains(folder.data("list man-pages debubble-simulate"), ".SH OPTIONS\n"));
  CHECK(contains(folder.data("list man-pages debubble"), "\\fBdoctor\\fR\n"));
}

}  // namespace debubble::testing
