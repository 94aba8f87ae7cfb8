#include "tools/views/summary.hpp"

#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"
#include "tools/views/advice.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/device_table.hpp"

using namespace debubble;
using debubble::test::small_report;
using debubble::test::widest_line;

namespace {

void move_idle(Report& report, IdleCause to) {
  for (DeviceReport& device : report.devices) {
    device.idle_by_cause = {};
    device.idle_by_cause[static_cast<std::size_t>(to)] = device.idle;
  }
}

Report many_devices(int devices) {
  Report report = small_report();
  report.schedule.devices = devices;
  report.devices.assign(static_cast<std::size_t>(devices), report.devices[0]);
  for (int d = 0; d < devices; ++d) report.devices[static_cast<std::size_t>(d)].device = d;
  return report;
}

AdviceContext repeating(const std::string& flags) {
  AdviceContext context;
  context.flags = flags;
  return context;
}

}  // namespace

TEST_CASE("a run that does not show its steady period has no line for it") {
  Report report = small_report();
  CHECK(contains(summary(report, {}, {}), "steady period"));
  report.steady_period.reset();
  CHECK_FALSE(contains(summary(report, {}, {}), "steady period"));
}

TEST_CASE("the headline says what was run and gives the answer") {
  CHECK(headline(small_report(), ViewStyle{}) ==
        "1f1b on 2 devices: 2 stages, 2 microbatches\n"
        "9.000 ms per step, 33.3 % bubble\n");
  Report report = small_report();
  report.schedule = {"interleaved", 1, 2, 1, 2, 2, {{"group", "4"}}};
  report.mfu = 0.413;
  report.memory_fit = MemoryFit{};
  report.memory_fit->spare = 3 * kMebibyte;
  CHECK(headline(report, ViewStyle{}) ==
        "interleaved on 1 device: 2 stages (2 per device), 2 replicas, 1 microbatch,\n"
        "group=4\n"
        "9.000 ms per step, 33.3 % bubble, 41.3 % MFU, fits with 3.00 MiB to spare\n");
  report.memory_fit->spare = -3 * kMebibyte;
  CHECK(headline(report, ViewStyle{}).find("does not fit: d0 lacks 3.00 MiB (9.000 ms per step") != std::string::npos);
  report.deadlock = Deadlock{};
  CHECK_FALSE(contains(headline(report, ViewStyle{}), "per step"));
}

TEST_CASE("assumptions are those that a user might change, or all with where they come from") {
  const std::vector<Assumption> all{
      {.key = "devices", .amount = "2", .source = Source::kGiven},
      {.key = "forward", .amount = "1 ms", .source = Source::kDefault},
      {.key = "latency", .amount = "0 ns", .source = Source::kDefault, .changes_result = false},
      {.key = "layer times", .amount = "gpt-x", .source = Source::kModelled},
      {.key = "model", .amount = "gpt-x", .source = Source::kPublished, .citation = "someone, 2024"}};
  CHECK(assumption_lines(all, ViewStyle{}) ==
        "assumed (--assumptions shows all 5)\n"
        "  default   forward 1 ms\n"
        "  modelled  layer times gpt-x\n");
  CHECK(assumption_lines(all, 2, ViewStyle{}) ==
        "assumed (--assumptions shows all 5)\n"
        "  ...\n");
  CHECK(assumption_lines({all[0]}, ViewStyle{}) == "assumed nothing (--assumptions shows all 1)\n");
  ViewStyle style;
  style.all_assumptions = true;
  CHECK(assumption_lines(all, style) ==
        "assumed\n"
        "  default    forward: 1 ms\n"
        "  default    latency: 0 ns\n"
        "  modelled   layer times: gpt-x\n"
        "  published  model: gpt-x (someone, 2024)\n"
        "  given      devices: 2\n");
}

TEST_CASE("out of memory: the error, and what would make it fit, before anything else to try") {
  Report report = small_report();
  report.memory_fit = MemoryFit{};
  report.memory_fit->spare = -3 * kMebibyte;
  report.findings = {OutOfMemory{true}};
  CHECK(contains(summary(report, ViewStyle{.width = 300}), "nothing that was tried makes it fit"));
  report.memory_fit->remedies = {"--recompute full: 1.00 GiB to spare", "--zero 1: 2.00 GiB to spare"};
  const std::string text = summary(report, ViewStyle{});
  CHECK(contains(text,
                 "fits   with --recompute full: 1.00 GiB to spare\n"
                 "       with --zero 1: 2.00 GiB to spare\n"));
  CHECK_FALSE(contains(text, "try "));
  CHECK(text.find("error[F040]") < text.find("fits   with"));
  CHECK_FALSE(contains(text, "what would make it fit"));
}

TEST_CASE("the summary of a small run") {
  CHECK(summary(small_report(), ViewStyle{}) ==
        "step time      9.000 ms; 6.000 ms would be ideal\n"
        "bubble         33.3 % of the step (bubble_ratio: idle / (devices x step))\n"
        "               50.0 % of the ideal (bubble_over_ideal: idle / ideal compute)\n"
        "peak memory    2.00 MiB on d0, reached by 0F1 at 1.000 ms: activations 2.00 MiB\n"
        "critical path  9.000 ms compute, 2 hops between devices\n"
        "\n"
        "limit  pipeline fill and drain: 100.0 % of the idle time\n"
        "try    debubble compare -p 2 -m 2\n"
        "\n"
        "steady period  6.000 ms per step when steps are chained without a barrier\n"
        "p2p            4 messages\n"
        "\n"
        "                                          peak  activ-\n"
        "device    busy    idle    fill   drain  memory  ations\n"
        "d0       6.000   3.000   2.000   1.000    2.00    2.00\n"
        "d1       6.000   3.000   1.000   2.000    1.00    1.00\n"
        "share   66.7 %  33.3 %  16.7 %  16.7 %\n"
        "times in ms, memory in MiB, activations in device shares\n");
}

TEST_CASE("what is known beyond the small run is shown too") {
  Report report = small_report();
  report.span = 8'000'000;
  report.span_bubble_ratio = 0.25;
  report.samples_per_second = 1234.6;
  report.tokens_per_second = 12.3456;
  report.weight_copies = 2;
  report.p2p_bytes = 5 * kMebibyte;
  report.critical_path = {6'000'000, 2'000'000, 600'000, 400'000, 1};
  report.devices[0].peak_by_category[static_cast<std::size_t>(MemoryCategory::kHeldForWeightGrad)] = 512;
  const std::string text = summary(report, ViewStyle{});
  const auto has = [&](const char* part) { return contains(text, part); };
  CHECK(
      has("span           8.000 ms, 25.0 % of it bubble: the longest from a device's first\n"
          "               start to its last end\n"));
  CHECK(has("throughput     1235 samples/s, 12.35 tokens/s\n"));
  CHECK(
      has("critical path  6.000 ms compute + 2.000 ms transfer + 600.0 us collective +\n"
          "               400.0 us launch gaps, 1 hop between devices\n"));
  CHECK(has("p2p            4 messages, 5.00 MiB; 2 copies of the weights\n"));
  CHECK(has("activations 2.00 MiB\n               + held for weight grad 512 B\n"));
}

TEST_CASE("a deadlock shows its cycle instead of numbers") {
  Report report;
  report.deadlock = Deadlock{{{0, 3, {OpKind::kBackward, false, 0, 1}, {OpKind::kBackward, false, 1, 1}},
                              {1, 0, {OpKind::kForward, false, 1, 0}, {OpKind::kForward, false, 0, 0}}}};
  CHECK(summary(report, ViewStyle{}) ==
        "deadlock: devices wait for each other\n"
        "  d0 cannot start 0B1 (position 3 of its row): it waits for 1B1\n"
        "  d1 cannot start 1F0 (position 0 of its row): it waits for 0F0\n");
}

TEST_CASE("findings come before the advice, but not what the deadlock already said") {
  Report report = small_report();
  report.findings = {ScheduleNote{"Megatron Core refuses this: m=8 leaves 2 microbatches in the last group of 3"}};
  CHECK(contains(summary(report, ViewStyle{}),
                 "note[S020]: Megatron Core refuses this: m=8 leaves 2 microbatches in the last\n"
                 "  group of 3\n"
                 "\n"
                 "limit  pipeline fill and drain: 100.0 % of the idle time\n"));
  report.deadlock = Deadlock{{{0, 3, {OpKind::kBackward, false, 0, 1}, {OpKind::kBackward, false, 1, 1}}}};
  report.findings = {DeadlockFound{}};
  const std::string cycle =
      "deadlock: devices wait for each other\n"
      "  d0 cannot start 0B1 (position 3 of its row): it waits for 1B1\n";
  CHECK(summary(report, ViewStyle{}) == cycle);
  report.findings = {DeadlockFound{.coupled_transfers = true}};
  CHECK(summary(report, ViewStyle{}).starts_with(cycle + "error[X010]: with coupled transfers every receive "));
  CHECK_FALSE(contains(summary(report, ViewStyle{}), "deadlock: device 0"));
}

TEST_CASE("of more than 16 devices the table shows both ends") {
  CHECK_FALSE(contains(device_table(many_devices(16), ViewStyle{}), "..."));
  const std::string text = device_table(many_devices(17), ViewStyle{});
  CHECK(contains(text, "\nd3 "));
  CHECK(contains(text, "\n...\nd13 "));
  CHECK_FALSE(contains(text, "\nd12 "));
}

TEST_CASE("columns that do not fit follow in a second table") {
  Report report = small_report();
  for (DeviceReport& device : report.devices) device.idle_by_cause.fill(1'000'000);
  CHECK(device_table(report, ViewStyle{}) ==
        "                                                    transfer   transfer\n"
        "device    busy    idle    fill   drain  dependency   latency  bandwidth\n"
        "d0       6.000   3.000   1.000   1.000       1.000     1.000      1.000\n"
        "d1       6.000   3.000   1.000   1.000       1.000     1.000      1.000\n"
        "share   66.7 %  33.3 %  11.1 %  11.1 %      11.1 %    11.1 %     11.1 %\n"
        "          transfer                         memory  launch    peak  activ-\n"
        "device  contention  collective  straggler   limit     gap  memory  ations\n"
        "d0           1.000       1.000      1.000   1.000   1.000    2.00    2.00\n"
        "d1           1.000       1.000      1.000   1.000   1.000    1.00    1.00\n"
        "share       11.1 %      11.1 %     11.1 %  11.1 %  11.1 %\n"
        "times in ms, memory in MiB, activations in device shares\n");
}

TEST_CASE("no line of a summary is wider than asked for") {
  Report report = many_devices(20);
  report.samples_per_second = 123456789;
  report.tokens_per_second = 123456789012;
  report.span = 8'000'000;
  for (DeviceReport& device : report.devices) device.idle_by_cause.fill(150'000);
  for (int width = kNarrowest; width < 140; ++width) {
    ViewStyle style;
    style.width = width;
    CAPTURE(width);
    CHECK(widest_line(summary(report, style, repeating("--times f=1,b=2"))) <= width);
    CHECK(widest_line(headline(report, style)) <= width);
  }
}

TEST_CASE("the advice follows the largest cause of idleness") {
  Report report = small_report();
  report.schedule.name = "zb-h1";
  AdviceContext context = repeating("--times f=1,b=2");
  CHECK(advise(report, context).next == "debubble compare -p 2 -m 2 --times f=1,b=2");
  context.more_microbatches = {4, 0.125};
  CHECK(advise(report, context).limit ==
        "pipeline fill and drain: 100.0 % of the idle time; with -m 4 the bubble is 12.5 % of the step");
  CHECK(advise(report, context).next == "debubble simulate --schedule zb-h1 -p 2 -m 4 --times f=1,b=2");
  context.flags.clear();
  report.schedule.chunks = 2;
  report.schedule.name = "interleaved";
  CHECK(advise(report, context).next == "debubble simulate --schedule interleaved -p 2 -m 4 -v 2");

  move_idle(report, IdleCause::kDependency);
  CHECK(advise(report, {}).limit ==
        "waiting for compute elsewhere between fill and drain: 100.0 % of the idle time; the order of ops leaves gaps");

  report.critical_path.transfer = 1'500'000;
  move_idle(report, IdleCause::kTransferLatency);
  CHECK(advise(report, {}).limit ==
        "transfers: 100.0 % of the idle time, most of it latency; 2 hops and 1.500 ms of the critical path are "
        "transfers");
  report.schedule.chunks = 4;
  CHECK(advise(report, {}).next == "debubble simulate --schedule interleaved -p 2 -m 2 -v 2");
  move_idle(report, IdleCause::kTransferBandwidth);
  CHECK(contains(advise(report, {}).limit, "most of it bandwidth"));

  move_idle(report, IdleCause::kLaunchGap);
  CHECK(advise(report, {}).limit == "launch gap: 100.0 % of the idle time");
  const Limit limit = find_limit(report, std::pair{4, 0.125});
  CHECK(limit.kind == Limit::Kind::kOtherCause);
  CHECK(limit.cause == IdleCause::kLaunchGap);
  CHECK(limit.share == 1.0);
  CHECK_FALSE(limit.more_microbatches);
}

TEST_CASE("more microbatches that do not help are not suggested") {
  const Report report = small_report();
  AdviceContext context;
  context.more_microbatches = {4, report.bubble_ratio};
  CHECK(advise(report, context).limit == "pipeline fill and drain: 100.0 % of the idle time");
}

TEST_CASE("compute limits from 95 % busy on") {
  Report report = small_report();
  report.bubble_ratio = 0.0499;
  CHECK(advise(report, {}).limit.find("compute: devices are busy 95.0 % of the step") == 0);
  report.bubble_ratio = 0.05;
  CHECK(advise(report, {}).limit.find("pipeline fill and drain") == 0);
}

TEST_CASE("a device that works most of the step limits it when another does not") {
  Report report = small_report();
  report.devices[1].busy = 8'100'000;
  CHECK(advise(report, {}).limit == "device d1: it is busy 90.0 % of the step, d0 only 66.7 %");
  AdviceContext context;
  context.own_partition = true;
  CHECK(advise(report, context).next == "the same command with --partition auto");
  context.own_partition = false;
  context.auto_partition = true;
  CHECK(advise(report, context).limit.ends_with("; no cut of the layers is more even"));
  report.devices[1].busy = 8'099'999;
  CHECK(advise(report, {}).limit.find("pipeline fill and drain") == 0);
}

TEST_CASE("a suggested command names the schedule as it was asked for") {
  Report report = small_report();
  report.schedule.name = "interleaved + recompute";
  AdviceContext context = repeating("--transform recompute");
  context.schedule = "interleaved";
  context.more_microbatches = {4, 0.1};
  CHECK(advise(report, context).next ==
        "debubble simulate --schedule interleaved -p 2 -m 4 -v 1 --transform recompute");
  report.stream.emplace();
  report.stream->period = StreamPeriod{6'000'000, 2};
  CHECK(advise(report, context).limit == "a stream fills and drains once; then one microbatch every 3.000 ms");
  CHECK(advise(report, context).next == "debubble compare -p 2 -m 2 --transform recompute");
}

TEST_CASE("where microbatches are cut, the peak names microbatch and slice, and copies are counted") {
  Report report = small_report();
  report.schedule.pieces = 2;
  report.schedule.sliced = true;
  report.copies = 10;
  const std::string text = summary(report, ViewStyle{});
  CHECK(contains(text, "reached by 0F1 (microbatch 0, slice 1) at"));
  CHECK(contains(text, "4 messages; 10 copies\n"));
}
