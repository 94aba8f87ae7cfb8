#include "tools/views/advice.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "schedules/catalog.hpp"
#include "sim/core/at.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/share.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

std::string with_flags(std::string command, const AdviceContext& context) {
  if (!context.flags.empty()) command += " " + context.flags;
  return command;
}

std::string compare_command(const Report& report, const AdviceContext& context) {
  return with_flags(fmt::format("debubble compare -p {} -m {}", report.schedule.devices, report.schedule.microbatches),
                    context);
}

// The same run with other numbers of microbatches and chunks.
std::string simulate_command(const ScheduleFacts& facts, int microbatches, int chunks, const AdviceContext& context) {
  const std::string& name = context.schedule.empty() ? facts.name : context.schedule;
  std::string command = fmt::format("debubble simulate --schedule {} -p {} -m {}", name, facts.devices, microbatches);
  command += chunks_flag(name, chunks);
  return with_flags(std::move(command), context);
}

std::string of_the_idle_time(const Limit& limit) { return format_percent(limit.share) + " of the idle time"; }

Advice compute_limits(const Report& report, const Limit& limit, const AdviceContext& context) {
  return {fmt::format("compute: devices are busy {} of the step; only less work per microbatch makes it shorter",
                      format_percent(limit.share)),
          compare_command(report, context)};
}

Advice one_device_limits(const Report& report, const Limit& limit, const AdviceContext& context) {
  Advice advice;
  advice.limit = fmt::format("device d{}: it is busy {} of the step, d{} only {}", limit.device,
                             format_percent(limit.share), limit.least_busy_device, format_percent(limit.least_share));
  if (context.own_partition) advice.limit += "; move layers away from it";
  if (context.auto_partition) advice.limit += "; no cut of the layers is more even";
  advice.command = !context.own_partition;
  advice.next = advice.command ? compare_command(report, context) : "the same command with --partition auto";
  return advice;
}

Advice stream_ends(const Report& report, const Limit& limit, const AdviceContext& context) {
  const std::optional<StreamPeriod>& period = report.stream->period;
  if (!period) {
    return {"a stream fills and drains once: " + of_the_idle_time(limit), compare_command(report, context)};
  }
  const auto each = static_cast<Nanoseconds>(std::llround(period->per_microbatch()));
  return {fmt::format("a stream fills and drains once; then one microbatch every {}", format_duration(each)),
          compare_command(report, context)};
}

Advice ramps_limit(const Report& report, const Limit& limit, const AdviceContext& context) {
  const ScheduleFacts& facts = report.schedule;
  if (report.stream) return stream_ends(report, limit, context);
  Advice advice;
  advice.limit = "pipeline fill and drain: " + of_the_idle_time(limit);
  advice.next = compare_command(report, context);
  if (!limit.more_microbatches) return advice;
  const auto [microbatches, bubble_ratio] = *limit.more_microbatches;
  advice.limit += fmt::format("; with -m {} the bubble is {} of the step", microbatches, format_percent(bubble_ratio));
  // The two plain schedules have better alternatives; the others are those, and need more microbatches.
  const bool plain =
      context.flags.find("--transform") == std::string::npos && (facts.name == "gpipe" || facts.name == "1f1b");
  if (!plain) advice.next = simulate_command(facts, microbatches, facts.chunks, context);
  return advice;
}

Advice transfers_limit(const Report& report, const Limit& limit, const AdviceContext& context) {
  const char* most = limit.cause == IdleCause::kContention        ? "contention with other traffic"
                     : limit.cause == IdleCause::kTransferLatency ? "latency"
                                                                  : "bandwidth";
  const CriticalPath& path = report.critical_path;
  Advice advice;
  advice.limit = fmt::format("transfers: {}, most of it {}; {} hops and {} of the critical path are transfers",
                             of_the_idle_time(limit), most, path.hops, format_duration(path.transfer));
  advice.next = report.schedule.chunks > 2 ? simulate_command(report.schedule, report.schedule.microbatches,
                                                              report.schedule.chunks / 2, context)
                                           : compare_command(report, context);
  return advice;
}

}  // namespace

Advice advise(const Report& report, const Limit& limit, const AdviceContext& context) {
  switch (limit.kind) {
    case Limit::Kind::kCompute:
      return compute_limits(report, limit, context);
    case Limit::Kind::kDevice:
      return one_device_limits(report, limit, context);
    case Limit::Kind::kFillAndDrain:
      return ramps_limit(report, limit, context);
    case Limit::Kind::kTransfers:
      return transfers_limit(report, limit, context);
    case Limit::Kind::kDependency:
      return {fmt::format("waiting for compute elsewhere between fill and drain: {}; {}", of_the_idle_time(limit),
                          limit.uneven_work ? "stages are uneven" : "the order of ops leaves gaps"),
              compare_command(report, context)};
    case Limit::Kind::kOtherCause:
      break;
  }
  return {with_blanks(to_string(limit.cause)) + ": " + of_the_idle_time(limit), compare_command(report, context)};
}

Advice advise(const Report& report, const AdviceContext& context) {
  return advise(report, find_limit(report, context.more_microbatches), context);
}

}  // namespace debubble
