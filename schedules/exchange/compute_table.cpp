#include "schedules/exchange/compute_table.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "schedules/exchange/compute_table_cells.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/check.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostTableProblems = 50;

// Ops that are not there. While cells are unreadable or numbers missing they follow from that, and would only repeat
// it.
bool is_absence(const std::string& code) { return code == "T004"; }

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Schedule read() {
    split_rows();
    if (ops_ == 0 && count_ == 0) throw InputError({"P016", name_, "the table holds no ops", "one row per device"});
    for (std::size_t row = 0; row < cells_.size(); ++row) {
      if (schedule_.rows[row].empty() && !faulty_[row]) {
        add(row, -1, {"P016", "", "the row holds no ops", "every row is one device: give it ops or delete the line"});
      }
    }
    number_stages_and_microbatches();
    place_ops();
    check_rows();
    if (count_ == 0) check_deadlock();
    if (count_ > 0) throw_problems();
    return std::move(schedule_);
  }

 private:
  // Row and cell are 0-based; -1: of no single cell, or row.
  struct Problem {
    std::int64_t row = -1;
    std::int64_t cell = -1;
    Diagnostic diagnostic;
  };

  void add(std::size_t row, std::int32_t cell, Diagnostic diagnostic) {
    diagnostic.place = name_ + ":" + std::to_string(row + 1) + (cell < 0 ? "" : ":" + std::to_string(cell + 1));
    keep({static_cast<std::int64_t>(row), cell, std::move(diagnostic)});
  }
  void add(Diagnostic diagnostic) {
    diagnostic.place = name_;
    keep({-1, -1, std::move(diagnostic)});
  }
  void keep(Problem problem) {
    ++count_;
    if (problems_.size() < 4 * kMostTableProblems) problems_.push_back(std::move(problem));
  }

  void split_rows() {
    std::string_view rest = text_;
    while (!rest.empty() && count_ < kMostScheduleProblems) {
      const std::size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
      if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
      split_cells(line);
    }
  }

  void split_cells(std::string_view line) {
    const std::size_t row = cells_.size();
    std::vector<std::int32_t>& cells = cells_.emplace_back();
    std::vector<Op>& ops = schedule_.rows.emplace_back();
    faulty_.push_back(false);
    for (std::int32_t column = 0;; ++column) {
      const std::size_t comma = line.find(',');
      const Cell cell = read_cell(line.substr(0, comma));
      if (!cell.fault.code.empty()) {
        add(row, column, {cell.fault.code, "", cell.fault.message, cell.fault.help});
        faulty_[row] = true;
      } else {
        ops.insert(ops.end(), cell.ops.begin(), cell.ops.begin() + cell.count);
        cells.insert(cells.end(), static_cast<std::size_t>(cell.count), column);
      }
      if (comma == std::string_view::npos || count_ >= kMostScheduleProblems) break;
      line.remove_prefix(comma + 1);
    }
    ops_ += ops.size();
  }

  void number_stages_and_microbatches() {
    std::vector<std::int32_t> stages;
    std::vector<std::int32_t> microbatches;
    stages.reserve(ops_);
    microbatches.reserve(ops_);
    for (const auto& row : schedule_.rows) {
      for (const Op& op : row) {
        stages.push_back(op.stage);
        microbatches.push_back(op.microbatch);
      }
    }
    complete_ = count_ == 0;
    schedule_.name = name_;
    schedule_.devices = static_cast<int>(schedule_.rows.size());
    schedule_.stages = count_without_gaps(stages, "T030", "stage");
    schedule_.microbatches = count_without_gaps(microbatches, "T030", "microbatch");
    const bool even = schedule_.stages % schedule_.devices == 0;
    schedule_.chunks = schedule_.stages / schedule_.devices + (even ? 0 : 1);
  }

  // 1 + the largest number; reports the numbers below it that no op has. `numbers` are in table order.
  int count_without_gaps(const std::vector<std::int32_t>& numbers, const char* code, const std::string& noun) {
    if (numbers.empty()) return 0;
    const std::int32_t largest = *std::max_element(numbers.begin(), numbers.end());
    std::vector<bool> seen(numbers.size(), false);
    for (const std::int32_t n : numbers) {
      if (static_cast<std::size_t>(n) < seen.size()) at(seen, n) = true;
    }
    // Numbers without a gap are no larger than their count, so most tables end here.
    if (static_cast<std::size_t>(largest) < seen.size() &&
        std::find(seen.begin(), seen.begin() + largest, false) == seen.begin() + largest) {
      return largest + 1;
    }
    std::vector<std::int32_t> distinct = numbers;
    std::sort(distinct.begin(), distinct.end());
    std::int32_t expected = 0;
    for (const std::int32_t n : distinct) {
      if (n > expected) report_gap(expected, n, numbers, code, noun);
      expected = n + 1;
    }
    return largest + 1;
  }

  void report_gap(std::int32_t from, std::int32_t to, const std::vector<std::int32_t>& numbers, const char* code,
                  const std::string& noun) {
    complete_ = false;
    if (++gaps_ > kMostTableProblems) {
      ++count_;  // not worth a search for its place
      return;
    }
    const std::string plural = noun + (noun.ends_with("ch") ? "es " : "s ");
    const std::string missing = from + 1 == to
                                    ? noun + " " + std::to_string(from) + " is missing"
                                    : plural + std::to_string(from) + " to " + std::to_string(to - 1) + " are missing";
    auto id = static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), to) - numbers.begin());
    std::size_t row = 0;
    for (; id >= schedule_.rows[row].size(); ++row) id -= schedule_.rows[row].size();
    add(row, cells_[row][id],
        {code, "",
         missing + ", and " + to_string(schedule_.rows[row][id]) + " names " + noun + " " + std::to_string(to),
         plural + "are numbered from 0 without gaps"});
  }

  // Which device holds which stage for each microbatch: where its forward is, or else where anything of it does.
  // Microbatches whose stages are on the same devices make a replica, numbered in order of their first microbatch.
  void place_ops() {
    const auto stages = static_cast<std::size_t>(schedule_.stages);
    const auto microbatches = static_cast<std::size_t>(schedule_.microbatches);
    if (stages == 0 || microbatches > (1024 + 4 * ops_) / stages) return;  // far too few ops: find_problems says so
    std::vector<std::int32_t> home(stages * microbatches, -1);
    for (const bool forwards : {true, false}) {
      for (std::size_t row = 0; row < schedule_.rows.size(); ++row) {
        for (const Op& op : schedule_.rows[row]) {
          auto& device = home[static_cast<std::size_t>(op.microbatch) * stages + static_cast<std::size_t>(op.stage)];
          if ((op.kind == OpKind::kForward) == forwards && device < 0) device = static_cast<std::int32_t>(row);
        }
      }
    }
    make_replicas(home, stages, microbatches);
  }

  void make_replicas(const std::vector<std::int32_t>& home, std::size_t stages, std::size_t microbatches) {
    std::map<std::vector<std::int32_t>, std::int32_t> replicas;
    std::vector<std::int32_t> device;
    for (std::size_t i = 0; i < microbatches; ++i) {
      const auto begin = home.begin() + static_cast<std::ptrdiff_t>(i * stages);
      const auto end = begin + static_cast<std::ptrdiff_t>(stages);
      const auto next = static_cast<std::int32_t>(replicas.size());
      const auto [replica, is_new] = replicas.try_emplace(std::vector<std::int32_t>(begin, end), next);
      if (is_new) device.insert(device.end(), begin, end);
      schedule_.replica_of.push_back(replica->second);
    }
    schedule_.placement = Placement(static_cast<int>(replicas.size()), static_cast<int>(stages), std::move(device));
  }

  [[nodiscard]] std::int32_t cell_of(std::int32_t device, std::int32_t position) const {
    return at(at(cells_, device), position);
  }

  // ", row 1, cell 3"-like coordinates for texts.
  [[nodiscard]] std::string where(std::int32_t device, std::int32_t position) const {
    return "row " + std::to_string(device + 1) + ", cell " + std::to_string(cell_of(device, position) + 1);
  }

  void check_rows() {
    for (ScheduleProblem& problem : find_problems(schedule_)) {
      if (problem.code == "T001") continue;  // placement and numbers are ours; what they lack is reported as missing
      if (!complete_ && is_absence(problem.code)) continue;
      if (problem.other_device >= 0) {
        const auto& other_row = at(schedule_.rows, problem.other_device);
        problem.message += " (" + to_string(at(other_row, problem.other_position)) + ": " +
                           where(problem.other_device, problem.other_position) + ")";
      }
      Diagnostic diagnostic{problem.code, "", std::move(problem.message), std::move(problem.help)};
      if (problem.device < 0) {
        add(std::move(diagnostic));
      } else {
        const std::int32_t cell = problem.position < 0 ? -1 : cell_of(problem.device, problem.position);
        add(static_cast<std::size_t>(problem.device), cell, std::move(diagnostic));
      }
    }
  }

  void check_deadlock() {
    const std::optional<Deadlock> deadlock = find_deadlock(schedule_);
    if (!deadlock) return;
    std::string message = "the devices wait for each other:";
    for (std::size_t i = 0; i < deadlock->cycle.size(); ++i) {
      const Deadlock::Wait& wait = deadlock->cycle[i];
      const Deadlock::Wait& next = deadlock->cycle[(i + 1) % deadlock->cycle.size()];
      message += (i == 0 ? " " : "; ") + to_string(wait.op) + " (" + where(wait.device, wait.position) + ") needs " +
                 to_string(wait.waits_for) + ", which row " + std::to_string(next.device + 1) + " has after " +
                 to_string(next.op);
    }
    const Deadlock::Wait& first = deadlock->cycle.front();
    add(static_cast<std::size_t>(first.device), cell_of(first.device, first.position),
        {"T011", "", std::move(message), "each device runs its row strictly in order: reorder one of these rows"});
  }

  [[noreturn]] void throw_problems() {
    std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
      return std::tie(a.row, a.cell) < std::tie(b.row, b.cell);
    });
    std::vector<Diagnostic> shown;
    for (Problem& problem : problems_) {
      if (shown.size() < kMostTableProblems) shown.push_back(std::move(problem.diagnostic));
    }
    if (count_ > shown.size()) {
      const std::size_t more = count_ - shown.size();
      shown.push_back({"P022", name_, "and " + std::to_string(more) + (more == 1 ? " more problem" : " more problems"),
                       "fix the first ones and read again"});
    }
    throw InputError(std::move(shown));
  }

  std::string_view text_;
  const std::string& name_;
  Schedule schedule_;
  std::vector<std::vector<std::int32_t>> cells_;  // by row and position: the cell's number, from 0
  std::vector<bool> faulty_;                      // by row: has cells that could not be read
  std::size_t ops_ = 0;
  std::vector<Problem> problems_;
  std::size_t count_ = 0;  // of all problems, kept or not
  std::size_t gaps_ = 0;
  bool complete_ = true;  // every cell is readable and no number missing, so that absent ops are worth a report
};

}  // namespace

std::string write_compute_table(const Schedule& schedule) {
  std::string text;
  for (const auto& row : schedule.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      if (row[i].paired_with_next && i + 1 < row.size()) {
        text += '(' + to_string(row[i]) + ';' + to_string(row[i + 1]) + ")OVERLAP_F_B";
        ++i;
      } else {
        text += to_string(row[i]);
      }
    }
    text += '\n';
  }
  return text;
}

Schedule read_compute_table(std::string_view text, const std::string& name) { return TableReader(text, name).read(); }

}  // namespace debubble
