// Puts the result of attribution together: layers, the rest, the measurement, explanations and notes.
#pragma once

#include <map>
#include <string>

#include "profiler/attribution/attribution.hpp"
#include "profiler/attribution/ledger.hpp"
#include "profiler/attribution/range_names.hpp"
#include "profiler/attribution/results.hpp"

namespace debubble::attribution {

// Throws InputError: A002 no range was a layer, A003 no GPU work, A004 no GPU work in a layer.
[[nodiscard]] Attribution assemble(const Results& results, const Ledger& ledger, const RangeNames& names,
                                   const std::map<std::string, LayerFacts>& facts, bool explain);

}  // namespace debubble::attribution
