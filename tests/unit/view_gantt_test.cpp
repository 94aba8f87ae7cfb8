#include "tools/views/gantt.hpp"

#include "cost_models/uniform.hpp"
#include "scenario/request/uniform_times.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/quantities.hpp"
#include "sim/engine/simulate.hpp"
#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"

using namespace debubble;
using debubble::test::small_timeline;
using debubble::test::span;
using debubble::test::widest_line;

namespace {

ViewStyle wide(int width) {
  ViewStyle style;
  style.width = width;
  return style;
}

Timeline simulated(const char* name, int devices, int microbatches, const char* times, Nanoseconds latency, P2p p2p) {
  ScheduleRequest request;
  request.devices = devices;
  request.microbatches = microbatches;
  const Schedule schedule = build_schedule(name, request);
  const StageCosts costs = uniform_costs(parse_times(times, "--times"), schedule.stages, schedule.chunks);
  return simulate(std::get<Program>(lower(schedule, p2p)), schedule, costs, Topology::ideal(latency, 0));
}

// The first row of the chart.
std::string first_row(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

TEST_CASE("a short run is drawn exactly, two columns per unit") {
  CHECK(gantt(small_timeline(), wide(80)) ==
        "d0 F0F1....B0--..B1--\n"
        "d1 ..F0B0--F1B1--....\n"
        "   |0 ms     |5    9|\n"
        "   F forward   B backward   . idle   digits: microbatch   2 columns = 1 ms\n");
}

TEST_CASE("where there is no room for numbers letters remain") {
  Timeline timeline = small_timeline();
  for (Span& one : timeline.spans) one.op.microbatch += 10;
  CHECK(gantt(timeline, wide(80)).find("d0 F10F11......B10---...B11---\n") == 0);
  timeline.spans.front().end = 500'000;  // the unit is half a millisecond from here on
  CHECK(first_row(gantt(timeline, wide(40))) == "d0 F0..F1--........B0------....B1------");
  timeline.makespan = 30 * kNanosecondsPerMillisecond;
  timeline.spans.back().end = timeline.makespan;
  CHECK(first_row(gantt(timeline, wide(64))) == "d0 F.F1....B0--..B1--" + std::string(42, '.'));
}

TEST_CASE("numbers are cut to their last digit for all ops, not for some") {
  Timeline timeline = small_timeline();
  for (Span& one : timeline.spans) one.op.microbatch += 10;
  timeline.makespan = 18 * kNanosecondsPerMillisecond;
  timeline.spans.back().end = timeline.makespan;
  const std::string text = gantt(timeline, wide(40));
  CHECK(text.find("d0 F0F1....B0--..B1--..................\n") == 0);
  CHECK(contains(text, "digit: last digit of the microbatch"));
}

TEST_CASE("every second stage of a device is in lower case") {
  Timeline timeline = small_timeline();
  for (Span& one : timeline.spans) {
    if (one.device == 0 && one.op.microbatch == 1) one.op.stage = 2;
  }
  const std::string text = gantt(timeline, wide(80));
  CHECK(text.find("d0 F0f1....B0--..b1--\n") == 0);
  CHECK(contains(text, "lower case: a device's second stage"));
}

TEST_CASE("an overlapped pair is one cell with both its ops, or an X") {
  Timeline timeline = small_timeline();
  timeline.spans[2].op = {OpKind::kForward, true, 0, 3};
  timeline.set_partner(2, {OpKind::kBackward, false, 0, 1});
  CHECK(gantt(timeline, wide(80)).find("d0 F0F1....F3B1..B1--\n") == 0);
  timeline.spans[0].end = 500'000;
  timeline.makespan = 30 * kNanosecondsPerMillisecond;
  timeline.spans.back().end = timeline.makespan;
  const std::string narrow = gantt(timeline, wide(64));
  CHECK(first_row(narrow).substr(0, 21) == "d0 F.F1....F3B1..B1--");
  timeline.spans[2].end = 5 * kNanosecondsPerMillisecond;
  CHECK(first_row(gantt(timeline, wide(64))).substr(0, 17) == "d0 F.F1....X-....");
  CHECK(contains(gantt(timeline, wide(64)), "X overlapped pair"));
}

TEST_CASE("a late recomputation and its backward are drawn one after the other") {
  Timeline timeline = small_timeline();
  Span& pair = timeline.spans[2];
  pair.begin -= kNanosecondsPerMillisecond;
  pair.op = {OpKind::kRecompute, true, 0, 0};
  timeline.set_partner(2, {OpKind::kBackward, false, 0, 0});
  StageCosts costs;
  costs.stages.resize(2);
  costs.stages[0].recompute = 1;
  costs.stages[0].backward = 2;
  const std::string text = gantt(timeline, wide(80), {nullptr, &costs});
  CHECK(first_row(text) == "d0 F0F1..R0B0--..B1--");
  CHECK(contains(text, "B backward   R recompute"));
}

TEST_CASE("lower case is the second replica where there is one, and numbers of pieces are named so") {
  const Timeline timeline = small_timeline();
  Schedule schedule;
  schedule.placement = Placement(2, 2, {0, 1, 1, 0});
  schedule.replica_of = {0, 1};
  std::string text = gantt(timeline, wide(80), {&schedule, nullptr});
  CHECK(text.find("d0 F0f1....B0--..b1--\nd1 ..F0B0--f1b1--....\n") == 0);
  CHECK(contains(text, "lower case: the second replica's stage"));
  schedule.placement = Placement(1, 2, {0, 1});
  schedule.pieces = 2;
  schedule.sliced = true;
  text = gantt(timeline, wide(kNarrowest), {&schedule, nullptr});
  CHECK(contains(text, "digits: slice, numbered over all\n   microbatches"));
  CHECK(widest_line(text) <= kNarrowest);
}

TEST_CASE("only devices that copy have a copy lane") {
  Timeline timeline = small_timeline();
  CopySpan copy;
  copy.op = {OpKind::kForward, false, 0, 0};
  copy.begin = kNanosecondsPerMillisecond;
  copy.end = 2 * kNanosecondsPerMillisecond;
  timeline.copies = {copy};
  std::string text = gantt(timeline, wide(80));
  CHECK(text.find("d0 F0F1....B0--..B1--\ncp ..>>..............\nd1 ..F0B0") == 0);
  CHECK(contains(text, "> copy to the host"));
  timeline.copies[0].peer = 1;
  CHECK(contains(gantt(timeline, wide(80)), "> copy to its partner"));
}

TEST_CASE("transfers that hold lanes are drawn, others are not") {
  Timeline timeline = small_timeline();
  Transfer transfer;
  transfer.from_device = 0;
  transfer.to_device = 1;
  transfer.begin = 7 * kNanosecondsPerMillisecond;
  transfer.end = 8 * kNanosecondsPerMillisecond;
  timeline.transfers = {transfer};
  CHECK(gantt(timeline, wide(80)).find('~') == std::string::npos);
  timeline.transfers_hold_lanes = true;
  const std::string text = gantt(timeline, wide(80));
  CHECK(contains(text, "d1 ..F0B0--F1B1--~~..\n"));
  CHECK(contains(text, "~ transfer"));
}

TEST_CASE("a long run is cut into slices that keep letters in proportion to time") {
  Timeline timeline;
  timeline.devices = 1;
  timeline.makespan = 3'000'000'000;
  for (int i = 0; i < 1000; ++i) {
    timeline.spans.push_back(span(0, 3 * i, 3 * i + 1, {OpKind::kForward, false, 0, i}));
    timeline.spans.push_back(span(0, 3 * i + 1, 3 * i + 3, {OpKind::kBackward, false, 0, i}));
  }
  timeline.device_begin = {0, 2000};
  const std::string row = first_row(gantt(timeline, wide(63))).substr(3);
  CHECK(row.size() == 60);
  CHECK(std::count(row.begin(), row.end(), 'F') == 20);
  CHECK(std::count(row.begin(), row.end(), 'B') == 40);
  CHECK(contains(gantt(timeline, wide(63)), "1 column = 50.00 ms\n"));
}

TEST_CASE("what a slice cannot show is carried into the next one") {
  Timeline timeline;
  timeline.devices = 1;
  timeline.makespan = 37'000'000'001;  // no common unit fits
  timeline.spans = {span(0, 0, 1501, {OpKind::kForward, false, 0, 0}),
                    span(0, 3499, 5000, {OpKind::kBackward, false, 0, 0})};
  timeline.device_begin = {0, 2};
  CHECK(first_row(gantt(timeline, wide(40))) == "d0 FF..B" + std::string(32, '.'));
  timeline.spans[0].end = 1'499'000'000;
  timeline.spans[1].begin = 3'501'000'000;
  CHECK(first_row(gantt(timeline, wide(40))) == "d0 F..BB" + std::string(32, '.'));
}

TEST_CASE("of many devices the first and the last are shown") {
  const Timeline timeline = simulated("1f1b", 40, 4, "f=1,b=2", 0, P2p::kOverlapped);
  ViewStyle style = wide(160);
  style.max_rows = 5;
  const std::string text = gantt(timeline, style);
  CHECK(contains(text, "\nd2  "));
  CHECK(contains(text, "\n... 35 more devices, d3 to d37\nd38 "));
  style.max_rows = 0;
  CHECK(contains(gantt(timeline, style), "\nd20 "));
  style.max_rows = 40;
  CHECK_FALSE(contains(gantt(timeline, style), "more devices"));
}

TEST_CASE("no line is ever wider than asked for") {
  for (const char* name : {"gpipe", "1f1b", "interleaved", "zb-h1", "chimera"}) {
    for (const int microbatches : {1, 4, 12, 100}) {
      for (const P2p p2p : {P2p::kOverlapped, P2p::kBlocking}) {
        const Timeline timeline = simulated(name, 4, microbatches, "f=1,i=1.3,w=0.7", 123'457, p2p);
        for (int width = kNarrowest; width < 130; width += 7) {
          CAPTURE(name);
          CAPTURE(microbatches);
          CAPTURE(width);
          CHECK(widest_line(gantt(timeline, wide(width))) <= width);
        }
      }
    }
  }
}

TEST_CASE("colour adds escapes and takes the dashes away, nothing else") {
  ViewStyle style = wide(80);
  style.color = true;
  CHECK(first_row(gantt(small_timeline(), style)) ==
        "d0 \033[48;5;25;38;5;231mF0F1\033[0m\033[38;5;244m....\033[0m\033[48;5;214;38;5;16mB0  \033[0m"
        "\033[38;5;244m..\033[0m\033[48;5;214;38;5;16mB1  \033[0m");
}

TEST_CASE("a run in which nothing takes time says so") {
  Timeline timeline = small_timeline();
  timeline.makespan = 0;
  for (Span& one : timeline.spans) one.begin = one.end = 0;
  CHECK(gantt(timeline, wide(80)) == "nothing to draw: no op takes any time\n");
  CHECK(gantt(Timeline{}, wide(80)) == "nothing to draw: no op takes any time\n");
}

TEST_CASE("ops that take no time leave no trace and do no harm") {
  Timeline timeline = small_timeline();
  timeline.spans[1].end = timeline.spans[1].begin;
  CHECK(gantt(timeline, wide(80)).find("d0 F0......B0--..B1--\n") == 0);
}
