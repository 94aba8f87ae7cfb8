#include "formats/importers/runs/run_reader.hpp"

#include <algorithm>
#include <array>

#include "formats/importers/recovery/kineto_rank.hpp"
#include "formats/importers/recovery/nsys_rank.hpp"
#include "formats/importers/runs/primus_ranks.hpp"
#include "formats/importers/runs/span_trace.hpp"
#include "formats/importers/runs/unnamed_ranks.hpp"

namespace debubble {

namespace {

constexpr std::array kRunReaders{
    RunReader{"straggler", "ByteDance's StragglerAnalysis", true, is_span_trace, read_span_trace},
    RunReader{"primus", "AMD's Primus", false, is_primus_rank, read_primus_ranks},
    RunReader{"torch", "torch.profiler, without PP: ranges", false, is_trace_without_names, read_unnamed_traces},
    RunReader{"nsys", "Nsight Systems", false, is_sqlite, read_nsys_exports},
};

}  // namespace

std::span<const RunReader> run_readers() { return kRunReaders; }

const RunReader* reader_of(std::string_view text) {
  const auto found = std::find_if(kRunReaders.begin(), kRunReaders.end(),
                                  [&](const RunReader& reader) { return reader.recognises(text); });
  return found == kRunReaders.end() ? nullptr : &*found;
}

}  // namespace debubble
