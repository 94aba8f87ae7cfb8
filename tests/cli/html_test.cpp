// --html: who takes it, where it may not go, and what the file is before a browser sees it (tests/browser looks then).
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE_IN_FOLDER("a page is whole: one file, no address in it, a policy that allows no request") {
  CHECK(folder.data("simulate --html run.html") == folder.data({"simulate"}));
  CHECK(folder.files() == "run.html");
  const std::string page = folder.read("run.html");
  CHECK(page.starts_with("<!doctype html>\n"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(contains(page,
                 "content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: "
                 "blob:\""));
  CHECK_FALSE(contains(page, "src="));
  CHECK_FALSE(contains(page, "href=\"http"));
  CHECK(contains(page, "<title>debubble: 1f1b on 4 devices: 4 stages, 8 microbatches</title>"));
  CHECK(contains(page, "<noscript><pre>1f1b on 4 devices: 4 stages, 8 microbatches"));
}

TEST_CASE_IN_FOLDER("a page does not change what a verb prints, in any format") {
  for (const Words& verb : {Words{"simulate"}, Words{"compare"}, Words("whatif --slow device=1:1.5")}) {
    for (const char* format : {"text", "csv"}) {
      CAPTURE(verb.front());
      Words plain = verb;
      plain.insert(plain.end(), {"--format", format});
      Words with_page = plain;
      with_page.insert(with_page.end(), {"--html", "page.html"});
      CHECK(folder.data(with_page) == folder.data(plain));
    }
  }
}

TEST_CASE_IN_FOLDER("a deadlock has a page that says so") {
  const Outcome outcome = folder.run("simulate --schedule zb-v --p2p coupled --html stuck.html");
  CHECK(outcome.status == 1);
  CHECK(folder.files() == "stuck.html");
  CHECK(contains(folder.read("stuck.html"), "deadlock: devices wait for each other"));
}

}  // namespace
}  // namespace debubble::testing
