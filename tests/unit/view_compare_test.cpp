#include "tools/views/compare_table.hpp"

#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"

using namespace debubble;
using debubble::test::small_report;
using debubble::test::widest_line;

namespace {

ComparedRun run(const char* name, Nanoseconds makespan, double bubble, Bytes memory, const char* note = "") {
  ComparedRun result;
  result.report = small_report();
  result.note = note;
  result.report.schedule.name = name;
  result.report.makespan = makespan;
  result.report.bubble_ratio = bubble;
  result.report.bubble_over_ideal = bubble / (1 - bubble);
  result.report.devices[0].peak_memory = memory;
  return result;
}

std::vector<ComparedRun> three_runs() {
  return {run("gpipe", 9'000'000, 1.0 / 3, 4 * kMebibyte), run("1f1b", 9'000'000, 1.0 / 3, 2 * kMebibyte),
          run("zb-h1", 7'000'000, 1.0 / 7, 2 * kMebibyte, "splits the backward")};
}

std::string compared(const std::vector<ComparedRun>& runs, const ViewStyle& style) {
  ComparedSchedules schedules;
  schedules.title = "compare";
  schedules.runs = runs;
  return compare_table(schedules, style);
}

std::string best_line(const std::vector<ComparedRun>& runs) {
  ViewStyle style;
  style.width = 200;
  const std::string text = compared(runs, style);
  const std::size_t begin = text.find("best");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("runs side by side, with the reason for the best") {
  CHECK(compared(three_runs(), ViewStyle{}) ==
        "compare\n"
        "best   zb-h1: step 22.2 % shorter than with 1f1b (bubble 14.3 % of the step\n"
        "       instead of 33.3 %), at the same peak memory; splits the backward\n"
        "\n"
        "             step           bubble/  bubble/  peak      weight   p2p\n"
        "  schedule     ms    speed     step    ideal   MiB  on  copies  msgs\n"
        "  gpipe     9.000   77.8 %   33.3 %   50.0 %  4.00  d0       1     4\n"
        "  1f1b      9.000   77.8 %   33.3 %   50.0 %  2.00  d0       1     4\n"
        "* zb-h1     7.000  100.0 %   14.3 %   16.7 %  2.00  d0       1     4\n");
}

TEST_CASE("runs without result are listed with the reason") {
  std::vector<ComparedRun> runs = three_runs();
  runs[0].report.devices.clear();
  runs[0].report.findings = {Refused{{"S001", "", "p must be even", ""}}};
  runs[1].report.deadlock = Deadlock{};
  runs[2].note = "";
  runs[2].report.p2p_bytes = 3 * kMebibyte / 2;
  CHECK(compared(runs, ViewStyle{}) ==
        "compare\n"
        "\n"
        "             step           bubble/  bubble/  peak      weight   p2p\n"
        "  schedule     ms    speed     step    ideal   MiB  on  copies   MiB\n"
        "* zb-h1     7.000  100.0 %   14.3 %   16.7 %  2.00  d0       1  1.50\n"
        "\n"
        "not run\n"
        "  gpipe  p must be even\n"
        "  1f1b   deadlock\n");
}

TEST_CASE("of equally fast runs the one with less memory is best") {
  std::vector<ComparedRun> runs = three_runs();
  runs.pop_back();
  CHECK(best_line(runs) == "best   1f1b and gpipe are equally fast; 1f1b does it with 50.0 % less peak memory");
  runs[0].report.devices[0].peak_memory = 2 * kMebibyte;
  CHECK(best_line(runs) == "best   gpipe and 1f1b are equally fast; gpipe comes first in the list");
  runs[0].report.weight_copies = 2;
  CHECK(best_line(runs).find("best   1f1b and gpipe") == 0);
}

TEST_CASE("the reason says what the best costs in memory") {
  std::vector<ComparedRun> runs = three_runs();
  runs[2].note = "";
  runs[2].report.devices[0].peak_memory = 3 * kMebibyte;
  CHECK(contains(best_line(runs), " with 50.0 % more peak memory"));
  runs[2].report.devices[0].peak_memory = 4 * kMebibyte;
  CHECK(contains(best_line(runs), " at 2.0 times the peak memory"));
  runs[1].report.devices[0].peak_memory = 10000 * kMebibyte;
  runs[2].report.devices[0].peak_memory = 10001 * kMebibyte;
  CHECK(contains(best_line(runs), " at about the same peak memory"));
}

TEST_CASE("a run with an error is never the best") {
  std::vector<ComparedRun> runs = three_runs();
  runs[2].report.findings = {Refused{{"X020", "", "does not fit", ""}}};
  CHECK(best_line(runs).find("best   1f1b and gpipe are equally fast") == 0);
  for (ComparedRun& one : runs) one.report.findings = {Refused{{"X020", "", "does not fit", ""}}};
  CHECK(best_line(runs) == "best   none: every run has an error, see the notes");
}

TEST_CASE("MFU and spare memory stand in the table where they are known") {
  std::vector<ComparedRun> runs = three_runs();
  CHECK_FALSE(contains(compared(runs, {}), "MFU"));
  CHECK_FALSE(contains(compared(runs, {}), "spare"));
  runs[0].report.mfu = 0.413;
  runs[1].report.memory_fit = MemoryFit{};
  runs[1].report.memory_fit->spare = -3 * kMebibyte;
  const std::string table = compared(runs, {});
  CHECK(contains(table, "MFU"));
  CHECK(contains(table, "41.3 %"));
  CHECK(contains(table, "spare"));
  CHECK(contains(table, " -3.00 "));
}

TEST_CASE("the tables of many names and numbers fit 80 columns") {
  std::vector<ComparedRun> runs = three_runs();
  runs[0].report.schedule.name = "a-schedule-with-a-very-long-name-from-a-file.csv";
  runs[0].report.schedule.chunks = 12;
  runs[0].report.weight_copies = 16;
  runs[0].report.p2p_bytes = kLargestSize;
  runs[0].report.devices[0].device = 1023;
  runs[0].report.devices[0].peak_memory = kLargestSize;
  runs[0].report.findings = {ScheduleNote{std::string(300, 'x')}};
  runs[1].report.makespan = 86'400'000'000'000;
  for (int width = 80; width < 140; ++width) {
    ViewStyle style;
    style.width = width;
    CHECK(widest_line(compared(runs, style)) <= width);
  }
}

TEST_CASE("the best row is green when colours are on") {
  ViewStyle style;
  style.color = true;
  CHECK(contains(compared(three_runs(), style), "\033[1;32m* zb-h1     7.000"));
}

TEST_CASE("a note of several rows is one footnote, in brief its first clause") {
  std::vector<ComparedRun> runs = three_runs();
  runs[0].remarks = {"slicing is not charged; slices of equal cost"};
  runs[2].remarks = {"slicing is not charged; slices of equal cost", "another"};
  const std::string brief = compared(runs, {});
  CHECK(contains(brief, "notes\n"));
  CHECK(contains(brief, "     4  a\n"));
  CHECK(contains(brief, "     4  a,b\n"));
  CHECK(contains(brief, "a      slicing is not charged\nb      another\n"));
  ViewStyle details;
  details.details = true;
  CHECK(contains(compared(runs, details), "slicing is not charged; slices of equal cost\n"));
}

TEST_CASE("many schedules take 40 lines: the fastest, those that are pinned, and what is left out is named") {
  std::vector<ComparedRun> runs;
  for (int k = 0; k < 60; ++k) {
    const std::string name = "schedule-" + std::to_string(k);
    runs.push_back(run(name.c_str(), 7'000'000 + 1000 * k, 1.0 / 3, 2 * kMebibyte));
    runs.back().needs.frameworks = "a framework";
    runs.back().remarks = {"its own remark " + std::to_string(k)};
  }
  runs[50].pinned = true;
  const std::string text = compared(runs, {});
  CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
  CHECK(contains(text, "* schedule-0 "));
  CHECK(contains(text, "  schedule-50 "));
  CHECK_FALSE(contains(text, "  schedule-49 "));
  CHECK(contains(text, "more rows\n"));
  CHECK(contains(text, "more   --details shows all rows, framework support and all notes\n"));
  ViewStyle details;
  details.details = true;
  const std::string whole = compared(runs, details);
  for (const char* part : {"  schedule-49 ", "its own remark 49", "runs today in"}) {
    CHECK(contains(whole, part));
  }
}

TEST_CASE("where none fits, the nearest run and what would make it fit are told once") {
  ComparedSchedules schedules;
  schedules.title = "compare";
  schedules.runs = three_runs();
  for (ComparedRun& one : schedules.runs) one.report.findings = {OverMemoryLimit{0, 2 * kMebibyte, kMebibyte}};
  schedules.within = "within 1.00 MiB";
  schedules.nearest = "1f1b, which needs more";
  schedules.answers = {{"fits", "with --recompute full: 1 GiB to spare"}};
  const std::string text = compare_table(schedules, {});
  CHECK(
      text.starts_with("compare\n"
                       "best   none fits within 1.00 MiB; nearest: 1f1b, which needs more\n"
                       "fits   with --recompute full: 1 GiB to spare\n"));
  CHECK(contains(text, "!      does not fit, or has an error\n"));
  CHECK_FALSE(contains(text, "beyond the limit"));
}
