#include "tools/views/device_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "sim/core/quantities.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/paragraph.hpp"
#include "tools/views/table.hpp"

namespace debubble {
namespace {

constexpr std::size_t kMostDeviceRows = 16;
constexpr std::size_t kDevicesAtEnds = 4;  // rows shown at each end when there are more

struct Field {
  std::string heading;
  std::function<std::string(const DeviceReport&)> text;
  std::string share;  // of all devices' time
};

Field time_field(const Report& report, std::string heading, const Scale& scale,
                 const std::function<Nanoseconds(const DeviceReport&)>& get) {
  double sum = 0;
  for (const DeviceReport& device : report.devices) sum += static_cast<double>(get(device));
  const double all = static_cast<double>(report.makespan) * static_cast<double>(report.devices.size());
  return {std::move(heading), [=](const DeviceReport& d) { return format_scaled(get(d), scale); },
          format_percent(sum / all)};
}

// "transfer_latency" as a heading of two lines.
std::string cause_heading(IdleCause cause) {
  std::string name = to_string(cause);
  std::replace(name.begin(), name.end(), '_', '\n');
  return name;
}

bool occurs(const Report& report, std::size_t cause) {
  return std::any_of(report.devices.begin(), report.devices.end(),
                     [&](const DeviceReport& device) { return device.idle_by_cause[cause] != 0; });
}

std::vector<Field> fields_of(const Report& report, const Scale& time, const Scale& memory) {
  std::vector<Field> fields;
  fields.push_back({"device", [](const DeviceReport& d) { return fmt::format("d{}", d.device); }, "share"});
  fields.push_back(time_field(report, "busy", time, [](const DeviceReport& d) { return d.busy; }));
  fields.push_back(time_field(report, "idle", time, [](const DeviceReport& d) { return d.idle; }));
  for (std::size_t i = 0; i < kIdleCauses; ++i) {
    if (!occurs(report, i)) continue;
    fields.push_back(time_field(report, cause_heading(static_cast<IdleCause>(i)), time,
                                [i](const DeviceReport& d) { return d.idle_by_cause[i]; }));
  }
  fields.push_back({"peak\nmemory", [=](const DeviceReport& d) { return format_scaled(d.peak_memory, memory); }, ""});
  fields.push_back(
      {"activ-\nations", [](const DeviceReport& d) { return fmt::format("{:.2f}", d.peak_activation_shares); }, ""});
  const bool moves = std::any_of(report.devices.begin(), report.devices.end(),
                                 [](const DeviceReport& device) { return device.peak_host_memory > 0; });
  if (moves) {
    fields.push_back(
        {"on the\nhost", [=](const DeviceReport& d) { return format_scaled(d.peak_host_memory, memory); }, ""});
  }
  return fields;
}

Table field_table(const Report& report, const std::vector<Field>& fields) {
  std::vector<Table::Column> columns;
  for (const Field& field : fields) {
    columns.push_back({field.heading, columns.empty() ? Table::Side::kLeft : Table::Side::kRight});
  }
  Table table(std::move(columns));
  const std::size_t devices = report.devices.size();
  for (std::size_t d = 0; d < devices; ++d) {
    std::vector<std::string> row;
    if (devices > kMostDeviceRows && d == kDevicesAtEnds) {
      table.add_row({"..."});
      d = devices - kDevicesAtEnds;
    }
    for (const Field& field : fields) row.push_back(field.text(report.devices[d]));
    table.add_row(std::move(row));
  }
  std::vector<std::string> shares;
  for (const Field& field : fields) shares.push_back(field.share);
  table.add_row(std::move(shares));
  return table;
}

}  // namespace

std::string device_table(const Report& report, const ViewStyle& style) {
  Bytes most = 0;
  for (const DeviceReport& device : report.devices) most = std::max(most, device.peak_memory);
  const Scale time = duration_scale(report.makespan);
  const Scale memory = size_scale(most);
  const std::vector<Field> fields = fields_of(report, time, memory);
  const std::string units =
      fmt::format("times in {}, memory in {}, activations in device shares", time.unit, memory.unit);
  return field_table(report, fields).folded(static_cast<std::size_t>(style.width)) + paragraph(units, style);
}

}  // namespace debubble
