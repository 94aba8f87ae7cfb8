// Figures: which flags go together, which widths and endings are none, and where a figure may not go.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

using Words = std::vector<std::string>;

std::string refusal_of_width(const Folder& folder, const std::string& width) {
  return folder.refusal({"export", "--to", "svg", "--width", width});
}

TEST_CASE("a width has a number and a unit of length") {
  const Folder folder;
  CHECK(refusal_of_width(folder, "85") ==
        R"(error[C014]: "85": a width without a unit; there are mm, cm, in, pt and px
  --> --width
  = help: write a width like 85mm (a column), 170mm (a page), 600px or 7in
)");
  CHECK(refusal_of_width(folder, "85parsec") ==
        R"(error[C014]: "85parsec": no unit of length; there are mm, cm, in, pt and px
  --> --width
  = help: write a width like 85mm (a column), 170mm (a page), 600px or 7in
)");
  CHECK(refusal_of_width(folder, "1e3mm").starts_with("error[C014]"));
  CHECK(refusal_of_width(folder, "wide") == R"(error[C011]: "wide" is no width
  --> --width
  = help: write a width like 85mm (a column), 170mm (a page), 600px or 7in
)");
  for (const char* width : {"-85mm", "8.5.1cm", ".mm", "mm", "99999999mm", "8.1234cm"}) {
    CAPTURE(width);
    CHECK(refusal_of_width(folder, width).starts_with("error[C011]"));
  }
  CHECK(refusal_of_width(folder, "").starts_with("error[C065]"));
  CHECK(refusal_of_width(folder, " ").starts_with("error[C065]"));
}

TEST_CASE("a figure is 50 to 2000 mm wide") {
  const Folder folder;
  CHECK(refusal_of_width(folder, "0mm") == R"(error[C012]: a figure is 50 to 2000 mm wide; got 0mm
  --> --width
  = help: write a width like 85mm (a column), 170mm (a page), 600px or 7in
)");
  CHECK(refusal_of_width(folder, "49.9mm").starts_with("error[C012]"));
  CHECK(refusal_of_width(folder, "2000.1mm").starts_with("error[C012]"));
  for (const char* width : {"50mm", "2000mm", "5cm", "7in", "600px", "141.8pt", "85 mm", "85.5mm"}) {
    CAPTURE(width);
    CHECK(folder.data({"export", "--to", "svg", "--width", width}).starts_with("<svg "));
  }
  CHECK(folder.data({"export", "--to", "svg", "--width", "85mm"}).find(" width=\"85mm\" height=\"") !=
        std::string::npos);
}

TEST_CASE("what a figure shows is one of its panels, each once") {
  const Folder folder;
  CHECK(folder.refusal({"export", "--to", "svg", "--show", "bubbles"}) ==
        R"(error[C002]: "bubbles" is nothing that a figure of a run shows
  --> --show
  = help: one or several of pipeline|causes|idle|memory, like pipeline,memory
)");
  CHECK(folder.refusal({"export", "--to", "svg", "--show", "idle,"}).starts_with("error[C002]"));
  CHECK(folder.refusal({"export", "--to", "svg", "--show", "idle,idle"}) == R"(error[C007]: idle is there twice
  --> --show
  = help: name each once
)");
  CHECK(folder.refusal({"simulate", "--figure", "a.svg", "--show", "bars"}).starts_with("error[C002]"));
  CHECK(folder.refusal({"compare", "--figure", "a.svg", "--show", "pipeline"}) ==
        R"(error[C002]: "pipeline" is nothing that a figure of a comparison shows
  --> --show
  = help: bars or front
)");
}

TEST_CASE("flags of figures without a figure are refused") {
  const Folder folder;
  CHECK(folder.refusal({"export", "--to", "pytorch-csv", "--mono"}) ==
        R"(error[C004]: it is about a figure, and pytorch-csv is none
  --> --mono
  = help: add --to svg, pdf or png
)");
  for (const Words& flag : {Words{"--width", "85cm"}, Words{"--show", "idle"}, Words{"--run", "r.json"}}) {
    Words words{"export", "--to", "schedule-json"};
    words.insert(words.end(), flag.begin(), flag.end());
    CHECK(folder.refusal(words).starts_with("error[C004]"));
  }
  CHECK(folder.refusal({"simulate", "--mono"}) == R"(error[C004]: it is about a figure, and none is asked for
  --> --mono
  = help: add --figure FILE.svg
)");
  for (const char* verb : {"simulate", "compare"}) {
    CHECK(
        folder.refusal({verb, "--show", verb == std::string("compare") ? "bars" : "idle"}).starts_with("error[C004]"));
    CHECK(folder.refusal({verb, "--figure-width", "90mm"}).starts_with("error[C004]"));
  }
}

TEST_CASE("a figure's ending says what it is") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--figure", "a.jpg"}) ==
        R"(error[C006]: "a.jpg": the ending says what to write, and this is none that debubble draws
  --> --figure
  = help: name it FILE.svg, FILE.pdf or FILE.png
)");
  CHECK(folder.refusal({"compare", "--figure", "-"}).starts_with("error[C006]"));
  CHECK(folder.refusal({"export", "--to", "gif"}).starts_with("error[C003]"));
}

TEST_CASE("a run is drawn as it is: nothing of a scenario goes with it") {
  const Folder folder;
  (void)folder.data({"simulate", "-p", "2", "-m", "2", "--save-run", "run.json", "-o", "text"});
  CHECK(folder.refusal({"export", "--to", "svg", "--run", "run.json", "-p", "4"}) ==
        R"(error[C009]: --run and --devices: the run has its schedule and its times
  --> --run
  = help: leave one of them out
)");
  CHECK(folder.refusal({"export", "--to", "svg", "--run", "no.json"}).starts_with("error[C005]"));
  CHECK(folder.refusal({"export", "--to", "svg", "--run", "no.json"}).find("\n  --> --run\n") != std::string::npos);
  CHECK(folder.refusal({"export", "--to", "svg", "--run", "run.json", "-o", "run.json"}).starts_with("error[C066]"));
  CHECK(folder.data({"export", "--to", "svg", "--run", "run.json"}).starts_with("<svg "));
}

TEST_CASE("a figure does not take the place of another result, and a wrong path is known at once") {
  const Folder folder;
  for (const char* other : {"--trace", "--output", "--html"}) {
    CAPTURE(other);
    CHECK(folder.refusal({"simulate", "--figure", "a.svg", other, "./a.svg"}).starts_with("error[C066]"));
  }
  CHECK(folder.refusal({"compare", "--figure", "no/a.svg"}).starts_with("error[C051]"));
  CHECK(folder.refusal({"plan", "--figure", "no/a.svg", "--model", "gpt2-large", "--gpus", "8"})
            .starts_with("error[C051]"));
  CHECK(folder.refusal({"export", "--to", "svg", "-o", "."}).starts_with("error[C050]"));
}

TEST_CASE("a figure does not take the place of what it is made from") {
  const Folder folder;
  folder.write("p.svg", kProfile);
  CHECK(folder.refusal({"simulate", "-p", "2", "--profile", "p.svg", "--figure", "p.svg"}).starts_with("error[C066]"));
  CHECK(folder.refusal({"compare", "-p", "2", "--profile", "p.svg", "--figure", "p.svg"}).starts_with("error[C066]"));
  CHECK(folder.refusal({"export", "--to", "svg", "-p", "2", "--profile", "p.svg", "-o", "p.svg"})
            .starts_with("error[C066]"));
  CHECK(folder.read("p.svg") == kProfile);
}

TEST_CASE("what takes no time or no memory is drawn, too") {
  const Folder folder;
  const auto drawn = [&folder](const Words& words) { return folder.data(words).starts_with("<svg "); };
  CHECK(drawn({"export", "--to", "svg", "--times", "f=0,b=0", "--show", "causes,idle,memory"}));
  CHECK(drawn({"export", "--to", "svg", "-p", "1", "-m", "1", "--show", "causes,idle,memory"}));
  CHECK(drawn({"export", "--to", "svg", "--times", "f=1ns,b=4000000s", "--show", "causes,idle,memory"}));
  (void)folder.data({"compare", "--times", "f=0,b=0", "--figure", "bars.svg"});
  (void)folder.data({"compare", "--times", "f=0,b=0", "--figure", "front.svg", "--show", "front"});
  CHECK(folder.files() == "bars.svg front.svg");
}

TEST_CASE("a verb prints the same with a figure, and the figure is that of export") {
  const Folder folder;
  CHECK(folder.data({"simulate", "--figure", "a.svg"}) == folder.data({"simulate"}));
  const auto drawn = [](const std::string& svg) { return svg.substr(svg.find("</desc>")); };
  CHECK(drawn(folder.read("a.svg")) == drawn(folder.data({"export", "--to", "svg"})));
  (void)folder.data({"simulate", "--figure", "b.svg", "--show", "causes,memory", "--figure-width", "7in", "--mono"});
  CHECK(drawn(folder.read("b.svg")) ==
        drawn(folder.data({"export", "--to", "svg", "--show", "causes,memory", "--width", "7in", "--mono"})));
  CHECK(folder.data({"compare", "--figure", "c.svg"}) == folder.data({"compare"}));
  CHECK(folder.files() == "a.svg b.svg c.svg");
}

TEST_CASE("runs of unequal work have no figure of their step times") {
  const Folder folder;
  CHECK(folder.refusal({"compare", "--figure", "c.svg", "--equal", "memory"}) ==
        R"(error[C087]: a figure compares step times, and these runs do not do the same work in a step
  --> --figure
  = help: compare schedules on equal devices, or leave --figure out
)");
  CHECK(folder.refusal({"plan", "--schedule-only", "--figure", "p.svg"}).starts_with("error[C087]"));
}

TEST_CASE("a run without a result has no figure") {
  const Folder folder;
  const Outcome outcome =
      folder.run({"export", "--to", "svg", "--schedule", "zb-v", "--p2p", "coupled", "-o", "a.svg"});
  CHECK(outcome.status == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("deadlock") != std::string::npos);
  CHECK(folder.run({"simulate", "--schedule", "zb-v", "--p2p", "coupled", "--figure", "b.svg"}).status == 1);
  for (const char* show : {"bars", "front"}) {
    const Words words{"compare", "--schedules", "zb-v", "--p2p", "coupled", "--figure", "c.svg", "--show", show};
    CHECK(folder.run(words).status == 1);
  }
  CHECK(folder.files().empty());
}

}  // namespace
}  // namespace debubble::testing
