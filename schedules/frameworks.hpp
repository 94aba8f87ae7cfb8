// The frameworks that a person trains with, and which schedules they run today.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "sim/core/p2p.hpp"

namespace debubble {

// Those that a choice is made for: a comparison names the best that each of them runs.
inline constexpr std::array<const char*, 3> kFrameworks{"Megatron-LM", "torchtitan", "DeepSpeed"};

// What a flag may call them, in lower case; the names that people write ("Megatron-LM", "PyTorch") are read, too.
inline constexpr std::string_view kFrameworkWords =
    "megatron|torchtitan|deepspeed|pytorch|primus|paddle|mindspeed|mindspore|maxtext|colossalai|nanotron";

// "Megatron-LM" of "megatron", "Megatron-LM" or "megatron-core"; nothing for what is none of them.
[[nodiscard]] std::optional<std::string> framework_named(std::string_view word);

// Whether a catalog row's "frameworks" name this one itself, at the start of a part: not "the authors' fork of
// Megatron-LM", nor one that stands after "with other rows".
[[nodiscard]] bool names_framework(const std::string& frameworks, const std::string& framework);

// The parameter by which a schedule's order is the framework's own: "backward=ascending"; empty: as it is.
[[nodiscard]] std::string_view own_order(std::string_view framework, std::string_view schedule);

// Whether more than p microbatches pass a virtual stage before the next one's turn. `group`: that parameter of an
// interleaved schedule, as text; empty: p.
[[nodiscard]] bool has_large_groups(const std::string& schedule, const std::string& group, int devices);

// How that framework's runtime has the messages of a schedule meet its compute. PyTorch: 1F1B sends and receives fused
// between ops, all other classes post receives where their table has them. Megatron-LM: 1F1B in fused exchanges, beside
// compute where virtual stages interleave. DeepSpeed: one rendezvous after another.
// With large groups Megatron-LM joins its exchanges, unless --overlap-p2p-communication-warmup-flush. Primus and
// MindSpeed run Megatron-LM's functions; what the others do is not known here: overlapped.
[[nodiscard]] P2p transfers_in(const std::string& framework, const std::string& schedule, bool large_groups);

}  // namespace debubble
