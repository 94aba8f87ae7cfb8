// --html: who takes it, where it may not go, and what the file is before a browser sees it (tests/browser looks then).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("a page is whole: one file, no address in it, a policy that allows no request") {
  const Folder folder;
  CHECK(folder.data({"simulate", "--html", "run.html"}) == folder.data({"simulate"}));
  CHECK(folder.files() == "run.html");
  const std::string page = folder.read("run.html");
  CHECK(page.starts_with("<!doctype html>\n"));
  CHECK(page.ends_with("</html>\n"));
  CHECK(page.find("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: "
                  "blob:\"") != std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  CHECK(page.find("href=\"http") == std::string::npos);
  CHECK(page.find("<title>debubble: 1f1b on 4 devices: 4 stages, 8 microbatches</title>") != std::string::npos);
  CHECK(page.find("<noscript><pre>1f1b on 4 devices: 4 stages, 8 microbatches") != std::string::npos);
}

TEST_CASE("a page does not change what a verb prints, in any format") {
  const Folder folder;
  for (const Words& verb : {Words{"simulate"}, Words{"compare"}, Words{"whatif", "--slow", "device=1:1.5"}}) {
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

TEST_CASE("a deadlock has a page that says so") {
  const Folder folder;
  const Outcome outcome = folder.run({"simulate", "--schedule", "zb-v", "--p2p", "coupled", "--html", "stuck.html"});
  CHECK(outcome.status == 1);
  CHECK(folder.files() == "stuck.html");
  CHECK(folder.read("stuck.html").find("deadlock: devices wait for each other") != std::string::npos);
}

}  // namespace
}  // namespace debubble::testing
