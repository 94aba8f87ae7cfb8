#include "formats/importers/runs/run_reader.hpp"

#include <algorithm>
#include <array>

#include "formats/importers/recovery/kineto_rank.hpp"
#include "formats/importers/recovery/nsys_rank.hpp"
#include "formats/importers/runs/unnamed_ranks.hpp"

namespace debubble {

namespace {

constexpr std::array kRunReaders{
    RunReader{"torch", "torch.profiler, without PP: ranges", is_trace_without_names, read_unnamed_traces},
    RunReader{"nsys", "Nsight Systems", is_sqlite, read_nsys_exports},
};

}  // namespace

std::span<const RunReader> run_readers() { return kRunReaders; }

const RunReader* reader_of(std::string_view text) {
  const auto found = std::find_if(kRunReaders.begin(), kRunReaders.end(),
                                  [&](const RunReader& reader) { return reader.recognises(text); });
  return found == kRunReaders.end() ? nullptr : &*found;
}

}  // namespace debubble
