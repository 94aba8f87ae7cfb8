#include "tools/views/compare_table.hpp"

#include <doctest/doctest.h>

#include <vector>

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

std::string best_line(const std::vector<ComparedRun>& runs) {
  ViewStyle style;
  style.width = 200;
  const std::string text = compare_table(runs, "", style);
  const std::size_t begin = text.find("best");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

TEST_CASE("runs side by side, with the reason for the best") {
  CHECK(compare_table(three_runs(), "", ViewStyle{}) ==
        "             step           bubble/  bubble/  peak      weight   p2p\n"
        "  schedule     ms    speed     step    ideal   MiB  on  copies  msgs\n"
        "  gpipe     9.000   77.8 %   33.3 %   50.0 %  4.00  d0       1     4\n"
        "  1f1b      9.000   77.8 %   33.3 %   50.0 %  2.00  d0       1     4\n"
        "* zb-h1     7.000  100.0 %   14.3 %   16.7 %  2.00  d0       1     4\n"
        "\n"
        "best   zb-h1 takes 22.2 % less time than 1f1b (bubble 14.3 % of the step against\n"
        "       33.3 %) at the same peak memory; splits the backward\n"
        "\n"
        "notes\n"
        "  zb-h1  splits the backward\n");
}

TEST_CASE("runs without result are listed with the reason") {
  std::vector<ComparedRun> runs = three_runs();
  runs[0].report.devices.clear();
  runs[0].report.findings = {Refused{{"S001", "", "p must be even", ""}}};
  runs[1].report.deadlock = Deadlock{};
  runs[2].note = "";
  runs[2].report.p2p_bytes = 3 * kMebibyte / 2;
  CHECK(compare_table(runs, "", ViewStyle{}) ==
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
  CHECK(best_line(runs).find(" with 50.0 % more peak memory") != std::string::npos);
  runs[2].report.devices[0].peak_memory = 4 * kMebibyte;
  CHECK(best_line(runs).find(" at 2.0 times the peak memory") != std::string::npos);
  runs[1].report.devices[0].peak_memory = 10000 * kMebibyte;
  runs[2].report.devices[0].peak_memory = 10001 * kMebibyte;
  CHECK(best_line(runs).find(" at about the same peak memory") != std::string::npos);
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
  CHECK(compare_table(runs, "", {}).find("MFU") == std::string::npos);
  CHECK(compare_table(runs, "", {}).find("spare") == std::string::npos);
  runs[0].report.mfu = 0.413;
  runs[1].report.memory_fit = MemoryFit{};
  runs[1].report.memory_fit->spare = -3 * kMebibyte;
  const std::string table = compare_table(runs, "", {});
  CHECK(table.find("MFU") != std::string::npos);
  CHECK(table.find("41.3 %") != std::string::npos);
  CHECK(table.find("spare") != std::string::npos);
  CHECK(table.find(" -3.00 ") != std::string::npos);
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
    CHECK(widest_line(compare_table(runs, "", style)) <= width);
  }
}

TEST_CASE("the best row is green when colours are on") {
  ViewStyle style;
  style.color = true;
  CHECK(compare_table(three_runs(), "", style).find("\033[1;32m* zb-h1     7.000") != std::string::npos);
}
