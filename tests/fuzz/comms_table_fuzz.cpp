// No text may break the reader of compute_comms tables: it throws InputError or gives a schedule whose own lowering is
// read back as the same schedule, without a note.
#include "schedules/exchange/comms_lowering.hpp"
#include "schedules/exchange/comms_table.hpp"
#include "sim/rows/check.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

std::optional<Schedule> read(std::string_view text) {
  try {
    return read_comms_table(text, "input");
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
  const std::string text = write_action_table(lower_as_pytorch(*schedule, "input"));
  const std::optional<Schedule> again = read(text);
  require(again.has_value(), "the lowering can be read");
  require(again->rows == schedule->rows && again->placement == schedule->placement, "it is of the same schedule");
  require(again->notes.empty(), "it is its own lowering");
  return 0;
}
