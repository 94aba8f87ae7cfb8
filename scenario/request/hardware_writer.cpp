// Writes hardware as read_hardware reads it.
#include <string>

#include "scenario/request/hardware_fields.hpp"
#include "scenario/request/hardware_file.hpp"

namespace debubble {
namespace {

// {"value": ..., "source": ...}
Json said(const Json& value, const HardwareSource& source) {
  return {{"value", value}, {"source", hardware_source_text(source)}};
}

}  // namespace

std::string write_hardware(const HardwareFigures& figures, const HardwareSources& sources, const std::string& name,
                           const std::string& table) {
  Json file = Json::object();
  file["format"] = kHardwareFormat;
  file["name"] = name;
  if (!figures.hardware.source.empty()) file["description"] = figures.hardware.source;
  for (const HardwareField& field : hardware_fields()) {
    const double value = field.get(figures);
    const bool none = value == 0 && field.least > 0;
    const bool absent = field.unit == FigureUnit::kSwitch || field.unit == FigureUnit::kLinks ? value == 0 : none;
    if (absent) continue;
    file[field.group][field.key] = said(figure_json(field, value), source_of(sources, field.name()));
  }
  const std::string source = hardware_source_text(source_of(sources, "kernels/of"));
  if (!table.empty()) {
    file["kernels"] = {{"file", table}, {"source", source}};
  } else if (!figures.hardware.kernels.empty()) {
    file["kernels"] = {{"of", figures.hardware.kernels}, {"source", source}};
  }
  return file.text(2) + "\n";
}

std::string write_hardware(const Hardware& hardware, const std::string& name) {
  return write_hardware(figures_of(hardware), hardware_sources(hardware), name,
                        hardware.own == nullptr ? std::string() : hardware.own->tables_file);
}

}  // namespace debubble
