// How the command ends: exit statuses, what goes to stdout and what to stderr.
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

const Words kVerbs = "simulate compare live check profile import export list doctor";

TEST_CASE_IN_FOLDER("what works ends with 0 and says nothing on stderr") {
  for (const Words& arguments : {Words{"simulate"},
                                 {"compare"},
                                 {"list"},
                                 {"list", "topologies"},
                                 {"list", "cost-models"},
                                 {"doctor"},
                                 {"export", "--to", "pytorch-csv"},
                                 {"export", "--to", "chrome-trace"}}) {
    CAPTURE(arguments.front());
    CHECK_FALSE(folder.data(arguments).empty());
  }
  CHECK(folder.files().empty());
}

TEST_CASE_IN_FOLDER("the verb simulate needs no flag at all") {
  CHECK(contains(folder.data({"simulate"}), "step time      33.00 ms"));
}

TEST_CASE_IN_FOLDER("a deadlock is a finding: status 1, the cycle on stdout, in each format") {
  const Words coupled = "simulate --schedule zb-v --p2p coupled";
  const Outcome text = folder.run(coupled);
  CHECK(text.status == 1);
  CHECK(text.err.empty());
  CHECK(contains(text.out, "deadlock: devices wait for each other\n  d2 cannot start 5F2"));
  for (const char* format : {"json", "csv"}) {
    Words arguments = coupled;
    arguments.insert(arguments.end(), {"--format", format});
    const Outcome data = folder.run(arguments);
    CHECK(data.status == 1);
    CHECK(data.err.find("error[X010]: deadlock: device 2 waits at 5F2") == 0);
  }
}

TEST_CASE_IN_FOLDER(
    "a deadlock of a schedule that was asked for is a finding, of one among all that fit a row of the table") {
  CHECK(folder.run("compare --p2p coupled --schedule 1f1b,zb-v").status == 1);
  const Outcome all = folder.run("compare --p2p coupled --details");
  CHECK(all.status == 0);
  CHECK(contains(all.out, "deadlock"));
  CHECK(folder.run("compare --p2p coupled --schedule 1f1b,gpipe").status == 0);
}

TEST_CASE_IN_FOLDER("--fail-if ends with 1 when it holds, and only then") {
  const Outcome fired = folder.run({"simulate", "--fail-if", "bubble>25% && makespan>1ms"});
  CHECK(fired.status == 1);
  CHECK(fired.err ==
        "debubble: --fail-if: bubble > 25%: it is 27.3 %\n"
        "debubble: --fail-if: makespan > 1ms: it is 33.00 ms\n");
  CHECK(fired.out == folder.data({"simulate"}));
  CHECK(folder.data({"simulate", "--fail-if", "bubble>27.3% || peak_memory>4MiB"}) == fired.out);
  CHECK(folder.run("simulate --fail-if peak_memory>=4MiB").status == 1);
}

TEST_CASE_IN_FOLDER("--fail-if of compare names the schedules for which it holds") {
  const Outcome fired = folder.run("compare --schedules gpipe,1f1b,zb-h1 --fail-if bubble>25%");
  CHECK(fired.status == 1);
  CHECK(fired.err ==
        "debubble: --fail-if: gpipe: bubble > 25%: it is 27.3 %\n"
        "debubble: --fail-if: 1f1b: bubble > 25%: it is 27.3 %\n");
  CHECK(folder.run("compare --schedules gpipe,1f1b,zb-h1 --fail-if bubble>30%").status == 0);
}

TEST_CASE_IN_FOLDER("without a verb the overview goes to stderr with status 2, asked for to stdout with 0") {
  const Outcome bare = folder.run({});
  CHECK(bare.status == 2);
  CHECK(bare.out.empty());
  for (const char* word : {"--help", "-h", "help"}) CHECK(folder.data({word}) == bare.err);
  for (const std::string& verb : kVerbs) CHECK(contains(bare.err, "\n  " + verb + " "));
}

TEST_CASE_IN_FOLDER("every verb has help, with an example") {
  for (const std::string& verb : kVerbs) {
    CAPTURE(verb);
    const std::string help = folder.data({verb, "--help"});
    CHECK(contains(help, "Usage: debubble " + verb));
    CHECK(contains(help, "Example:\n  debubble " + verb));
    CHECK(folder.data({verb, "-h"}) == help);
    CHECK(folder.data({verb, "--no-such-flag", "--help"}) == help);
  }
}

TEST_CASE_IN_FOLDER("--version is one line") {
  const std::string version = folder.data({"--version"});
  CHECK(version.find("debubble ") == 0);
  CHECK(version.find('\n') == version.size() - 1);
}

TEST_CASE_IN_FOLDER("what cannot be shown is said, with status 2") {
  Surroundings full;
  full.standard_output = Surroundings::Stdout::kFull;
  for (const Words& arguments : {Words{"simulate"}, {"compare"}, {"list"}}) {
    const Outcome outcome = folder.run(arguments, full);
    CHECK(outcome.status == 2);
    CHECK(outcome.err ==
          "error[C051]: cannot write: No space left on device\n  --> standard output\n"
          "  = help: free some space or choose another place; no partial file remains\n");
  }
  for (const Words& arguments : {Words{"--help"}, {"list", "--help"}}) {
    const Outcome outcome = folder.run(arguments, full);
    CHECK(outcome.status == 2);
    CHECK(outcome.err == "error[C051]: cannot write to standard output\n");
  }
}

TEST_CASE_IN_FOLDER("with stdout closed nothing meant for it gets into another file") {
  Surroundings closed;
  closed.standard_output = Surroundings::Stdout::kClosed;
  const Outcome outcome = folder.run("simulate --export-schedule s.csv", closed);
  CHECK(outcome.status == 2);
  CHECK(outcome.err == "error[C051]: cannot write: Bad file descriptor\n  --> standard output\n");
  CHECK(folder.read("s.csv") == folder.data("export --to pytorch-csv"));
}

TEST_CASE_IN_FOLDER("a reader that goes away ends the command quietly") {
  Surroundings pipe;
  pipe.standard_output = Surroundings::Stdout::kPipeWithoutReader;
  for (const Words& arguments : {Words{"simulate"}, {"compare", "--format", "json"}, {"list"}, {"list", "--help"}}) {
    const Outcome outcome = folder.run(arguments, pipe);
    CHECK(outcome.status == 141);  // 128 + SIGPIPE, as a shell shows it
    CHECK(outcome.err.empty());
  }
  CHECK(folder.files().empty());
}

}  // namespace
}  // namespace debubble::testing
