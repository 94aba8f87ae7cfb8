// The sentences that a measurement owes its reader: what was assumed, ambiguous, lost or left out.
#pragma once

#include <map>
#include <string>

#include "profiler/attribution/attribution.hpp"
#include "profiler/attribution/ledger.hpp"
#include "profiler/attribution/results.hpp"

namespace debubble::attribution {

// Appends to `attribution.notes`, whose layers and measurement are complete.
void add_measurement_notes(const Results& results, const Ledger& ledger, const std::map<std::string, LayerFacts>& facts,
                           bool memory_seen, Attribution& attribution);

}  // namespace debubble::attribution
