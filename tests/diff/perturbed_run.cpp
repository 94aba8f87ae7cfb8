#include "tests/diff/perturbed_run.hpp"

#include <algorithm>

namespace debubble::testing {
namespace {

Nanoseconds change(const Changes& changes, const Span& span) {
  const auto found = changes.find(key_of(span.op));
  return found == changes.end() ? 0 : found->second;
}

// Moves everything that stands too early; true when something moved.
bool push_back(Timeline& run, const Timeline& original, const Changes& delays, const Changes& longer) {
  std::vector<Nanoseconds> ready(run.spans.size(), 0);
  for (std::size_t i = 1; i < run.spans.size(); ++i) {
    if (run.spans[i].device == run.spans[i - 1].device) ready[i] = run.spans[i - 1].end;
  }
  for (std::size_t i = 0; i < run.transfers.size(); ++i) {
    Transfer& transfer = run.transfers[i];
    transfer.begin = run.spans[static_cast<std::size_t>(transfer.from_span)].end;
    transfer.end = transfer.begin + original.transfers[i].end - original.transfers[i].begin;
    Nanoseconds& input = ready[static_cast<std::size_t>(transfer.to_span)];
    input = std::max(input, transfer.end);
  }
  bool moved = false;
  for (std::size_t i = 0; i < run.spans.size(); ++i) {
    Span& span = run.spans[i];
    const Nanoseconds begin = ready[i] + change(delays, span);
    const Nanoseconds end = begin + original.spans[i].end - original.spans[i].begin + change(longer, span);
    moved = moved || span.begin != begin || span.end != end;
    span.begin = begin;
    span.end = end;
  }
  return moved;
}

}  // namespace

Timeline perturbed(const Timeline& run, const Changes& delays, const Changes& longer) {
  Timeline result = run;
  result.measured = true;
  while (push_back(result, run, delays, longer)) {
  }
  result.makespan = 0;
  for (const Span& span : result.spans) result.makespan = std::max(result.makespan, span.end);
  return result;
}

}  // namespace debubble::testing
