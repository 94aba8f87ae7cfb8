// Names that do not exist: refused with the exact words, and with the name that was meant if one is near.
#include <doctest/doctest.h>

#include "tests/cli/inputs.hpp"
#include "tests/support/command.hpp"

namespace debubble::testing {
namespace {

TEST_CASE("an unknown verb is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulat"}) == R"(error[C060]: there is no verb "simulat"
  = help: did you mean simulate?
)");
  CHECK(folder.refusal({"frobnicate"}) == R"(error[C060]: there is no verb "frobnicate"
  = help: run `debubble --help` for the list
)");
  CHECK(folder.refusal({"--hlp"}) == R"(error[C060]: there is no verb "--hlp"
  = help: run `debubble --help` for the list
)");
  CHECK(folder.refusal({""}) == R"(error[C060]: there is no verb ""
  = help: run `debubble --help` for the list
)");
}

TEST_CASE("an unknown flag is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedul", "1f1b"}) == R"(error[C061]: unexpected "--schedul"
  --> debubble simulate
  = help: did you mean --schedule?
)");
  CHECK(folder.refusal({"simulate", "--device=4"}) == R"(error[C061]: unexpected "--device=4"
  --> debubble simulate
  = help: did you mean --devices?
)");
  CHECK(folder.refusal({"simulate", "--frob", "3"}) == R"(error[C061]: unexpected "--frob"
  --> debubble simulate
  = help: run `debubble simulate --help` for its flags
)");
  CHECK(folder.refusal({"simulate", "-x"}) == R"(error[C061]: unexpected "-x"
  --> debubble simulate
  = help: run `debubble simulate --help` for its flags
)");
  CHECK(folder.refusal({"compare", "--trace", "t.json"}) == R"(error[C061]: unexpected "--trace"
  --> debubble compare
  = help: run `debubble compare --help` for its flags
)");
  CHECK(folder.refusal({"list", "--colour", "never"}) == R"(error[C061]: unexpected "--colour"
  --> debubble list
  = help: did you mean --color?
)");
  CHECK(folder.refusal({"doctor", "-p", "4"}) == R"(error[C061]: unexpected "-p"
  --> debubble doctor
  = help: run `debubble doctor --help` for its flags
)");
  CHECK(folder.refusal({"export", "--too", "x", "--to", "pytorch-csv"}) == R"(error[C061]: unexpected "--too"
  --> debubble export
  = help: did you mean --to?
)");
}

TEST_CASE("a word too many is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "extra"}) == R"(error[C061]: unexpected "extra"
  --> debubble simulate
  = help: run `debubble simulate --help` for its flags
)");
  CHECK(folder.refusal({"compare", "1f1b"}) == R"(error[C061]: "1f1b" is a schedule, not a scenario file
  --> debubble compare
  = help: write --schedules 1f1b
)");
  CHECK(folder.refusal({"list", "schedules", "1f1b", "gpipe"}) == R"(error[C061]: unexpected "gpipe"
  --> debubble list
  = help: run `debubble list --help` for its flags
)");
  CHECK(folder.refusal({"doctor", "me"}) == R"(error[C061]: unexpected "me"
  --> debubble doctor
  = help: run `debubble doctor --help` for its flags
)");
}

TEST_CASE("an unknown schedule is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "1f1bb"}) == R"(error[S001]: no schedule is called "1f1bb"
  --> --schedule
  = help: did you mean 1f1b?
)");
  CHECK(folder.refusal({"simulate", "--schedule", "interleave"}) == R"(error[S001]: no schedule is called "interleave"
  --> --schedule
  = help: did you mean interleaved?
)");
  CHECK(folder.refusal({"simulate", "--schedule", "vpp"}) == R"(error[S001]: no schedule is called "vpp"
  --> --schedule
  = help: write --schedule interleaved
)");
  CHECK(folder.refusal({"simulate", "--schedule", "xyz"}) == R"(error[S001]: no schedule is called "xyz"
  --> --schedule
  = help: see `debubble list schedules`; a file ends in .csv or .json
)");
  CHECK(folder.refusal({"simulate", "--schedule", "recompute"}) ==
        R"(error[S001]: no schedule is called "recompute"
  --> --schedule
  = help: recompute is a transform: --transform recompute
)");
  CHECK(folder.refusal({"simulate", "--schedule", "optimal:budget=2s"}) ==
        R"(error[S001]: no schedule is called "optimal:budget=2s"
  --> --schedule
  = help: its parameters are given apart: --schedule optimal --param budget=2s
)");
  CHECK(folder.refusal({"compare", "--schedule", "gpipe,zb-hh1"}) == R"(error[S001]: no schedule is called "zb-hh1"
  --> --schedule
  = help: did you mean zb-h1?
)");
  CHECK(folder.refusal({"export", "--to", "pytorch-csv", "--schedule", "chimra"}) ==
        R"(error[S001]: no schedule is called "chimra"
  --> --schedule
  = help: did you mean chimera?
)");
}

TEST_CASE("an unknown parameter is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "--param", "grop=4"}) ==
        R"(error[S002]: interleaved has no parameter "grop"
  --> --param grop
  = help: did you mean group?
)");
  CHECK(folder.refusal({"simulate", "--param", "foo=1"}) == R"(error[S002]: 1f1b has no parameter "foo"
  --> --param foo
  = help: 1f1b takes no parameters
)");
  CHECK(folder.refusal({"simulate", "--schedule", "chimera", "--param", "foo=1"}) ==
        R"(error[S002]: chimera has no parameter "foo"
  --> --param foo
  = help: chimera takes: pairs mode fused
)");
  CHECK(folder.refusal({"simulate", "--schedule", "seq1f1b", "--param", "slices=4,tokens=16"}) ==
        R"(error[S006]: "4,tokens=16" is not a whole number
  --> --param slices
  = help: one --param for each: --param slices=4 --param tokens=16
)");
  CHECK(folder.refusal({"simulate", "--schedule", "dapple", "--param", "policy=c"}) ==
        R"(error[S007]: "c" is not one of a|b
  --> --param policy
  = help: write a or b
)");
  CHECK(folder.refusal({"compare", "--param", "foo=2"}) ==
        R"(error[S002]: none of the compared schedules has a parameter "foo"
  --> --param foo
  = help: see `debubble list schedules`
)");
  CHECK(folder.refusal({"compare", "--schedule", "1f1b,gpipe", "--param", "group=4"}) ==
        R"(error[S002]: none of the compared schedules has a parameter "group"
  --> --param group
  = help: see `debubble list schedules`
)");
}

TEST_CASE("a parameter that is no KEY=VALUE, or comes twice, is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--param", "group"}) == R"(error[C006]: "group" is not KEY=VALUE
  --> --param
  = help: write it like --param group=8
)");
  CHECK(folder.refusal({"simulate", "--param", "=4"}) == R"(error[C006]: "=4" is not KEY=VALUE
  --> --param
  = help: write it like --param group=8
)");
  CHECK(folder.refusal({"simulate", "--param", "group="}) == R"(error[C006]: "group=" is not KEY=VALUE
  --> --param
  = help: write it like --param group=8
)");
  CHECK(folder.refusal({"simulate", "--schedule", "interleaved", "--param", "group=4", "--param", "group=4"}) ==
        R"(error[C007]: "group" is given twice
  --> --param
  = help: give each parameter once
)");
}

TEST_CASE("an unknown topology is refused") {
  const Folder folder;
  CHECK(
      folder.refusal({"simulate", "--topology", "idea"}) ==
      R"(error[C003]: "idea" is not one of: ideal, dgx-a100, dgx-h100, dgx-h200, dgx-b200, gb200-nvl72, v100-mesh, pcie, ring, fully-connected, switch, fat-tree, dragonfly, hxmesh
  --> --topology
  = help: did you mean ideal?
)");
  CHECK(
      folder.refusal({"simulate", "--topology", "nvl72"}) ==
      R"(error[C003]: "nvl72" is not one of: ideal, dgx-a100, dgx-h100, dgx-h200, dgx-b200, gb200-nvl72, v100-mesh, pcie, ring, fully-connected, switch, fat-tree, dragonfly, hxmesh
  --> --topology
  = help: did you mean gb200-nvl72?
)");
}

TEST_CASE("an unknown kind of transfer is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--p2p", "blokking"}) ==
        R"(error[C002]: "blokking" is not one of: overlapped, blocking, coupled
  --> --p2p
  = help: did you mean blocking?
)");
  CHECK(folder.refusal({"simulate", "--p2p", "async"}) ==
        R"(error[C002]: "async" is not one of: overlapped, blocking, coupled
  --> --p2p
  = help: write --p2p overlapped
)");
}

TEST_CASE("an unknown format is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--format", "jsn"}) == R"(error[C002]: "jsn" is not one of: text, json, csv
  --> --format
  = help: did you mean json?
)");
  CHECK(folder.refusal({"simulate", "--format", "xml"}) == R"(error[C002]: "xml" is not one of: text, json, csv
  --> --format
  = help: write --format text
)");
  CHECK(folder.refusal({"compare", "--format", "tex"}) == R"(error[C002]: "tex" is not one of: text, json, csv
  --> --format
  = help: did you mean text?
)");
  CHECK(folder.refusal({"list", "--format", "csv"}) == R"(error[C002]: "csv" is not one of: text, json, markdown
  --> --format
  = help: write --format text
)");
  CHECK(folder.refusal({"doctor", "--format", "csv"}) == R"(error[C002]: "csv" is not one of: text, json
  --> --format
  = help: write --format text
)");
}

TEST_CASE("an unknown colour choice is refused") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--color", "alwys"}) == R"(error[C002]: "alwys" is not one of: auto, always, never
  --> --color
  = help: did you mean always?
)");
  CHECK(folder.refusal({"simulate", "--color", "sometimes"}) ==
        R"(error[C002]: "sometimes" is not one of: auto, always, never
  --> --color
  = help: write --color auto
)");
}

TEST_CASE("an unknown list is refused") {
  const Folder folder;
  CHECK(folder.refusal({"list", "schedule"}) == R"(error[C003]: there is no list of "schedule"
  --> list
  = help: did you mean schedules?
)");
  CHECK(folder.refusal({"list", "colours"}) == R"(error[C003]: there is no list of "colours"
  --> list
  = help: known lists: schedules, transforms, planners, topologies, cost-models, models, hardware, words, error-codes, commands, completions, man-pages
)");
}

TEST_CASE("an unknown format to export to, or tool to import from, is refused") {
  const Folder folder;
  CHECK(folder.refusal({"export", "--to", "json"}) == R"(error[C003]: "json" is not a format debubble can export to
  --> --to
  = help: did you mean schedule-json? known formats: pytorch-csv, pytorch-comms, zero-bubble-json, schedule-json, megatron-layout, chrome-trace, perfetto-trace, kineto, topology-json, svg, pdf, png, torchtitan, megatron, deepspeed, hardware
)");
  CHECK(folder.refusal({"export", "--to", "torchcsv"}) ==
        R"(error[C003]: "torchcsv" is not a format debubble can export to
  --> --to
  = help: known formats: pytorch-csv, pytorch-comms, zero-bubble-json, schedule-json, megatron-layout, chrome-trace, perfetto-trace, kineto, topology-json, svg, pdf, png, torchtitan, megatron, deepspeed, hardware
)");
  CHECK(folder.refusal({"import", "--from", "tensorflow", "g.txt"}) ==
        R"(error[C003]: "tensorflow" is not a tool debubble can import from
  --> --from
  = help: known tools: kineto, nsys, records, profiles, megatron, torchtitan, deepspeed, accelerate, nemo, nanotron, neox, run, gemm-table
)");
}

TEST_CASE("--fail-if names only numbers of the report") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--fail-if", "bubbel>3"}) ==
        R"(error[C032]: 'bubbel' is not a number of the report; did you mean 'bubble'?
  --> --fail-if:1
   |
   | bubbel>3
   | ^^^^^^
  = help: known names: step span steady_period ideal bubble bubble_over_ideal span_bubble_ratio throughput_samples throughput_tokens mfu weight_copies p2p p2p_messages busy idle inside_collectives mem peak_activation peak_activation_shares, and the keys of idle_by_cause, peak_by_category and critical_path: idle_by_cause.fill
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "foo>3"}) == R"(error[C032]: 'foo' is not a number of the report
  --> --fail-if:1
   |
   | foo>3
   | ^^^
  = help: known names: step span steady_period ideal bubble bubble_over_ideal span_bubble_ratio throughput_samples throughput_tokens mfu weight_copies p2p p2p_messages busy idle inside_collectives mem peak_activation peak_activation_shares, and the keys of idle_by_cause, peak_by_category and critical_path: idle_by_cause.fill
)");
}

TEST_CASE("--fail-if is checked to its end") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--fail-if", "bubble>"}) == R"(error[C031]: expected a value after 'bubble >'
  --> --fail-if:8
   |
   | bubble>
   |        ^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "bubble 3"}) ==
        R"(error[C031]: expected < <= > >= == or != after 'bubble'
  --> --fail-if:8
   |
   | bubble 3
   |        ^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "(bubble>0.3"}) == R"(error[C031]: this parenthesis is not closed
  --> --fail-if:1
   |
   | (bubble>0.3
   | ^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "bubble>0.3 )"}) ==
        R"(error[C031]: expected && or || or the end, found ')'
  --> --fail-if:12
   |
   | bubble>0.3 )
   |            ^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "bubble>0.3 &&"}) ==
        R"(error[C031]: the expression ends where a comparison is expected
  --> --fail-if:14
   |
   | bubble>0.3 &&
   |              ^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
  CHECK(folder.refusal({"simulate", "--fail-if", ">3"}) == R"(error[C031]: expected a name, found '>3'
  --> --fail-if:1
   |
   | >3
   | ^^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
  CHECK(folder.refusal({"compare", "--fail-if", "bubble>0.3 ! mem>1GiB"}) ==
        R"(error[C031]: expected && or || or the end, found '!'
  --> --fail-if:12
   |
   | bubble>0.3 ! mem>1GiB
   |            ^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
}

TEST_CASE("--fail-if compares only with what its number can be") {
  const Folder folder;
  CHECK(folder.refusal({"simulate", "--fail-if", "bubble>0.3GiB"}) ==
        R"(error[C033]: bubble is a plain number or a percentage; '0.3GiB' is not
  --> --fail-if:8
   |
   | bubble>0.3GiB
   |        ^^^^^^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "mem>3ms"}) ==
        R"(error[C033]: '3ms' cannot be compared with mem: 'ms' is not a unit of a size
  --> --fail-if:5
   |
   | mem>3ms
   |     ^^^
  = help: write it like 76GiB, 352.1MB or 80GB
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "mem>-3GiB"}) ==
        R"(error[C033]: '-3GiB' cannot be compared with mem: a size cannot be negative: '-3GiB'
  --> --fail-if:5
   |
   | mem>-3GiB
   |     ^^^^^
  = help: write it like 76GiB, 352.1MB or 80GB
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "p2p_messages>1.5"}) ==
        R"(error[C033]: p2p_messages is a count; '1.5' is not
  --> --fail-if:14
   |
   | p2p_messages>1.5
   |              ^^^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
  CHECK(folder.refusal({"simulate", "--fail-if", "bubble>nan"}) ==
        R"(error[C033]: bubble is a plain number or a percentage; 'nan' is not
  --> --fail-if:8
   |
   | bubble>nan
   |        ^^^
  = help: write it like 'bubble>25% || mem>76GiB && step<=1.2s'
)");
}

}  // namespace
}  // namespace debubble::testing
