#include "tools/views/compare_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "sim/core/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

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
  kNotes,
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
  if (none([](const CompareRow& row) { return !row.letters.empty(); })) empty.insert(kNotes);
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
    if (best == nullptr && eligible(row)) fastest = std::max(fastest, row.rate);
  }
  if (best != nullptr) fastest = best->rate;
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
               {"\nnotes", kLeft},
               {"devs", kRight}});
  for (const CompareRow& row : rows) {
    const Report& report = row.run->report;
    table.add_row({(&row == best     ? "* "
                    : !eligible(row) ? "! "
                    : too_close(row) ? "~ "
                                     : "  ") +
                       shorten(row.label, name_room),
                   format_scaled(report.makespan, time), fastest > 0 ? format_percent(row.rate / fastest) : "",
                   format_percent(report.bubble_ratio), format_percent(report.bubble_over_ideal),
                   report.mfu ? format_percent(*report.mfu) : "", format_scaled(row.memory, memory),
                   report.memory_fit ? format_scaled(report.memory_fit->spare, memory) : "",
                   fmt::format("d{}", row.device), fmt::format("{}", weight_copies(report)),
                   volume > 0 ? format_scaled(report.p2p_bytes, sent) : fmt::format("{}", report.p2p_messages),
                   marks(row.run->needs), fmt::format("{}", fmt::join(row.run->needs.not_charged, ", ")), row.letters,
                   fmt::format("{}", report.schedule.devices)});
  }
  for (std::size_t column = kDevices + 1; column-- > 0;) {
    if (empty.contains(column) || left_out.contains(column)) table.remove_column(column);
  }
  return table;
}

// Names are cut to this before a column goes, and beyond it only when no more columns can go.
constexpr std::size_t kReadableName = 20;  // "interleaved-zb v=3"
// What a narrow table leaves out, in this order.
constexpr std::array<std::size_t, 9> kExpendable{kP2p,   kCopies,     kWorstDevice, kBubbleOverIdeal, kSpeed, kMfu,
                                                 kSpare, kNotCharged, kNotes};

// The widest table that fits: first names are cut, then columns left out, then names cut further.
Table fitting_table(const std::vector<CompareRow>& rows, const CompareRow* best, std::size_t width) {
  std::size_t longest = 8;
  for (const CompareRow& row : rows) longest = std::max(longest, columns_of(row.label));
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

}  // namespace

CompareLines compare_lines(const std::vector<CompareRow>& rows, const CompareRow* best, const ViewStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  const Table table = fitting_table(rows, best, width);
  CompareLines lines;
  for (const std::string& line : table.headings(width)) lines.headings.push_back(paint(style.color, kDim, line));
  const auto texts = table.rows(width);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lines.rows.push_back(paint(style.color && &rows[i] == best, kGreen, texts[i].front()));
  }
  return lines;
}

}  // namespace debubble
