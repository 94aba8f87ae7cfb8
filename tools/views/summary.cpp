#include "tools/views/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "formats/exporters/finding_text.hpp"
#include "formats/exporters/memory_fit_text.hpp"
#include "formats/exporters/report_json.hpp"
#include "formats/text/shell.hpp"
#include "sim/analysis/report.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"
#include "tools/views/advice.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/device_table.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/range_words.hpp"
#include "tools/views/stream_table.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

// "dgx-h100:8 (fluid), 64 of 64 GPUs: tp 8, dp 2, pp 4"
std::string where(const ClusterReport& cluster, int pipeline) {
  std::string text =
      fmt::format("{} ({}), {} of {} GPUs:", cluster.topology, cluster.network, cluster.ranks, cluster.devices);
  const auto add = [&](const char* name, int size) {
    if (size > 1) text += fmt::format(" {} {},", name, size);
  };
  add("tp", cluster.tensor);
  add("cp", cluster.context);
  add("ep", cluster.expert);
  if (cluster.expert_tensor > 0) text += fmt::format(" etp {},", cluster.expert_tensor);
  add("dp", cluster.data);
  return text + fmt::format(" pp {}", pipeline);
}

std::string part_text(const StepPart& part) {
  std::string text = with_blanks(to_string(part.kind)) + " " + format_duration(part.time);
  std::string apart;
  if (part.exposed < part.time) {
    apart = part.exposed == 0 ? "all of it hidden" : format_duration(part.exposed) + " of it exposed";
  }
  if (part.contention > 0) apart += (apart.empty() ? "" : ", ") + format_duration(part.contention) + " contention";
  return apart.empty() ? text : text + " (" + apart + ")";
}

std::string step_parts_text(const StepReport& step) {
  std::string text = "pipeline " + format_duration(step.pipeline_end);
  for (const StepPart& part : step.parts) text += "; " + part_text(part);
  return text;
}

std::string inside_text(const Report& report) {
  double busy = 0;
  for (const DeviceReport& device : report.devices) busy += static_cast<double>(device.busy);
  return fmt::format("{} of the compute time, inside stages",
                     format_percent(busy > 0 ? static_cast<double>(report.inside_collectives) / busy : 0));
}

// Label and text of the lines on a modelled cluster and step; none for a run without them.
//
//     cluster        dgx-h100:8 (fluid), 64 of 64 devices: tp 8, dp 2, pp 4
//     step parts     pipeline 800.1 ms; gradient reduce 45.20 ms, 12.10 ms of it exposed; optimizer 4.31 ms
std::vector<std::pair<std::string, std::string>> cluster_lines(const Report& report) {
  std::vector<std::pair<std::string, std::string>> lines;
  if (report.cluster) {
    const ClusterReport& cluster = *report.cluster;
    lines.emplace_back("cluster", where(cluster, report.schedule.devices));
    if (cluster.simulated_replicas > 1) {
      lines.emplace_back(
          "replicas", fmt::format("{} simulated: {} to {}, the slowest is shown", cluster.simulated_replicas,
                                  format_duration(cluster.fastest_replica), format_duration(cluster.slowest_replica)));
    }
  }
  if (report.step) lines.emplace_back("step parts", step_parts_text(*report.step));
  if (report.inside_collectives > 0) lines.emplace_back("collectives", inside_text(report));
  return lines;
}

Table pairs() { return Table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}}); }

// "activations 4.00 MiB + received 1.00 MiB"
std::string composition(const DeviceReport& device) {
  std::string text;
  for (std::size_t i = 0; i < kMemoryCategories; ++i) {
    if (device.peak_by_category[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : " + ", with_blanks(to_string(static_cast<MemoryCategory>(i))),
                        format_size(device.peak_by_category[i]));
  }
  return text;
}

// "0F31 (microbatch 7, slice 3)": where microbatches are cut, the numbers of ops count their parts.
std::string with_microbatch(const Op& op, const ScheduleFacts& facts) {
  std::string name = to_string(op);
  if (facts.pieces == 1) return name;
  return fmt::format("{} (microbatch {}, {} {})", name, op.microbatch / facts.pieces, facts.sliced ? "slice" : "piece",
                     op.microbatch % facts.pieces);
}

// "2F3 (microbatch 1, slice 1) with 1B0 (microbatch 0, slice 0)"
std::string in_words(const PeakOp& peak, const ScheduleFacts& facts) {
  std::string op = with_microbatch(peak.op, facts);
  switch (peak.kind) {
    case PeakOp::Kind::kCopyOut:
      return "OFFLOAD " + op;
    case PeakOp::Kind::kCopyBack:
      return "RELOAD " + op;
    case PeakOp::Kind::kPair:
      return op + " with " + with_microbatch(peak.partner, facts);
    case PeakOp::Kind::kOp:
    case PeakOp::Kind::kNothing:
      break;
  }
  return op;
}

std::string peak_memory(const Report& report) {
  const DeviceReport& worst =
      *std::max_element(report.devices.begin(), report.devices.end(),
                        [](const DeviceReport& a, const DeviceReport& b) { return a.peak_memory < b.peak_memory; });
  std::string text = fmt::format("{} on d{}", format_size(worst.peak_memory), worst.device);
  if (!worst.peak_memory_op.empty()) {
    text += fmt::format(", reached by {} at {}", in_words(worst.peak_memory_op, report.schedule),
                        format_duration(worst.peak_memory_at));
  }
  const std::string parts = composition(worst);
  return parts.empty() ? text : text + ": " + parts;
}

// Simulated runs wait only for another replica of the pipeline, which is a thing of the training step.
std::string critical_path(const CriticalPath& path, bool has_step) {
  std::string text = format_duration(path.compute) + " compute";
  if (path.transfer != 0) text += fmt::format(" + {} transfer", format_duration(path.transfer));
  if (path.collective != 0) text += fmt::format(" + {} collective", format_duration(path.collective));
  if (path.wait != 0)
    text += fmt::format(" + {} {}", format_duration(path.wait), has_step ? "for another replica" : "launch gaps");
  return path.hops == 0 ? text : text + fmt::format(", {} between devices", counted(path.hops, "hop"));
}

// Toy runs send messages of no size.
std::string volume(const Report& report) {
  std::string text = fmt::format("{} messages", report.p2p_messages);
  if (report.p2p_bytes > 0) text += ", " + format_size(report.p2p_bytes);
  if (report.copies > 0) text += fmt::format("; {} cop{}", report.copies, report.copies == 1 ? "y" : "ies");
  return report.weight_copies > 1 ? text + fmt::format("; {} copies of the weights", report.weight_copies) : text;
}

std::string rate(double value) { return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value); }

// "36 items, fresh every 3 steps (3 at least); devices busy 57.1 %, with it 89.3 %; ..."
std::string extra_work(const FilledBubbles& filled) {
  std::string text = fmt::format("{} items, fresh every {}", filled.items.size(), counted(filled.iterations, "step"));
  text += filled.least ? fmt::format(" ({} at least)", *filled.least) : " (a device has no bubble)";
  text += fmt::format("; devices busy {}, with it {}", format_percent(filled.utilisation_before),
                      format_percent(filled.utilisation_after));
  Nanoseconds outside = 0;
  double ratio = 0;
  for (const DeviceWork& device : filled.devices) {
    outside = std::max(outside, device.outside);
    if (device.bubble > 0) ratio = std::max(ratio, device.work_over_bubble());
  }
  text += fmt::format("; the fullest device has work for {:.2f} steps' bubbles", ratio);
  if (outside > 0) text += fmt::format("; up to {} fit no bubble and run after a step", format_duration(outside));
  if (filled.precondition == 0) return text;
  return text + fmt::format("; each step takes {} more to precondition, not counted in the step time above",
                            format_duration(filled.precondition));
}

// The answer: how long, how much of it is bubble, how fast that is, whether it fits, and what decides.
std::string summary_numbers(const Report& report, const ViewStyle& style) {
  Table table = pairs();
  table.add_row({"step time", fmt::format("{}; {} would be ideal", format_duration(report.makespan),
                                          format_duration(report.ideal))});
  if (report.step_range) table.add_row({"range", range_interval(*report.step_range)});
  table.add_row({"bubble", fmt::format("{} of the step (bubble_ratio: idle / (devices x step))",
                                       format_percent(report.bubble_ratio))});
  table.add_row({"", fmt::format("{} of the ideal (bubble_over_ideal: idle / ideal compute)",
                                 format_percent(report.bubble_over_ideal))});
  if (report.samples_per_second) {
    std::string text = rate(*report.samples_per_second) + " samples/s";
    if (report.tokens_per_second) text += fmt::format(", {} tokens/s", rate(*report.tokens_per_second));
    table.add_row({"throughput", text});
  }
  if (report.mfu) table.add_row({"MFU", format_percent(*report.mfu) + " of peak (model FLOPs utilization)"});
  if (!report.memory_fit) table.add_row({"peak memory", peak_memory(report)});
  if (report.memory_fit && report.memory_fit->spare >= 0) table.add_row({"memory", memory_fit_words(report)});
  table.add_row({"critical path", critical_path(report.critical_path, report.step.has_value())});
  return table.text(static_cast<std::size_t>(style.width));
}

// The other totals.
std::string summary_details(const Report& report, const ViewStyle& style) {
  constexpr std::size_t kLabel = 13;  // as wide as "critical path" above
  Table table = pairs();
  const auto add = [&](const std::string& label, const std::string& text) {
    table.add_row({pad_right(label, kLabel), text});
  };
  if (report.step_range) add("range from", range_reason(*report.step_range));
  if (report.span != report.makespan) {
    add("span", fmt::format("{}, {} of it bubble: the longest from a device's first start to its last end",
                            format_duration(report.span), format_percent(report.span_bubble_ratio)));
  }
  if (report.stream && report.stream->period) {
    add("steady state", stream_pace(*report.stream));
  } else if (report.steady_period && *report.steady_period != report.makespan && *report.steady_period > 0) {
    add("steady period",
        fmt::format("{} per step when steps are chained without a barrier", format_duration(*report.steady_period)));
  }
  for (const auto& [label, text] : cluster_lines(report)) add(label, text);
  if (report.extra_work) add("extra work", extra_work(*report.extra_work));
  if (report.memory_fit) add("peak memory", peak_memory(report));
  add("p2p", volume(report));
  return table.text(static_cast<std::size_t>(style.width));
}

const MemoryFit* lacking_memory(const Report& report) {
  return report.memory_fit && report.memory_fit->spare < 0 ? &*report.memory_fit : nullptr;
}

std::string advice_lines(const Report& report, const ViewStyle& style, const AdviceContext& context) {
  constexpr std::size_t kIndent = 7;
  constexpr std::size_t kDeeper = 2;  // where a command goes on
  const Advice advice = advise(report, context);
  const std::size_t room = static_cast<std::size_t>(style.width) - kIndent;
  std::string text;
  const auto add = [&](std::string_view label, const std::vector<std::string>& lines, std::size_t deeper) {
    std::string lead = paint(style.color, kBold, label) + std::string(kIndent - label.size(), ' ');
    for (const std::string& line : lines) {
      text += lead + line + "\n";
      lead = std::string(kIndent + deeper, ' ');
    }
  };
  add("limit", wrap(advice.limit, room), 0);
  if (const MemoryFit* fit = lacking_memory(report); fit != nullptr && !fit->remedies.empty()) {
    std::string_view label = "fits";
    for (const std::string& remedy : fit->remedies) {
      add(label, wrap("with " + remedy, room), kDeeper);
      label = "";
    }
    return text;
  }
  add("try", advice.command ? command_lines(advice.next, room - kDeeper) : wrap(advice.next, room),
      advice.command ? kDeeper : 0);
  return text;
}

// A finding's sentence. What a deadlock's own lines say is not repeated, and what makes a run fit has lines of its own.
std::string finding_sentence(const Finding& finding, const Report& report) {
  if (std::holds_alternative<DeadlockFound>(finding)) return finding_help(finding, report);
  const bool own_lines =
      std::holds_alternative<OutOfMemory>(finding) && report.memory_fit && !report.memory_fit->remedies.empty();
  return own_lines ? memory_fit_words(report) : finding_text(finding, report);
}

// What a person should know in addition to the numbers, one paragraph each.
std::string finding_lines(const Report& report, const ViewStyle& style) {
  std::string text;
  for (const Finding& finding : report.findings) {
    const std::string message = finding_sentence(finding, report);
    if (message.empty()) continue;
    const std::string label = fmt::format("{}[{}]:", to_string(severity_of(finding)), code_of(finding));
    std::string margin;
    for (std::string line : wrap(fmt::format("{} {}", label, message), static_cast<std::size_t>(style.width) - 2)) {
      if (margin.empty()) line.replace(0, label.size(), paint(style.color, kBold, label));
      text += margin + line + "\n";
      margin = "  ";
    }
  }
  return text;
}

std::string deadlock_lines(const Deadlock& deadlock, const ViewStyle& style) {
  std::string text = paint(style.color, kRed, "deadlock") + ": devices wait for each other\n";
  for (const Deadlock::Wait& wait : deadlock.cycle) {
    const std::string sentence = fmt::format("d{} cannot start {} (position {} of its row): it waits for {}",
                                             wait.device, to_string(wait.op), wait.position, to_string(wait.waits_for));
    text += paragraph_after("  ", sentence, style, 4);
  }
  return text;
}

}  // namespace

std::string schedule_title(const ScheduleFacts& facts) {
  std::string text =
      fmt::format("{} on {}: {}", facts.name, counted(facts.devices, "device"), counted(facts.stages, "stage"));
  if (facts.chunks > 1) text += fmt::format(" ({} per device)", facts.chunks);
  if (facts.replicas > 1) text += fmt::format(", {} replicas", facts.replicas);
  text += ", " + counted(facts.microbatches, "microbatch");
  for (const auto& [name, value] : facts.params) text += fmt::format(", {}={}", name, value);
  return text;
}

std::string run_verdict(const Report& report) {
  std::string text =
      fmt::format("{} per step, {} bubble", format_duration(report.makespan), format_percent(report.bubble_ratio));
  if (report.mfu) text += fmt::format(", {} MFU", format_percent(*report.mfu));
  if (const MemoryFit* fit = lacking_memory(report)) {
    return fmt::format("does not fit: d{} lacks {} ({})", fit->device, format_size(-fit->spare), text);
  }
  return report.memory_fit ? text + fmt::format(", fits with {} to spare", format_size(report.memory_fit->spare))
                           : text;
}

std::string title_lines(const std::string& title, const ViewStyle& style) {
  std::string text;
  for (const std::string& line : wrap(title, static_cast<std::size_t>(style.width))) {
    text += paint(style.color, kBold, line) + "\n";
  }
  return text;
}

std::string headline(const Report& report, const ViewStyle& style) {
  std::string text = title_lines(schedule_title(report.schedule), style);
  if (!has_result(report) || report.makespan == 0) return text;
  const std::string_view colour = lacking_memory(report) != nullptr ? kRed : kBold;
  for (const std::string& line : wrap(run_verdict(report), static_cast<std::size_t>(style.width))) {
    text += paint(style.color, colour, line) + "\n";
  }
  return text;
}

std::string summary(const Report& report, const ViewStyle& style, const AdviceContext& context) {
  const std::string findings = finding_lines(report, style);
  if (report.deadlock) return deadlock_lines(*report.deadlock, style) + findings;
  if (!has_result(report)) return "no result\n" + findings;
  if (report.makespan == 0) return "step time 0 ns: no op takes any time\n" + findings;
  const std::string stream = report.stream ? "\n" + stream_table(report, style) : "";
  return summary_numbers(report, style) + "\n" + (findings.empty() ? "" : findings + "\n") +
         advice_lines(report, style, context) + "\n" + summary_details(report, style) + "\n" +
         device_table(report, style) + stream;
}

}  // namespace debubble
