#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "formats/text/columns.hpp"
#include "formats/text/shell.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/assumption_lines.hpp"
#include "tools/views/diff/log_diff_views.hpp"
#include "tools/views/diff/words.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/summary.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostStages = 4;  // with the largest gaps, where there are more

using Side = Table::Side;

// Of a timer or share: "d3", "least rank".
std::string place_words(const TimerFigure& timer) {
  switch (timer.of) {
    case TimerFigure::Of::kLeastRank:
      return "least rank";
    case TimerFigure::Of::kMostRank:
      return "most rank";
    case TimerFigure::Of::kDevice:
      break;
  }
  return fmt::format("d{}", timer.device);
}

class LogView {
 public:
  LogView(const LogDiff& diff, const ViewStyle& style) : diff_(diff), style_(style) {}

  std::string run(const std::string& next) {
    add_heading();
    add_table();
    add_waits();
    add_assumed();
    for (const std::string& note : diff_.notes) add_item("note", printable(note));
    if (!next.empty()) add_item("next", next);
    text_ += "\n" + assumption_lines(diff_.predicted.assumptions, style_);
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(style_.width); }

  void add_named(const std::string& name, const std::string& text, std::size_t indent, std::size_t column) {
    text_ += paragraph_after(pad_right(std::string(indent, ' ') + name, column), text, style_, column);
  }
  void add_item(const std::string& name, const std::string& text) { add_named(name, text, 0, 7); }

  void add_heading() {
    const ScheduleFacts& facts = diff_.predicted.schedule;
    text_ += title_lines(fmt::format("{} on {} devices, {} microbatch{}: predicted and measured", printable(facts.name),
                                     facts.devices, facts.microbatches, facts.microbatches == 1 ? "" : "es"),
                         style_);
    add_named("predicted", predicted_words(), 2, 13);
    add_named("measured", measured_words(), 2, 13);
    text_ += "\n";
  }

  [[nodiscard]] std::string predicted_words() const {
    if (!diff_.predicted_name.empty()) return printable(diff_.predicted_name) + ", a scenario";
    return fmt::format("the arguments in {}, on {} ({}), with the training step", printable(diff_.log_name),
                       diff_.hardware, diff_.hardware_in_log ? "named in the log" : "given");
  }

  [[nodiscard]] std::string measured_words() const {
    if (!diff_.step) return printable(diff_.log_name) + ": memory only, no line of iterations";
    return fmt::format("{}: {} line{} of iterations, up to iteration {}, {} left out", printable(diff_.log_name),
                       diff_.lines, diff_.lines == 1 ? "" : "s", diff_.last_iteration, diff_.left_out);
  }

  void add_table() {
    Table table({{"", Side::kLeft},
                 {"predicted", Side::kRight},
                 {"measured", Side::kRight},
                 {"gap", Side::kRight},
                 {"", Side::kRight},
                 {"p10 .. p90", Side::kLeft}});
    if (diff_.step) {
      add_time(table, "step", *diff_.step);
    } else {
      table.add_row({"step", format_duration(diff_.predicted.makespan), "-", "-", "", "-"});
    }
    add_bubble(table);
    if (diff_.samples_per_second) add_rate(table, "samples/s", *diff_.samples_per_second);
    if (diff_.tokens_per_second) add_rate(table, "tokens/s", *diff_.tokens_per_second);
    for (const TimerFigure& timer : diff_.timers) {
      add_time(table, timer.name.substr(0, timer.name.find("-compute")) + " " + place_words(timer), timer.time);
    }
    for (const IdleFigure& idle : diff_.idle) {
      if (diff_.bubbles.empty()) add_share(table, fmt::format("idle share d{}", idle.device), idle.share);
    }
    const PeakMemory peak = diff_.peak_memory();
    add_memory(table, "peak memory", peak.predicted, peak.measured, "most of all ranks");
    const std::vector<std::size_t> shown = shown_stages();
    for (const std::size_t d : shown) add_stage(table, diff_.memory[d]);
    text_ += table.text(width());
    const std::size_t hidden = diff_.memory.size() - shown.size();
    if (hidden > 0) {
      text_ += fmt::format("memory of {} more device{}: --format json\n", hidden, hidden == 1 ? "" : "s");
    }
    text_ += "\n";
  }

  static void add_share(Table& table, const std::string& name, const Figure<double>& share) {
    table.add_row({name, format_percent(share.predicted), format_percent(share.measured),
                   format_change(share.gap(), "pp"), "", range_words(share, format_percent)});
  }

  // Of the step where nothing was measured; else of the pipeline, without what follows it.
  void add_bubble(Table& table) const {
    if (!diff_.bubble) {
      table.add_row({"bubble/step", format_percent(diff_.predicted.bubble_ratio), "-", "-", "", "-"});
      return;
    }
    const PipelineBubble& bubble = *diff_.bubble;
    if (bubble.figure) {
      add_share(table, "bubble", *bubble.figure);
      for (const DeviceBubble& one : diff_.bubbles) add_share(table, fmt::format("  of d{}", one.device), one.share);
      return;
    }
    const auto [least, most] = bubble.measured;
    table.add_row({"bubble", format_percent(bubble.predicted),
                   fmt::format("{}..{}", format_percent(least), format_percent(most)), "-", "",
                   "bounds: least and most rank only"});
  }

  // Where the bubble of each device went, as far as timers of transfers say it.
  void add_waits() {
    if (diff_.bubbles.empty()) return;
    Table table({{"measured bubble", Side::kLeft},
                 {"activations", Side::kRight},
                 {"gradients", Side::kRight},
                 {"both", Side::kRight},
                 {"end", Side::kRight},
                 {"rest", Side::kRight}});
    for (const DeviceBubble& one : diff_.bubbles) {
      const double rest = one.share.measured - one.forward - one.backward - one.both - one.end;
      table.add_row({fmt::format("  d{}, waiting for", one.device), format_percent(one.forward),
                     format_percent(one.backward), format_percent(one.both), format_percent(one.end),
                     format_percent(std::max(rest, 0.0))});
    }
    text_ += table.text(width()) + "\n";
  }

  template <typename T, typename Format>
  static std::string range_words(const Figure<T>& figure, Format format) {
    return fmt::format("{} .. {}", format(figure.low), format(figure.high));
  }

  static void add_time(Table& table, const std::string& name, const Figure<Nanoseconds>& time) {
    table.add_row({name, format_duration(time.predicted), format_duration(time.measured), format_gap(time.gap()),
                   format_relative_gap(time.gap(), time.predicted), range_words(time, format_duration)});
  }

  static void add_rate(Table& table, const std::string& name, const Figure<double>& rate) {
    const auto number = [](double value) {
      return value < 1000 ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
    };
    const std::string relative = rate.predicted > 0 ? format_change(rate.gap() / rate.predicted) : std::string();
    table.add_row({name, number(rate.predicted), number(rate.measured),
                   (rate.gap() < 0 ? "-" : "+") + number(std::abs(rate.gap())), relative, range_words(rate, number)});
  }

  static void add_memory(Table& table, const std::string& name, Bytes predicted, std::optional<Bytes> measured,
                         const std::string& ranks) {
    if (!measured) {
      table.add_row({name, format_size(predicted), "-", "-", "", "-"});
      return;
    }
    const Bytes gap = *measured - predicted;
    table.add_row({name, format_size(predicted), format_size(*measured), format_size_gap(gap),
                   format_relative_gap(gap, predicted), ranks});
  }

  static void add_stage(Table& table, const StageMemoryFigure& stage) {
    add_memory(table, fmt::format("  of d{}", stage.device), stage.predicted,
               stage.ranks > 0 ? std::optional(stage.most) : std::nullopt, "most of " + counted(stage.ranks, "rank"));
  }

  // All, or those with the largest gaps, by number; where none was measured those with the largest peaks.
  [[nodiscard]] std::vector<std::size_t> shown_stages() const {
    std::vector<std::size_t> order(diff_.memory.size());
    std::iota(order.begin(), order.end(), 0);
    if (order.size() <= kMostStages) return order;
    const bool measured = diff_.has_memory();
    const auto size = [&](std::size_t d) {
      const StageMemoryFigure& stage = diff_.memory[d];
      if (!measured) return stage.predicted;
      return stage.ranks == 0 ? Bytes{-1} : std::abs(stage.most - stage.predicted);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    order.resize(kMostStages);
    std::sort(order.begin(), order.end());
    return order;
  }

  void add_assumed() {
    if (diff_.assumed.empty()) return;
    text_ += "not in the log, and taken to be\n";
    std::size_t column = 0;
    for (const AssumedArgument& one : diff_.assumed) column = std::max(column, one.name.size() + 4);
    for (const AssumedArgument& one : diff_.assumed) add_named(one.name, one.taken, 2, column);
    text_ += "\n";
  }

  const LogDiff& diff_;
  const ViewStyle& style_;
  std::string text_;
};

}  // namespace

std::string log_diff_view(const LogDiff& diff, const ViewStyle& style, const std::string& next) {
  return LogView(diff, style).run(next);
}

}  // namespace debubble
