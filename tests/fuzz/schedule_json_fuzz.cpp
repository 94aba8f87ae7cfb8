// Schedules in JSON, ours and the zero-bubble authors' node list: whatever the bytes, the reader throws InputError or
// gives a schedule that is whole and survives being written and read again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "formats/schedule/schedule_file.hpp"
#include "sim/core/error.hpp"
#include "sim/rows/check.hpp"

namespace {

using namespace debubble;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_diagnostics(const InputError& error) {
  require(!error.diagnostics().empty());
  for (const Diagnostic& diagnostic : error.diagnostics()) {
    const std::string text = to_string(diagnostic);
    require(diagnostic.place.starts_with("fuzz") && !diagnostic.message.empty());
    require(std::none_of(text.begin(), text.end(),
                         [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; }));
  }
}

std::string written(const Schedule& schedule) {
  std::string text;
  write_schedule_file(schedule, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Schedule schedule;
  try {
    schedule = read_schedule_text(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  } catch (const InputError& error) {
    check_diagnostics(error);
    return 0;
  }
  require(find_problems(schedule).empty());
  const std::string text = written(schedule);
  require(written(read_schedule_text(text, "fuzz")) == text);
  return 0;
}
