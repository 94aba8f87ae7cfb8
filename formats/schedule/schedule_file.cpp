#include "formats/schedule/schedule_file.hpp"

#include <optional>
#include <utility>

#include "formats/files/read_file.hpp"
#include "formats/json/json_reader.hpp"
#include "formats/run/run_parts.hpp"
#include "formats/run/schedule_json.hpp"
#include "formats/schedule/node_list.hpp"
#include "formats/text/shell.hpp"
#include "schedules/exchange/comms_table.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr std::string_view kFormat = "debubble.schedule/1";

constexpr JsonDialect kScheduleDialect{
    .what = "schedule file",
    .description = "docs/schedule.schema.json",
    .most_values = 4 * kMostJsonValues,  // of nodes, ops or links
    .most_items = kMostJsonValues / 2,
};

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Schedule read_native(const JsonValue& root, ProblemList& problems) {
  JsonObjectReader top(root, "", problems);
  if (!top.has_format("format", kFormat, "schedule files are written by `debubble export --to schedule-json`")) {
    return {};
  }
  Schedule schedule;
  if (const JsonValue* value = top.member("schedule", true)) schedule = read_run_schedule(*value, problems);
  top.finish();
  return schedule;
}

Schedule read_schedule_json(std::string_view text, const std::string& name) {
  ProblemList problems(name, kScheduleDialect);
  Schedule schedule;
  if (const std::optional<JsonValue> root = parse_json(text, problems, IntegerArrays::kPacked)) {
    schedule = root->kind == JsonValue::Kind::kArray ? read_node_list(*root, problems) : read_native(*root, problems);
  }
  problems.throw_if_any();
  return schedule;
}

}  // namespace

void write_schedule_file(const Schedule& schedule, const std::function<void(std::string_view)>& sink) {
  TextBuffer buffer(sink);
  JsonLines json(buffer);
  json.begin('{');
  json.member("format").text(kFormat);
  json.member("schedule");
  write_schedule(json, schedule);
  json.end('}');
  buffer << "\n";
  buffer.flush();
}

Schedule read_schedule_text(std::string_view text, const std::string& name) {
  Schedule schedule = looks_like_json(text) ? read_schedule_json(text, name) : read_schedule_table(text, name);
  schedule.name = printable(schedule.name.empty() ? name : schedule.name);
  return schedule;
}

Schedule read_schedule_file(const std::string& path) {
  return read_schedule_text(read_text_file(path, "--schedule"), path);
}

}  // namespace debubble
