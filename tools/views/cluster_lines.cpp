#include "tools/views/cluster_lines.hpp"

#include <fmt/format.h>

#include "sim/core/quantities.hpp"
#include "sim/core/words.hpp"

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

}  // namespace

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

}  // namespace debubble
