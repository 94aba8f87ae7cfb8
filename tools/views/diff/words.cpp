#include "tools/views/diff/words.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

Nanoseconds mean(Nanoseconds sum, std::int64_t count) { return count == 0 ? 0 : (sum + count / 2) / count; }

std::string stage_ops(const GapPart& part) {
  const std::string first = fmt::format("{} of stage {}", letter(part.op.kind), part.op.stage);
  return part.paired
             ? fmt::format("pair of {} and {} of stage {}", first, letter(part.partner.kind), part.partner.stage)
             : first;
}

// "takes 1.300 ms on average, predicted 1.000 ms"
std::string means(const GapPart& part) {
  const Nanoseconds measured = mean(part.measured, part.count);
  const Nanoseconds predicted = mean(part.predicted, part.count);
  if (measured == predicted)
    return fmt::format("takes {} on average, as predicted, but unevenly", format_duration(measured));
  return fmt::format("takes {}{}, predicted {}", format_duration(measured), part.count > 1 ? " on average" : "",
                     format_duration(predicted));
}

std::string percent_or_infinite(double value) {
  return std::isfinite(value) ? format_percent(value) : "infinitely much";
}

}  // namespace

std::string format_gap(Nanoseconds gap) {
  if (gap == 0) return "0 ns";
  return (gap < 0 ? "-" : "+") + format_duration(std::abs(gap));
}

std::string format_size_gap(Bytes gap) {
  return gap == 0 ? "0 B" : fmt::format("{}{}", gap < 0 ? "-" : "+", format_size(std::abs(gap)));
}

std::string format_relative_gap(std::int64_t gap, std::int64_t predicted) {
  if (predicted <= 0 || gap == 0) return "";
  const double ratio = static_cast<double>(gap) / static_cast<double>(predicted);
  return fmt::format("{}{}", ratio < 0 ? "-" : "+", format_percent(std::abs(ratio)));
}

std::string part_words(const GapPart& part) {
  switch (part.cause) {
    case GapCause::kOp:
      return fmt::format("{} {} ({} on device {})", stage_ops(part), means(part), counted(part.count, "op"),
                         part.device);
    case GapCause::kTransfer:
      return fmt::format("transfer from device {} to {} {} ({})", part.device, part.to_device, means(part),
                         counted(part.count, "transfer"));
    case GapCause::kWait:
      return fmt::format(
          "transfers from device {} to {} begin {} after their tensor was made on average, predicted {} "
          "({})",
          part.device, part.to_device, format_duration(mean(part.measured, part.count)),
          format_duration(mean(part.predicted, part.count)), counted(part.count, "transfer"));
    case GapCause::kOrder:
      return part.count == 0 ? std::string("transfers took place in another order")
                             : fmt::format("{} ran {} ops in another order", counted(part.count, "device"),
                                           part.count == 1 ? "its" : "their");
    case GapCause::kLaunchGap:
      return fmt::format("launch gaps on device {}: {} of {} in all, predicted {}", part.device,
                         counted(part.count, "op"), format_duration(part.measured), format_duration(part.predicted));
    case GapCause::kUnexplained:
      break;
  }
  return "unexplained: ops that begin before what they need had ended, by these clocks; transfers that nobody saw "
         "are taken to be as predicted";
}

std::string divergence_words(const Divergence& d) {
  const std::string at = format_duration(d.measured_begin);
  switch (d.kind) {
    case Divergence::Kind::kOrder:
      return fmt::format("device {} ran {} where {} was due, at {}", d.device, to_string(d.op), to_string(d.expected),
                         at);
    case Divergence::Kind::kOp:
      return fmt::format("device {}, {} at {}: takes {} longer than predicted", d.device, to_string(d.op), at,
                         format_duration(d.late));
    case Divergence::Kind::kTransfer:
      return fmt::format("transfer of {} from device {} to {} at {}: ends {} late", to_string(d.op), d.device,
                         d.to_device, at, format_duration(d.late));
    case Divergence::Kind::kLaunchGap:
      break;
  }
  return fmt::format("device {}, {} at {}: begins and ends {} late", d.device, to_string(d.op), at,
                     format_duration(d.late));
}

std::string level_words(BubbleLevel level, const Diff& diff) {
  const std::size_t others = diff.measured.iterations.size() - 1;
  switch (level) {
    case BubbleLevel::kReplay:
      return "durations of this step";
    case BubbleLevel::kMedians:
      return others == 1 ? "medians of the other step" : fmt::format("medians of the other {} steps", others);
    case BubbleLevel::kForecast:
      break;
  }
  return "costs known before it";
}

std::string basis_words(const Diff& diff) {
  const std::size_t steps = diff.measured.iterations.size();
  switch (diff.basis) {
    case PredictionBasis::kForecast:
      return "forecast: costs known before the run";
    case PredictionBasis::kMedians:
      return steps == 1 ? "medians of the same step"
                        : fmt::format("medians of all {} steps, the compared one among them", steps);
    case PredictionBasis::kOtherRun:
      break;
  }
  return "none: another measured run";
}

std::string slow_link_words(const LinkDurations& link, std::size_t iterations) {
  return fmt::format(
      "transfers from device {} to {} take {:.2f} times as long as those of the other links ({} against {}), in {} of "
      "{}",
      link.from, link.to, link.factor(), format_duration(link.duration.median), format_duration(link.others),
      link.slow_steps, counted(static_cast<std::int64_t>(iterations), "step"));
}

std::string excess_words(const Excess& excess, const Diff& diff) {
  const std::size_t count = diff.measured.iterations.size();
  const std::string what = count == 1 ? "measured" : fmt::format("the median of {} iterations", count);
  const std::string differs = percent_or_infinite(excess.differs);
  const std::string tolerance = format_percent(excess.tolerance);
  switch (excess.kind) {
    case Excess::Kind::kStep:
      return fmt::format("step: {} and predicted differ by {}, more than {}", what, differs, tolerance);
    case Excess::Kind::kBubble:
      return fmt::format("bubble: {} and predicted differ by {:.2f} percentage points, more than {:g}", what,
                         100 * excess.differs, 100 * excess.tolerance);
    case Excess::Kind::kMemory:
      break;
  }
  const bool all = diff.memory_source() == MemorySource::kModelled;
  return fmt::format("memory: the {} of device {} differ by {}, more than {}", all ? "peaks" : "activations",
                     excess.device, differs, tolerance);
}

std::string excess_words(const Excess& excess, const LogDiff& diff) {
  const std::string differs = percent_or_infinite(excess.differs);
  const std::string tolerance = format_percent(excess.tolerance);
  if (excess.kind == Excess::Kind::kMemory) {
    return fmt::format("memory: the peaks of device {} differ by {}, more than {}", excess.device, differs, tolerance);
  }
  if (excess.kind == Excess::Kind::kBubble) {
    return fmt::format("bubble: the median of {} and predicted differ by {:.2f} percentage points, more than {:g}",
                       counted(static_cast<std::int64_t>(diff.lines), "line"), 100 * excess.differs,
                       100 * excess.tolerance);
  }
  return fmt::format("step: the median of {} and predicted differ by {}, more than {}",
                     counted(static_cast<std::int64_t>(diff.lines), "line"), differs, tolerance);
}

}  // namespace debubble
