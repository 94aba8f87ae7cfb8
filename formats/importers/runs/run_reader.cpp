#include "formats/importers/runs/run_reader.hpp"

#include <algorithm>
#include <array>

#include "formats/importers/runs/primus_ranks.hpp"
#include "formats/importers/runs/span_trace.hpp"

namespace debubble {

namespace {

constexpr std::array kRunReaders{
    RunReader{"straggler", "ByteDance's StragglerAnalysis", true, is_span_trace, read_span_trace},
    RunReader{"primus", "AMD's Primus", false, is_primus_rank, read_primus_ranks},
};

}  // namespace

std::span<const RunReader> run_readers() { return kRunReaders; }

const RunReader* reader_of(std::string_view text) {
  const auto found = std::find_if(kRunReaders.begin(), kRunReaders.end(),
                                  [&](const RunReader& reader) { return reader.recognises(text); });
  return found == kRunReaders.end() ? nullptr : &*found;
}

}  // namespace debubble
