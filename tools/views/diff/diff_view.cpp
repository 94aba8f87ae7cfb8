#include "tools/views/diff/diff_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "formats/text/shell.hpp"
#include "sim/core/quantities.hpp"
#include "studies/diff/diff.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/diff/figures.hpp"
#include "tools/views/diff/words.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

using Side = Table::Side;

constexpr std::size_t kShownOpGroups = 6;
constexpr std::size_t kShownLinks = 4;

std::string relative(Nanoseconds predicted, Nanoseconds measured) {
  if (predicted <= 0) return "";
  return format_change(static_cast<double>(measured) / static_cast<double>(predicted) - 1);
}

std::string op_group_words(const OpDurations& ops) {
  const std::string first = fmt::format("{} of stage {}", letter(ops.op.kind), ops.op.stage);
  return ops.paired ? fmt::format("{} with {} of stage {}", first, letter(ops.partner.kind), ops.partner.stage) : first;
}

void add_durations(Table& table, const std::string& name, const Figure<Nanoseconds>& duration) {
  table.add_row({name, format_duration(duration.predicted), format_duration(duration.measured),
                 relative(duration.predicted, duration.measured),
                 fmt::format("{} .. {}", format_duration(duration.low), format_duration(duration.high))});
}

// The largest first, as many as `most`.
template <typename One, typename Size>
std::vector<One> largest_first(std::vector<One> all, std::size_t most, Size size) {
  std::stable_sort(all.begin(), all.end(), [&](const One& a, const One& b) { return size(a) > size(b); });
  all.resize(std::min(all.size(), most));
  return all;
}

Nanoseconds median_gap(const Figure<Nanoseconds>& duration) { return std::abs(duration.gap()); }

// Empty where no level can be told.
std::string levels_text(const Diff& diff, std::size_t width) {
  if (diff.levels.empty()) return "";
  Table table({{"level", Side::kLeft},
               {"step", Side::kRight},
               {"measured", Side::kRight},
               {"bubble/step", Side::kRight},
               {"measured", Side::kRight},
               {"from", Side::kLeft}});
  const BubbleAndStep measured = diff.measured_step();
  for (const LevelPrediction& level : diff.levels) {
    table.add_row({to_string(level.level), format_duration(static_cast<Nanoseconds>(level.predicted.step)),
                   format_change(measured.step / level.predicted.step - 1), format_percent(level.predicted.bubble),
                   format_change(measured.bubble - level.predicted.bubble, "pp"), level_words(level.level, diff)});
  }
  return table.text(width) + "\n";
}

// Of measured times: the ops by stage and kind whose medians in the compared step are furthest from what was assumed,
// times their number, and the slowest links. Empty where no time was measured.
std::string durations_text(const Diff& diff, std::size_t width) {
  if (!diff.measured_timeline().measured || diff.comparison.ops_by_stage.empty()) return "";
  const std::vector<OpDurations>& ops = diff.comparison.ops_by_stage;
  const std::vector<LinkDurations>& links = diff.comparison.links;
  Table table({{"medians", Side::kLeft},
               {"assumed", Side::kRight},
               {"this step", Side::kRight},
               {"gap", Side::kRight},
               {"p10 .. p90", Side::kLeft}});
  const auto moves = [](const OpDurations& one) { return median_gap(one.duration) * one.count; };
  for (const OpDurations& one : largest_first(ops, kShownOpGroups, moves))
    add_durations(table, op_group_words(one), one.duration);
  const auto slow = [](const LinkDurations& one) { return one.duration.measured; };
  for (const LinkDurations& one : largest_first(links, kShownLinks, slow)) {
    add_durations(table, fmt::format("transfer d{} to d{}", one.from, one.to), one.duration);
  }
  std::string text = table.text(width);
  const std::size_t hidden =
      ops.size() - std::min(ops.size(), kShownOpGroups) + links.size() - std::min(links.size(), kShownLinks);
  if (hidden > 0) text += fmt::format("medians of {} more stages and links: --format json\n", hidden);
  return text + "\n";
}

constexpr std::size_t kMostGapDevices = 4;  // with the largest gaps, where there are more
constexpr std::size_t kMostParts = 8;

std::string origin_words(const RunOrigin& origin) {
  std::string words = origin.backend;
  if (!origin.clock.empty() && origin.clock != "simulated") words += ", " + origin.clock + " clock";
  if (!origin.device.empty()) words += ", " + origin.device;
  return printable(words);
}

class View {
 public:
  View(const Diff& diff, const ViewStyle& style) : diff_(diff), comparison_(diff.comparison), style_(style) {}

  std::string run(const std::vector<std::string>& written, const std::string& next) {
    add_heading();
    add_figures();
    text_ += levels_text(diff_, width());
    text_ += durations_text(diff_, width());
    add_parts();
    add_divergence();
    if (const std::string exact = diff_.exactness(); !exact.empty()) add_item("note", exact);
    for (const LinkDurations& link : diff_.slow_links()) {
      add_item("note", slow_link_words(link, diff_.measured.iterations.size()));
    }
    for (const std::string& note : diff_.measured.origin.notes) add_item("note", printable(note));
    for (const LossItem& loss : diff_.measured.losses) {
      add_item("lost", fmt::format("{} {}", loss.count, printable(loss.what)));
    }
    for (const std::string& file : written) add_item("wrote", printable(file));
    if (!next.empty()) add_item("next", next);
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(style_.width); }

  void line(const std::string& text) { text_ += text + "\n"; }

  // "  clocks     one clock", wrapped after the name.
  void add_named(const std::string& name, const std::string& text, std::size_t indent, std::size_t column) {
    text_ += paragraph_after(pad_right(std::string(indent, ' ') + name, column), text, style_, column);
  }
  void add_fact(const std::string& name, const std::string& text) { add_named(name, text, 2, 13); }
  void add_item(const std::string& name, const std::string& text) { add_named(name, text, 0, 7); }

  void add_heading() {
    const ScheduleFacts& facts = diff_.predicted_report.schedule;
    line(paint(
        style_.color, kBold,
        fmt::format("{} on {} device{}, {} microbatch{}: predicted and measured", printable(facts.name), facts.devices,
                    facts.devices == 1 ? "" : "s", facts.microbatches, facts.microbatches == 1 ? "" : "es")));
    const bool own = diff_.predicted_name.empty();
    add_fact("predicted", own ? printable(diff_.measured_name) + ", simulated from its own schedule, costs and links"
                              : printable(diff_.predicted_name) + ", " + origin_words(diff_.predicted.origin));
    add_fact("level", basis_words(diff_));
    add_fact("measured", printable(diff_.measured_name) + ", " + origin_words(diff_.measured.origin) + iteration());
    const ClockAlignment& clocks = diff_.measured.clocks;
    add_fact("clocks", printable(clocks.method.empty() ? "one clock" : clocks.method) +
                           (!clocks.bounded       ? ": how far the ranks' clocks differ is not known"
                            : clocks.residual > 0 ? ", +-" + format_duration(clocks.residual)
                                                  : ""));
    add_fact("matched", fmt::format("ops {0}/{0}, transfers {1}/{2}{3}", comparison_.ops, comparison_.transfers_matched,
                                    comparison_.transfers,
                                    comparison_.transfers_matched == comparison_.transfers
                                        ? ""
                                        : ": those not seen are taken to be as predicted"));
    line("");
  }

  [[nodiscard]] std::string iteration() const {
    const std::size_t count = diff_.measured.iterations.size();
    if (count < 2) return "";
    return fmt::format("; iteration {} of {}{}", diff_.iteration + 1, count,
                       diff_.iteration_given ? "" : ", the median step");
  }

  void add_figures() {
    using Side = Table::Side;
    Table table({{"", Side::kLeft},
                 {"predicted", Side::kRight},
                 {"measured", Side::kRight},
                 {"gap", Side::kRight},
                 {"", Side::kRight},
                 {"p10 .. p90", Side::kLeft}});
    const auto& step = comparison_.makespan;
    table.add_row({"step", format_duration(step.predicted), format_duration(step.measured), format_gap(step.gap()),
                   format_relative_gap(step.gap(), step.predicted), range(step, format_duration)});
    add_ratio(table, "bubble/step", comparison_.bubble_ratio);
    add_ratio(table, "bubble/ideal", comparison_.bubble_over_ideal);
    const auto bubble_gap = [](const DeviceFigures& device) { return std::abs(device.bubble_ratio.gap()); };
    const std::vector<std::size_t> idle = worst_devices(bubble_gap);
    for (const std::size_t d : idle) {
      add_ratio(table, fmt::format("bubble d{}", d), comparison_.devices[d].bubble_ratio);
    }
    const KnownSides known = memory_known(diff_);
    const bool memory = known.predicted || known.measured;
    for (const std::size_t d : memory ? worst_devices(memory_gap) : std::vector<std::size_t>{}) {
      const auto counted = [&](MemorySource source) {
        return KnownSides{known.predicted, known.measured && source != MemorySource::kComputed};
      };
      add_size(table, fmt::format("peak memory d{}", d), comparison_.devices[d].peak_memory,
               counted(diff_.memory_source()));
      add_size(table, fmt::format("  activations d{}", d), comparison_.devices[d].peak_activation,
               counted(diff_.activation_source()));
    }
    if (diff_.measured.iterations.size() < 2) table.remove_column(5);
    text_ += table.text(width());
    const std::size_t hidden = comparison_.devices.size() - idle.size();
    if (hidden > 0) {
      line(fmt::format("{} of {} more device{}: --format json", memory ? "bubbles and memory" : "bubbles", hidden,
                       hidden == 1 ? "" : "s"));
    }
    if (!memory) line("memory is not known of these runs");
    if (memory &&
        (diff_.memory_source() == MemorySource::kComputed || diff_.activation_source() == MemorySource::kComputed)) {
      line("-: nobody counted that memory in the measured run");
    }
    line("");
  }

  template <typename T, typename Format>
  static std::string range(const Figure<T>& figure, Format format) {
    return fmt::format("{} .. {}", format(figure.low), format(figure.high));
  }

  static void add_ratio(Table& table, const std::string& name, const Figure<double>& figure) {
    table.add_row({name, format_percent(figure.predicted), format_percent(figure.measured),
                   format_change(figure.gap(), "pp"), "", range(figure, format_percent)});
  }

  static void add_size(Table& table, const std::string& name, const Figure<Bytes>& figure, KnownSides known) {
    const std::string predicted = known.predicted ? format_size(figure.predicted) : "-";
    if (!known.measured) {
      table.add_row({name, predicted, "-", "-", "", "-"});
      return;
    }
    table.add_row({name, predicted, format_size(figure.measured), known.predicted ? format_size_gap(figure.gap()) : "-",
                   known.predicted ? format_relative_gap(figure.gap(), figure.predicted) : "",
                   range(figure, format_size)});
  }

  static Bytes memory_gap(const DeviceFigures& device) {
    return std::max(std::abs(device.peak_memory.gap()), std::abs(device.peak_activation.gap()));
  }

  // All, or those with the largest gaps, by number.
  template <typename Gap>
  [[nodiscard]] std::vector<std::size_t> worst_devices(Gap gap) const {
    std::vector<std::size_t> order(comparison_.devices.size());
    std::iota(order.begin(), order.end(), 0);
    if (order.size() <= kMostGapDevices) return order;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return gap(comparison_.devices[a]) > gap(comparison_.devices[b]);
    });
    order.resize(kMostGapDevices);
    std::sort(order.begin(), order.end());
    return order;
  }

  void add_parts() {
    if (comparison_.parts.empty()) {
      line("every op and transfer took as long as predicted, in the same order");
      return;
    }
    if (comparison_.parts.front().gap == 0) {
      const std::size_t count = comparison_.parts.size();
      add_item("no gap", fmt::format("{} kind{} of ops, transfers or waits differ{}, and none moves the end: --format "
                                     "json",
                                     count, count == 1 ? "" : "s", count == 1 ? "s" : ""));
      return;
    }
    line(fmt::format("gap explained, {} in all", format_gap(comparison_.makespan.gap())));
    Nanoseconds rest = 0;
    std::size_t hidden = 0;
    for (std::size_t i = 0; i < comparison_.parts.size(); ++i) {
      const GapPart& part = comparison_.parts[i];
      if (i < kMostParts && part.gap != 0) {
        add_named(pad_left(format_gap(part.gap), 10), part_words(part), 2, 14);
        continue;
      }
      rest += part.gap;
      ++hidden;
    }
    if (hidden > 0) {
      add_named(pad_left(format_gap(rest), 10),
                fmt::format("{} more part{}: --format json", hidden, hidden == 1 ? "" : "s"), 2, 14);
    }
  }

  void add_divergence() {
    line("");
    if (!comparison_.first_divergence) {
      add_item("first", fmt::format("divergence: none beyond {}", format_duration(comparison_.tolerance)));
      return;
    }
    add_item("first", "divergence: " + divergence_words(*comparison_.first_divergence) +
                          fmt::format(" (tolerance {})", format_duration(comparison_.tolerance)));
  }

  const Diff& diff_;
  const Comparison& comparison_;
  const ViewStyle& style_;
  std::string text_;
};

}  // namespace

std::string diff_view(const Diff& diff, const ViewStyle& style, const std::vector<std::string>& written,
                      const std::string& next) {
  return View(diff, style).run(written, next);
}

}  // namespace debubble
