#include "schedules/exchange/comms_table.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "schedules/exchange/comms_check.hpp"
#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/exchange/compute_table.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/check.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostCommsProblems = 50;
constexpr std::ptrdiff_t kMostTableRows = 1'000'000;
constexpr std::ptrdiff_t kMostTableCells = 10'000'000;

// Counted before anything is kept of it.
void refuse_large_table(std::string_view text, const std::string& name) {
  const std::ptrdiff_t rows = std::count(text.begin(), text.end(), '\n');
  const std::ptrdiff_t cells = rows + std::count(text.begin(), text.end(), ',');
  if (rows <= kMostTableRows && cells <= kMostTableCells) return;
  const bool many_rows = rows > kMostTableRows;
  throw InputError(
      {"P017", name,
       "more than " + std::to_string(many_rows ? kMostTableRows : kMostTableCells) + (many_rows ? " rows" : " cells"),
       "a table has a row for each device: check that this is the file you meant"});
}

struct ReadCells {
  ActionTable table;
  std::vector<CommsProblem> problems;
};

// Calls `use` with the text of each cell and its place.
template <typename Use>
void for_each_cell(std::string_view text, const Use& use) {
  std::int64_t row = 0;
  for (; !text.empty(); ++row) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
    for (std::int64_t cell = 0;; ++cell) {
      const std::size_t comma = line.find(',');
      use(row, cell, line.substr(0, comma));
      if (comma == std::string_view::npos) break;
      line.remove_prefix(comma + 1);
    }
  }
}

ReadCells read_cells(std::string_view text) {
  ReadCells cells;
  for_each_cell(text, [&](std::int64_t row, std::int64_t column, std::string_view cell) {
    if (static_cast<std::size_t>(row) == cells.table.size()) cells.table.emplace_back();
    if (cells.problems.size() >= kMostScheduleProblems) return;
    ReadActionCell read = read_action_cell(cell, CellWords::kComms);
    if (!read.fault.code.empty()) {
      read.cell.count = 0;
      cells.problems.push_back({row, column, read.fault.code, read.fault.message, read.fault.help});
    }
    cells.table.back().push_back(read.cell);
  });
  return cells;
}

[[noreturn]] void throw_problems(std::vector<CommsProblem> problems, const std::string& name) {
  std::stable_sort(problems.begin(), problems.end(), [](const CommsProblem& a, const CommsProblem& b) {
    return std::tie(a.row, a.cell) < std::tie(b.row, b.cell);
  });
  std::vector<Diagnostic> shown;
  for (CommsProblem& problem : problems) {
    if (shown.size() == kMostCommsProblems) break;
    const std::string row = problem.row < 0 ? "" : ":" + std::to_string(problem.row + 1);
    const std::string cell = problem.cell < 0 ? "" : ":" + std::to_string(problem.cell + 1);
    shown.push_back({problem.code, name + row + cell, std::move(problem.message), std::move(problem.help)});
  }
  if (problems.size() > shown.size()) {
    const std::size_t more = problems.size() - shown.size();
    shown.push_back({"P022", name, "and " + std::to_string(more) + (more == 1 ? " more problem" : " more problems"),
                     "fix the first ones and read again"});
  }
  throw InputError(std::move(shown));
}

// The table's compute alone, each cell at its place: to the compute reader a transfer is an idle cell.
std::string compute_part(const ActionTable& table) {
  ActionTable compute = table;
  for (auto& row : compute) {
    for (ActionCell& cell : row) {
      if (cell.count == 1 && !is_compute(cell.actions[0].kind)) cell.count = 0;
    }
  }
  return write_action_table(compute);
}

void check_no_idle_cells(const ActionTable& table, std::vector<CommsProblem>& problems) {
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (std::size_t cell = 0; cell < table[row].size(); ++cell) {
      if (table[row][cell].count > 0) continue;
      problems.push_back({static_cast<std::int64_t>(row), static_cast<std::int64_t>(cell), "T024",
                          "an empty cell in a compute_comms table",
                          "only compute_only tables have idle cells: leave it out"});
    }
  }
}

// RESHARDs side by side have no order that matters.
void sort_adjacent_reshards(ActionTable& table) {
  const auto reshard = [](const ActionCell& cell) { return cell.actions[0].kind == ActionKind::kReshard; };
  for (auto& row : table) {
    for (auto begin = row.begin(); begin != row.end();) {
      begin = std::find_if(begin, row.end(), reshard);
      const auto end = std::find_if_not(begin, row.end(), reshard);
      std::sort(begin, end,
                [](const ActionCell& a, const ActionCell& b) { return a.actions[0].stage < b.actions[0].stage; });
      begin = end;
    }
  }
}

bool table_has_kind(const ActionTable& table, const std::vector<ActionKind>& kinds) {
  return std::any_of(table.begin(), table.end(), [&](const auto& row) {
    return std::any_of(row.begin(), row.end(), [&](const ActionCell& cell) {
      return std::find(kinds.begin(), kinds.end(), cell.actions[0].kind) != kinds.end();
    });
  });
}

// "" when the table is what PyTorch's loader makes of its compute; otherwise the first difference. Passes of which the
// table has nothing at all are taken as not meant.
std::string difference_from_lowering(const Schedule& schedule, ActionTable table,
                                     const std::vector<std::int32_t>& device_of) {
  const bool waits = std::any_of(table.begin(), table.end(), [](const auto& row) {
    return std::any_of(row.begin(), row.end(), [](const ActionCell& cell) { return is_wait(cell.actions[0].kind); });
  });
  const TorchRelease release = waits ? TorchRelease::k2_15 : TorchRelease::k2_13;
  ActionTable standard = action_table(schedule);
  if (table_has_kind(table, {ActionKind::kUnshard, ActionKind::kReshard})) {
    standard = add_unshard_reshard(standard, release);
  }
  if (table_has_kind(table, {ActionKind::kReduceGrad})) {
    standard = add_reduce_grad(standard, schedule.microbatches, release);
  }
  standard = add_send_receive(standard, device_of);
  if (waits) standard = add_send_waits(standard);
  sort_adjacent_reshards(table);
  sort_adjacent_reshards(standard);
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (std::size_t cell = 0; cell < std::max(table[row].size(), standard[row].size()); ++cell) {
      const std::string ours = cell < table[row].size() ? to_string(table[row][cell]) : "nothing";
      const std::string theirs = cell < standard[row].size() ? to_string(standard[row][cell]) : "nothing";
      if (ours == theirs) continue;
      return "row " + std::to_string(row + 1) + ", cell " + std::to_string(cell + 1) + " has " + ours +
             " where PyTorch's loader puts " + theirs;
    }
  }
  return "";
}

}  // namespace

std::string write_action_table(const ActionTable& table) {
  std::string text;
  for (const auto& row : table) {
    for (std::size_t k = 0; k < row.size(); ++k) text += (k == 0 ? "" : ",") + to_string(row[k]);
    text += '\n';
  }
  return text;
}

ActionTable read_action_table(std::string_view text, const std::string& name) {
  ReadCells cells = read_cells(text);
  if (!cells.problems.empty()) throw_problems(std::move(cells.problems), name);
  return std::move(cells.table);
}

Schedule read_comms_table(std::string_view text, const std::string& name) {
  ReadCells cells = read_cells(text);
  if (!cells.problems.empty()) throw_problems(std::move(cells.problems), name);
  check_no_idle_cells(cells.table, cells.problems);
  if (!cells.problems.empty()) throw_problems(std::move(cells.problems), name);
  Schedule schedule = read_compute_table(compute_part(cells.table), name);
  const std::vector<std::int32_t> device_of = devices_of_stages(schedule, name);
  CommsCells comms = check_comms_cells(cells.table, device_of, schedule.microbatches);
  if (!comms.problems.empty()) throw_problems(std::move(comms.problems), name);
  CommsOrder order = check_comms_order(cells.table, comms.messages);
  if (!order.problems.empty()) throw_problems(std::move(order.problems), name);
  if (!order.unbuffered.empty()) schedule.notes.push_back(order.unbuffered);
  schedule.receives = receives_of(cells.table, schedule);
  const std::string difference = difference_from_lowering(schedule, std::move(cells.table), device_of);
  if (!difference.empty()) {
    schedule.notes.push_back("the table's communication is its own; its receives are simulated as written: " +
                             difference);
  }
  return schedule;
}

bool is_comms_table(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords{"SEND_", "RECV_", "SHARD", "REDUCE_GRAD"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

Schedule read_schedule_table(std::string_view text, const std::string& name) {
  refuse_large_table(text, name);
  return is_comms_table(text) ? read_comms_table(text, name) : read_compute_table(text, name);
}

}  // namespace debubble
