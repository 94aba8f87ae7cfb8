#include "tools/views/compare_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>
#include <vector>

#include "formats/exporters/finding_text.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/text/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

// What the table needs of one run that has a result.
struct CompareRow {
  const ComparedRun* run = nullptr;
  std::string label;
  double rate = 0;  // microbatches per ns
  Bytes memory = 0;
  int device = 0;
};

const Finding* first_error(const Report& report) {
  const auto found = std::find_if(report.findings.begin(), report.findings.end(), is_error);
  return found == report.findings.end() ? nullptr : &*found;
}

// The name, with what tells it from the same schedule run otherwise.
std::string schedule_label(const ScheduleFacts& facts) {
  return facts.chunks > 1 ? fmt::format("{} v={}", facts.name, facts.chunks) : facts.name;
}

CompareRow compared_row(const ComparedRun& run) {
  const Report& report = run.report;
  const DeviceReport& worst =
      *std::max_element(report.devices.begin(), report.devices.end(),
                        [](const DeviceReport& a, const DeviceReport& b) { return a.peak_memory < b.peak_memory; });
  const double rate = run.work / static_cast<double>(std::max<Nanoseconds>(1, report.makespan));
  return {&run, schedule_label(report.schedule), rate, worst.peak_memory, worst.device};
}

// Its name in the table, which says where its stages per device are the best of several (which, the notes tell).
std::string name_cell(const CompareRow& row) {
  return row.run->needs.chunks_tried.size() > 1 ? row.label + " best" : row.label;
}

bool eligible(const CompareRow& row) { return first_error(row.run->report) == nullptr; }

// Sort key of a choice: faster, then with a flush, then leaner, then fewer weight copies.
auto merit(const CompareRow& row) {
  return std::tuple(-row.rate, row.run->needs.asynchronous, row.memory, weight_copies(row.run->report));
}

const CompareRow* best_of(const std::vector<CompareRow>& rows, const CompareRow* except = nullptr) {
  const CompareRow* best = nullptr;
  for (const CompareRow& row : rows) {
    if (&row != except && eligible(row) && (best == nullptr || merit(row) < merit(*best))) best = &row;
  }
  return best;
}

// What the best is measured against: 1f1b, which everybody has, else the second best.
const CompareRow* rival_of(const std::vector<CompareRow>& rows, const CompareRow* best) {
  for (const CompareRow& row : rows) {
    if (&row != best && eligible(row) && row.run->report.schedule.name == "1f1b") return &row;
  }
  return best_of(rows, best);
}

std::string memory_clause(const CompareRow& best, const CompareRow& rival) {
  if (best.memory == rival.memory) return "at the same peak memory";
  if (rival.memory == 0) return fmt::format("at {} peak memory", format_size(best.memory));
  const double ratio = static_cast<double>(best.memory) / static_cast<double>(rival.memory);
  if (ratio >= 2) return fmt::format("at {:.1f} times the peak memory", ratio);
  constexpr double kShown = 0.0005;  // below, it would say 0.0 %
  if (std::abs(ratio - 1) < kShown) return "at about the same peak memory";
  const char* direction = ratio > 1 ? "more" : "less";
  return fmt::format("with {} {} peak memory", format_percent(ratio > 1 ? ratio - 1 : 1 - ratio), direction);
}

int devices_in(const CompareRow& row) { return row.run->report.schedule.devices; }

// Of runs on different numbers of devices, step times alone say nothing.
std::string reason_per_device(const CompareRow& best, const CompareRow& rival) {
  const auto terms = [](const CompareRow& row) {
    return fmt::format("{} devices, {}", devices_in(row), format_duration(row.run->report.makespan));
  };
  return fmt::format("{} does {} more work per device and second than {}: {}, against {}", best.label,
                     format_percent(best.rate / rival.rate - 1), rival.label, terms(best), terms(rival));
}

std::string reason(const CompareRow& best, const CompareRow& rival) {
  if (best.run->per_gpu && best.rate > rival.rate) {
    return fmt::format("{} trains {} more samples per GPU and second than {}, {}", best.label,
                       format_percent(best.rate / rival.rate - 1), rival.label, memory_clause(best, rival));
  }
  if (devices_in(best) != devices_in(rival) && best.rate > rival.rate) return reason_per_device(best, rival);
  const double bubble = best.run->report.bubble_ratio;
  const double other = rival.run->report.bubble_ratio;
  std::string text;
  if (best.rate > rival.rate) {
    text = fmt::format("{} takes {} less time than {} (bubble {} of the step against {}) {}", best.label,
                       format_percent(1 - rival.rate / best.rate), rival.label, format_percent(bubble),
                       format_percent(other), memory_clause(best, rival));
  } else {
    text =
        fmt::format("{} and {} are equally fast; {} {}", best.label, rival.label, best.label,
                    best.memory < rival.memory ? "does it " + memory_clause(best, rival) : "comes first in the list");
  }
  return best.run->note.empty() ? text : text + "; " + best.run->note;
}

bool too_close(const CompareRow& row) { return row.run->beside && !row.run->beside->told_apart(); }

// "a and b cannot be told apart from the fastest: they would have to be 2.1 % slower"; empty: all can.
std::string close_rows(const std::vector<CompareRow>& rows) {
  std::vector<std::string> names;
  double least = 0;
  double most = 0;
  for (const CompareRow& row : rows) {
    if (!row.run->beside) continue;
    const double needed = row.run->beside->needed;
    least = most == 0 ? needed : std::min(least, needed);
    most = std::max(most, needed);
    if (eligible(row) && too_close(row)) names.push_back(row.label);
  }
  if (names.empty()) return "";
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    text += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  }
  const std::string by = format_percent(least) == format_percent(most)
                             ? format_percent(most)
                             : format_percent(least) + " to " + format_percent(most);
  return text + " cannot be told apart from the fastest: measured runs may be in another order below " + by +
         " (how: docs/models.md)";
}

// The columns of the table, in their order.
enum CompareColumn : std::size_t {
  kName,
  kStep,
  kSpeed,
  kBubble,
  kBubbleOverIdeal,
  kMfu,
  kPeak,
  kSpare,
  kWorstDevice,
  kCopies,
  kP2p,
  kNeeds,
  kNotCharged,
  kDevices
};

// Columns that say nothing of these runs.
std::set<std::size_t> empty_columns(const std::vector<CompareRow>& rows) {
  const auto none = [&](auto has) { return std::none_of(rows.begin(), rows.end(), has); };
  std::set<std::size_t> empty;
  if (none([](const CompareRow& row) { return row.run->report.mfu.has_value(); })) empty.insert(kMfu);
  if (none([](const CompareRow& row) { return row.run->report.memory_fit.has_value(); })) empty.insert(kSpare);
  if (none([](const CompareRow& row) { return marks(row.run->needs) != "-"; })) empty.insert(kNeeds);
  if (none([](const CompareRow& row) { return !row.run->needs.not_charged.empty(); })) empty.insert(kNotCharged);
  if (none([&](const CompareRow& row) { return devices_in(row) != devices_in(rows.front()); })) empty.insert(kDevices);
  return empty;
}

Table compared_table(const std::vector<CompareRow>& rows, const CompareRow* best, std::size_t name_room,
                     const std::set<std::size_t>& left_out) {
  using enum Table::Side;
  Nanoseconds longest = 0;
  Bytes most = 0;
  Bytes volume = 0;
  double fastest = 0;
  for (const CompareRow& row : rows) {
    longest = std::max(longest, row.run->report.makespan);
    most = std::max(most, row.memory);
    volume = std::max(volume, row.run->report.p2p_bytes);
    if (eligible(row)) fastest = std::max(fastest, row.rate);
  }
  const Scale time = duration_scale(longest);
  const Scale memory = size_scale(most);
  const Scale sent = size_scale(volume);
  const std::set<std::size_t> empty = empty_columns(rows);
  // Toy runs send messages of no size: there the count says more.
  const std::string p2p = volume > 0 ? fmt::format("p2p\n{}", sent.unit) : "p2p\nmsgs";
  Table table({{"\n  schedule", kLeft},
               {fmt::format("step\n{}", time.unit), kRight},
               {empty.contains(kDevices) ? "speed" : "per\ndevice", kRight},
               {"bubble/\nstep", kRight},
               {"bubble/\nideal", kRight},
               {"MFU", kRight},
               {fmt::format("peak\n{}", memory.unit), kRight},
               {fmt::format("spare\n{}", memory.unit), kRight},
               {"on", kRight},
               {"weight\ncopies", kRight},
               {p2p, kRight},
               {"\nneeds", kLeft},
               {"not\ncharged", kLeft},
               {"devs", kRight}});
  for (const CompareRow& row : rows) {
    const Report& report = row.run->report;
    table.add_row({(&row == best     ? "* "
                    : !eligible(row) ? "! "
                    : too_close(row) ? "~ "
                                     : "  ") +
                       shorten(name_cell(row), name_room),
                   format_scaled(report.makespan, time), fastest > 0 ? format_percent(row.rate / fastest) : "",
                   format_percent(report.bubble_ratio), format_percent(report.bubble_over_ideal),
                   report.mfu ? format_percent(*report.mfu) : "", format_scaled(row.memory, memory),
                   report.memory_fit ? format_scaled(report.memory_fit->spare, memory) : "",
                   fmt::format("d{}", row.device), fmt::format("{}", weight_copies(report)),
                   volume > 0 ? format_scaled(report.p2p_bytes, sent) : fmt::format("{}", report.p2p_messages),
                   marks(row.run->needs), fmt::format("{}", fmt::join(row.run->needs.not_charged, ", ")),
                   fmt::format("{}", report.schedule.devices)});
  }
  for (std::size_t column = kDevices + 1; column-- > 0;) {
    if (empty.contains(column) || left_out.contains(column)) table.remove_column(column);
  }
  return table;
}

// Names are cut to this before a column goes, and beyond it only when no more columns can go.
constexpr std::size_t kReadableName = 20;  // "interleaved v=2 best"
// What a narrow table leaves out, in this order.
constexpr std::array<std::size_t, 7> kExpendable{kP2p, kCopies, kWorstDevice, kBubbleOverIdeal, kSpeed, kMfu, kSpare};

// The widest table that fits: first names are cut, then columns left out, then names cut further.
Table fitting_table(const std::vector<CompareRow>& rows, const CompareRow* best, std::size_t width) {
  std::size_t longest = 8;
  for (const CompareRow& row : rows) longest = std::max(longest, columns_of(name_cell(row)));
  const auto cut = [&](const Table& table, std::size_t room, std::size_t least) {
    const std::size_t natural = table.natural_width();
    const std::size_t over = natural - std::min(natural, width);
    return std::max(std::min(least, room), room - std::min(room, over));
  };
  std::set<std::size_t> left_out;
  const auto made = [&](std::size_t room) { return compared_table(rows, best, room, left_out); };
  const std::size_t readable = cut(made(longest), longest, kReadableName);
  for (const std::size_t column : kExpendable) {
    if (made(readable).natural_width() <= width) break;
    left_out.insert(column);
  }
  return made(cut(made(readable), readable, 8));
}

std::string table_text(const std::vector<CompareRow>& rows, const CompareRow* best, const ViewStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  const Table table = fitting_table(rows, best, width);
  std::string text;
  for (const std::string& line : table.headings(width)) text += paint(style.color, kDim, line) + "\n";
  const auto lines = table.rows(width);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += paint(style.color && &rows[i] == best, kGreen, lines[i].front()) + "\n";
  }
  return text;
}

std::string labelled(const ViewStyle& style, std::string_view label, std::string_view body) {
  constexpr std::size_t kIndent = 7;
  std::string lead = paint(style.color, kBold, label) + std::string(kIndent - label.size(), ' ');
  std::string text;
  for (const std::string& line : wrap(body, static_cast<std::size_t>(style.width) - kIndent)) {
    text += lead + line + "\n";
    lead = std::string(kIndent, ' ');
  }
  return text;
}

// Two columns under a title, for notes and for what did not run.
std::string list(const ViewStyle& style, std::string_view title,
                 const std::vector<std::pair<std::string, std::string>>& items) {
  if (items.empty()) return "";
  Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
  for (const auto& [name, body] : items) table.add_row({shorten(name, 24), body});
  return "\n" + paint(style.color, kBold, title) + "\n" + table.text(static_cast<std::size_t>(style.width), 2);
}

std::string notes_of(const ComparedRun& run) {
  std::string text = run.terms;
  if (run.needs.chunks_tried.size() > 1) {
    text += fmt::format("{}the fastest of v = {}", text.empty() ? "" : "; ", fmt::join(run.needs.chunks_tried, ", "));
  }
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (run.report.stream && run.report.stream->period) {  // a step fills and drains what a stream keeps full
    const double pace = run.report.stream->period->per_microbatch();
    add(fmt::format("in a stream {} per {} microbatches",
                    format_duration(std::llround(pace * run.report.schedule.microbatches)),
                    run.report.schedule.microbatches));
  }
  if (run.in_words) {
    if (!run.note.empty()) add(run.note);
    for (const auto& [name, value] : run.report.schedule.params) add(name + "=" + value);
  }
  for (const Finding& finding : run.report.findings) {
    add(finding_text(finding, run.report));
  }
  return text;
}

// The best that each framework runs, where that is not the best of all: "Megatron-LM and torchtitan: interleaved
// v=3, 34.7 % longer than the best"; empty without a best.
std::string today_text(const std::vector<CompareRow>& rows, const CompareRow* best) {
  std::string text;
  for (const CompareRow& row : rows) {
    const std::vector<std::string>& in = row.run->needs.best_in;
    if (in.empty() || best == nullptr) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: {}", fmt::join(in, ", "), row.label);
    if (&row == best) continue;
    text += fmt::format(", {} longer than the best", format_percent(best->rate / row.rate - 1));
  }
  return text;
}

// Who runs which of the schedules today.
std::string frameworks_list(std::span<const ComparedRun> runs, const ViewStyle& style) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (const ComparedRun& run : runs) {
    if (!has_result(run.report) || run.needs.frameworks.empty()) continue;
    groups.emplace_back(schedule_label(run.report.schedule), run.needs.frameworks);
  }
  return list(style, "runs today in", groups);
}

std::string legend_of(std::span<const ComparedRun> runs, const ViewStyle& style) {
  std::vector<ScheduleNeeds> needs;
  for (const ComparedRun& run : runs) needs.push_back(run.needs);
  const std::string text = legend(needs);
  return text.empty() ? "" : labelled(style, "needs", text);
}

}  // namespace

int weight_copies(const Report& report) {
  int beyond_one = 0;
  if (report.stream) {
    for (const StageVersions& stage : report.stream->stages)
      beyond_one = std::max(beyond_one, stage.copies_beyond_one());
  }
  return report.weight_copies + beyond_one;
}

std::string compare_table(std::span<const ComparedRun> runs, const std::string& within, const ViewStyle& style) {
  std::vector<CompareRow> rows;
  std::vector<std::pair<std::string, std::string>> notes;
  std::vector<std::pair<std::string, std::string>> without_result;
  for (const ComparedRun& run : runs) {
    const std::string label = schedule_label(run.report.schedule);
    if (has_result(run.report)) {
      rows.push_back(compared_row(run));
      if (const std::string text = notes_of(run); !text.empty()) notes.emplace_back(label, text);
      continue;
    }
    const Finding* error = first_error(run.report);
    without_result.emplace_back(label, error != nullptr      ? finding_text(*error, run.report)
                                       : run.report.deadlock ? "deadlock"
                                                             : "no result");
  }
  std::string text;
  if (!rows.empty()) {
    const CompareRow* best = best_of(rows);
    const CompareRow* rival = best == nullptr ? nullptr : rival_of(rows, best);
    text += table_text(rows, best, style);
    const std::string lead = within.empty() ? "" : within + ": ";
    if (rival != nullptr) text += "\n" + labelled(style, "best", lead + reason(*best, *rival));
    if (const std::string today = today_text(rows, best); !today.empty()) text += labelled(style, "today", today);
    if (const std::string close = close_rows(rows); !close.empty()) text += labelled(style, "close", close);
    if (best == nullptr) {
      text += "\n" + labelled(style, "best",
                              within.empty() ? "none: every run has an error, see the notes" : "none fits " + within);
    }
    text += legend_of(runs, style);
  }
  text += frameworks_list(runs, style) + list(style, "notes", notes);
  return text + list(style, "not run", without_result);
}

}  // namespace debubble
