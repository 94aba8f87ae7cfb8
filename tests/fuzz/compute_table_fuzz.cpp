// No text may break the reader of schedule tables: it throws InputError or gives a schedule that is complete, cannot
// deadlock, and comes back the same when it is written and read again.
#include "schedules/exchange/compute_table.hpp"
#include "sim/rows/check.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

std::optional<Schedule> read(std::string_view text) {
  try {
    return read_compute_table(text, "input");
  } catch (const InputError& error) {
    require(error.diagnostics().size() <= 51, "at most 51 diagnostics");
    check_refusal(error, "input", Help::kMayLack);
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<Schedule> schedule = read({reinterpret_cast<const char*>(data), size});
  if (!schedule) return 0;
  require(find_problems(*schedule).empty(), "what parses is complete");
  require(!find_deadlock(*schedule).has_value(), "what parses cannot deadlock");
  const std::string text = write_compute_table(*schedule);
  const std::optional<Schedule> again = read(text);
  require(again.has_value(), "what was written can be read");
  require(again->rows == schedule->rows, "rows come back");
  require(again->placement == schedule->placement, "the placement comes back");
  require(again->replica_of == schedule->replica_of, "replicas come back");
  require(write_compute_table(*again) == text, "the text comes back");
  return 0;
}
