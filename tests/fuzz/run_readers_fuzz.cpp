// The readers of other tools' runs: whatever the bytes, they throw InputError or give whole iterations in which no op
// ends before it begins. A line of four dashes begins the next file of a run. Some runs are read as a second replica.
#include "formats/importers/runs/run_reader.hpp"
#include "studies/runs/imported_record.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace debubble;
using namespace debubble::fuzz;

std::vector<RunText> files_in(std::string_view bytes) {
  constexpr std::string_view kBetween = "\n----\n";
  std::vector<RunText> files;
  for (;;) {
    const std::size_t end = bytes.find(kBetween);
    files.push_back({"rank_" + std::to_string(files.size()) + ".json", std::string(bytes.substr(0, end))});
    if (end == std::string_view::npos) return files;
    bytes.remove_prefix(end + kBetween.size());
  }
}

void read_all(const RunReader& reader, const std::vector<RunText>& files, int replica) {
  try {
    const RunRecord record = record_of_imported(reader.read(files, {replica}), "fuzz", nullptr);
    require(!record.iterations.empty());
    for (const RunIteration& iteration : record.iterations) {
      require(iteration.timeline.devices == record.schedule.devices);
      for (const Span& span : iteration.timeline.spans) require(span.begin >= 0 && span.end >= span.begin);
    }
  } catch (const InputError& error) {
    check_refusal(error, "", Help::kMayLack);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<RunText> files = files_in({reinterpret_cast<const char*>(data), size});
  for (const RunReader& reader : run_readers()) {
    read_all(reader, files, 0);
    if (size % 2 == 1) read_all(reader, files, 1);
  }
  return 0;
}
