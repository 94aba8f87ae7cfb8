// Why the best of a comparison is the best, and what cannot be told apart from it, in a sentence each.
#pragma once

#include <string>
#include <vector>

#include "tools/views/compare_rows.hpp"

namespace debubble {

// "zb-h1 takes 18.2 % less time than 1f1b (bubble 11.1 % of the step against 27.3 %) at the same peak memory; ..."
[[nodiscard]] std::string reason(const CompareRow& best, const CompareRow& rival);

// The best that each framework runs: "Megatron-LM and torchtitan: interleaved v=3, 34.7 % longer than the best"; empty
// without a best.
[[nodiscard]] std::string today_text(const std::vector<CompareRow>& rows, const CompareRow* best);

// An asynchronous run that is faster than the best, and why it is not the best; empty: none is.
[[nodiscard]] std::string faster_asynchronous(const std::vector<CompareRow>& rows, const CompareRow* best);

// "a and b cannot be told apart from the fastest: ..."; empty: all can.
[[nodiscard]] std::string close_rows(const std::vector<CompareRow>& rows);

}  // namespace debubble
