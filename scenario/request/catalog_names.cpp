#include "scenario/request/catalog_names.hpp"

#include "cost_models/transformer/hardware.hpp"
#include "scenario/request/model_choice.hpp"
#include "schedules/catalog.hpp"
#include "schedules/frameworks.hpp"
#include "schedules/transforms/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/model_presets.hpp"
#include "sim/topologies/catalog.hpp"

namespace debubble {

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const ScheduleEntry& entry : schedule_catalog()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> transform_names() {
  std::vector<std::string> names;
  for (const TransformEntry& entry : transform_catalog()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> topology_names() {
  std::vector<std::string> names{"ideal"};
  for (const TopologyEntry& entry : topology_catalog()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const NamedModel& model : all_models()) names.push_back(model.shape.name);
  return names;
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const ModelPreset& preset : model_presets()) names.push_back(preset.shape.name);
  return names;
}

std::vector<std::string> hardware_names() {
  std::vector<std::string> names;
  for (const Hardware& hardware : hardware_presets()) names.push_back(hardware.name);
  return names;
}

std::string parse_framework(const std::string& text, std::string_view place) {
  if (const auto name = framework_named(text)) return *name;
  std::string known(kFrameworkWords);
  for (std::size_t at = known.find('|'); at != std::string::npos; at = known.find('|', at)) known.replace(at, 1, ", ");
  known.replace(known.rfind(", "), 2, " or ");
  fail("C002", std::string(place), "\"" + text + "\" is not a framework that we know", "name " + known);
}

}  // namespace debubble
