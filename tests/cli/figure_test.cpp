// Figures: which flags go together, which widths and endings are none, and where a figure may not go.
#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE_IN_FOLDER("a figure is 50 to 2000 mm wide") {
  for (const char* width : {"50mm", "2000mm", "5cm", "7in", "600px", "141.8pt", "85 mm", "85.5mm"}) {
    CAPTURE(width);
    CHECK(folder.data({"export", "--to", "svg", "--width", width}).starts_with("<svg "));
  }
  CHECK(contains(folder.data("export --to svg --width 85mm"), " width=\"85mm\" height=\""));
}

TEST_CASE_IN_FOLDER("a run is drawn as it is: nothing of a scenario goes with it") {
  (void)folder.data("simulate -p 2 -m 2 --save-run run.json -o text");
  CHECK(folder.refusal("export --to svg --run run.json -p 4") ==
        R"(error[C009]: --run and --devices: the run has its schedule and its times
  --> --run
  = help: leave one of them out
)");
  CHECK(folder.refusal("export --to svg --run no.json").starts_with("error[C005]"));
  CHECK(contains(folder.refusal("export --to svg --run no.json"), "\n  --> --run\n"));
  CHECK(folder.refusal("export --to svg --run run.json -o run.json").starts_with("error[C066]"));
  CHECK(folder.data("export --to svg --run run.json").starts_with("<svg "));
}

TEST_CASE_IN_FOLDER("a figure does not take the place of what it is made from") {
  folder.write("p.svg", kProfile);
  CHECK(folder.read("p.svg") == kProfile);
}

TEST_CASE_IN_FOLDER("what takes no time or no memory is drawn, too") {
  const auto drawn = [&](const Words& words) { return folder.data(words).starts_with("<svg "); };
  CHECK(drawn("export --to svg --times f=0,b=0 --show causes,idle,memory"));
  CHECK(drawn("export --to svg -p 1 -m 1 --show causes,idle,memory"));
  CHECK(drawn("export --to svg --times f=1ns,b=4000000s --show causes,idle,memory"));
  (void)folder.data("compare --times f=0,b=0 --figure bars.svg");
  (void)folder.data("compare --times f=0,b=0 --figure front.svg --show front");
  CHECK(folder.files() == "bars.svg front.svg");
}

TEST_CASE_IN_FOLDER("a verb prints the same with a figure, and the figure is that of export") {
  CHECK(folder.data("simulate --figure a.svg") == folder.data({"simulate"}));
  const auto drawn = [](const std::string& svg) { return svg.substr(svg.find("</desc>")); };
  CHECK(drawn(folder.read("a.svg")) == drawn(folder.data("export --to svg")));
  (void)folder.data("simulate --figure b.svg --show causes,memory --figure-width 7in --mono");
  CHECK(drawn(folder.read("b.svg")) == drawn(folder.data("export --to svg --show causes,memory --width 7in --mono")));
  CHECK(folder.data("compare --figure c.svg") == folder.data({"compare"}));
  CHECK(folder.files() == "a.svg b.svg c.svg");
}

}  // namespace
}  // namespace debubble::testing
