// Slices of a sequence: how a microbatch is cut along its tokens, and what each slice costs.
//
// With causal attention a slice needs only the tokens before it, so later slices of the same length cost more. In
// tokens without context, a slice of `length` tokens after `context` others costs
//
//     overhead + length (1 + attention (context + (length + 1) / 2))          Li et al., TeraPipe, ICML 2021
//
// All of it in whole numbers: one token is kTokenCost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/common/contract.hpp"

namespace debubble {

inline constexpr std::int64_t kMillionth = 1'000'000;  // what decimal_param calls 1
inline constexpr std::int64_t kTokenCost = 2 * kMillionth;

struct SliceCost {
  std::int64_t overhead = 0;   // of every slice, in millionths of a token
  std::int64_t attention = 0;  // what each earlier token adds to a token, in millionths
};

[[nodiscard]] std::int64_t slice_cost(const SliceCost& cost, std::int64_t length, std::int64_t context);

// Of slices that follow one another from the first token on.
[[nodiscard]] std::vector<std::int64_t> slice_costs(const SliceCost& cost, const std::vector<int>& lengths);

// `tokens` cut into `slices` lengths that differ by one at most, the longer ones first.
[[nodiscard]] std::vector<int> even_lengths(int tokens, int slices);

// Lengths of equal computation, found from the end: each slice takes as many tokens as cost no more than total /
// slices; the first takes the rest. A length may be 0 where the tokens do not suffice.
[[nodiscard]] std::vector<int> balanced_lengths(int tokens, int slices, const SliceCost& cost);

// The costs as Schedule::piece_shares: in lowest terms, and within what their sum may be. Empty where all are alike.
[[nodiscard]] std::vector<std::int64_t> as_shares(std::vector<std::int64_t> costs);

// A decimal number of at most six places as millionths, or `fallback` where it was not given. Throws InputError for
// anything else and for more than `most`.
[[nodiscard]] std::int64_t decimal_param(const ScheduleRequest& request, const std::string& name, std::int64_t fallback,
                                         std::int64_t most);
// A list of them, "0.5,1.5", each more than nothing.
[[nodiscard]] std::vector<std::int64_t> decimal_list_param(const ScheduleRequest& request, const std::string& name,
                                                           std::int64_t most);
// A list of lengths, "7,5,4": whole numbers of at least 1.
[[nodiscard]] std::vector<int> lengths_param(const ScheduleRequest& request, const std::string& name);

[[nodiscard]] std::string decimal_text(std::int64_t millionths);    // "0.1"
[[nodiscard]] std::string joined(const std::vector<int>& lengths);  // "7,5,4"

// Where nobody says how many slices there are.
inline constexpr int kDefaultSlices = 4;
// `slices` as a count, kDefaultSlices where it was not given, and `tokens`, which must be given, of so many slices.
[[nodiscard]] int slice_count_param(const ScheduleRequest& request);
[[nodiscard]] int token_count_param(const ScheduleRequest& request, int slices);

// Cuts every microbatch of an empty schedule into `slices`; refuses what would become too large.
void cut_into_slices(Schedule& schedule, int slices, std::vector<std::int64_t> shares);

// Says in a note what slices of equal cost leave out.
void note_equal_slices(Schedule& schedule);

}  // namespace debubble
