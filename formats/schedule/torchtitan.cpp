#include "formats/schedule/torchtitan.hpp"

namespace debubble {
namespace {

bool has_several_replicas(const Schedule& schedule) {
  const Placement& placement = schedule.placement;
  for (int replica = 1; replica < placement.replicas(); ++replica) {
    for (int stage = 0; stage < placement.stages(); ++stage) {
      if (placement.device_of(replica, stage) != placement.device_of(0, stage)) return true;
    }
  }
  return false;
}

bool is_placed_like(const Schedule& schedule, const Placement& placement) {
  for (int stage = 0; stage < schedule.stages; ++stage) {
    if (schedule.placement.device_of(0, stage) != placement.device_of(0, stage)) return false;
  }
  return true;
}

}  // namespace

std::string torchtitan_table_class(const Schedule& schedule) {
  const int devices = schedule.devices;
  const int stages = schedule.stages;
  if (has_several_replicas(schedule)) return "";
  if (stages % devices == 0 && is_placed_like(schedule, loop_placement(devices, stages))) {
    return stages == devices ? "1F1B" : "Interleaved1F1B";
  }
  return stages == 2 * devices && is_placed_like(schedule, zigzag_placement(devices, stages)) ? "ZBVZeroBubble" : "";
}

std::string torchtitan_advice(const Schedule& schedule, const std::string& file) {
  if (has_several_replicas(schedule)) {
    return "torchtitan cannot run this table: a stage is on several devices, and PyTorch keeps each on one rank";
  }
  const std::string name = torchtitan_table_class(schedule);
  const int chunks = schedule.stages / schedule.devices;
  std::string text = "torchtitan: pipeline_parallel_schedule_csv = \"" + file +
                     "\" with pipeline_parallel_schedule = \"" + name + "\" ";
  if (name == "1F1B") return text + "(one stage per rank)";
  if (name == "Interleaved1F1B") {
    text += "(stage s on rank s mod " + std::to_string(schedule.devices) + ")";
    return chunks == 2 ? text
                       : text + "; it makes 2 stages per rank unless pipeline_parallel_layers_per_stage asks for " +
                             std::to_string(chunks);
  }
  if (name == "ZBVZeroBubble") {
    return text + "(a V: rank r holds stages r and " + std::to_string(schedule.stages - 1) +
           "-r); a class of loop placement, such as PipelineScheduleMulti, would put the stages elsewhere";
  }
  return "torchtitan cannot run this table: it places stages as a loop, or as a V of two stages per rank, and this is "
         "neither";
}

}  // namespace debubble
