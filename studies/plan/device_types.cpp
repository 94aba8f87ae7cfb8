#include "studies/plan/device_types.hpp"

#include "formats/json/json_reader.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "scenario/request/factors.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"

namespace debubble {
namespace {

constexpr JsonDialect kDeviceTypesDialect{.what = "file of device types", .description = "docs/planners.md"};
constexpr IntegerRule kTypeCount{"devices", 1, 1'000'000, "the number of devices of this type"};

class DeviceTypesReader {
 public:
  DeviceTypesReader(std::string_view text, const std::string& name)
      : text_(text), problems_(name, kDeviceTypesDialect) {}

  std::vector<DeviceTypeRow> run() {
    const std::optional<JsonValue> tree = parse_json(text_, problems_);
    problems_.throw_if_any();
    JsonObjectReader reader(*tree, "", problems_);
    const std::string schema = reader.text("schema");
    if (!schema.empty() && schema != "debubble.device-types/1") {
      reader.complain("P010", "schema", in_quotes(schema) + " is not debubble.device-types/1", "");
    }
    if (const JsonValue* types = reader.array("types")) {
      if (types->children.empty() && types->integers.empty()) {
        reader.complain("P006", "types", "there are no types of devices",
                        R"(write {"hardware": "a100-80", "count": 4} for each)");
      }
      for (std::size_t k = 0; k < types->children.size(); ++k) {
        rows_.push_back(row(types->children[k], reader.pointer_to("types") + "/" + std::to_string(k)));
      }
    }
    reader.finish();
    problems_.throw_if_any();
    return std::move(rows_);
  }

 private:
  DeviceTypeRow row(const JsonValue& value, const std::string& pointer) {
    JsonObjectReader reader(value, pointer, problems_);
    DeviceTypeRow made;
    made.hardware = reader.optional_text("hardware");
    made.name = reader.optional_text("name");
    if (made.name.empty()) made.name = made.hardware.empty() ? "type " + std::to_string(rows_.size()) : made.hardware;
    made.count = static_cast<int>(reader.integer("count", kTypeCount));
    if (const JsonValue* factor = reader.member("time_factor", false)) {
      const auto number = number_of(*factor);
      if (!number || !is_factor(*number)) {
        reader.complain("P004", "time_factor", describe(*factor) + " is not a factor from 0.001 to 1000",
                        "1.8: everything takes 1.8 times as long");
      } else {
        made.time_factor = *number;
      }
    }
    if (const std::string text = reader.optional_text("memory"); !text.empty()) {
      quantity(reader, "memory", [&](const std::string& place) { made.memory = parse_size(text, place); });
    }
    if (const std::string text = reader.optional_text("bandwidth"); !text.empty()) {
      quantity(reader, "bandwidth", [&](const std::string& place) { made.bandwidth = parse_bandwidth(text, place); });
    }
    reader.finish();
    return made;
  }

  template <typename Parse>
  void quantity(const JsonObjectReader& reader, const char* key, const Parse& parse) {
    try {
      parse(problems_.name() + "#" + reader.pointer_to(key));
    } catch (const InputError& error) {
      for (const Diagnostic& one : error.diagnostics()) problems_.add(one.code, one.place, one.message, one.help);
    }
  }

  std::string_view text_;
  ProblemList problems_;
  std::vector<DeviceTypeRow> rows_;
};

}  // namespace

std::vector<DeviceTypeRow> read_device_types(std::string_view text, const std::string& name) {
  return DeviceTypesReader(text, name).run();
}

int device_count(const std::vector<DeviceTypeRow>& rows) {
  int count = 0;
  for (const DeviceTypeRow& row : rows) count += row.count;
  return count;
}

}  // namespace debubble
