// Schedules in JSON, ours and the zero-bubble authors' node list: whatever the bytes, the reader throws InputError or
// gives a schedule that is whole and survives being written and read again.
#include "formats/schedule/schedule_file.hpp"
#include "sim/rows/check.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

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
    check_refusal(error, "fuzz", Help::kMayLack);
    return 0;
  }
  require(find_problems(schedule).empty());
  const std::string text = written(schedule);
  require(written(read_schedule_text(text, "fuzz")) == text);
  return 0;
}
