// What Megatron-LM's interleaved 1F1B posts and waits for between two passes of a device, by its own code
// (forward_backward_pipelining_with_interleaving of megatron-core 0.19): after each pass one exchange of what it made
// and of what the device before (or, going back, after) it made in that step. In warm-up and cool-down the device waits
// for the whole exchange before its next pass, in the steady phase for what that pass needs alone. The first device
// receives from the last one, and the last from the first, p - 1 passes after these were made: where groups hold more
// than p microbatches long before their use.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/core/timeline.hpp"
#include "sim/rows/exchange_slots.hpp"
#include "sim/rows/op_index.hpp"
#include "sim/rows/posted_receives.hpp"

namespace debubble {

// Nothing for other orders: those of several stages of a loop per device with one replica, in which all devices run the
// same number of forwards and of backwards.
[[nodiscard]] std::optional<Posting> joined_exchanges(const OpIndex& ops);

// What the exchanges of coupled transfers (sim/core/p2p.hpp) receive beside the inputs of the slot behind each: with
// --no-overlap-p2p-communication the same messages are waited for in every phase, an exchange behind each slot
// (exchange_slots.hpp). Where a device's last forward belongs to its warm-up, its first gradient has an exchange of its
// own behind that of this forward.
struct CoupledReceives {
  // By the first id of a slot: ops behind that slot whose inputs the exchange in front of it receives.
  std::map<std::int32_t, std::vector<std::int32_t>> early;
  std::vector<bool> is_early;       // by op
  std::vector<std::int32_t> apart;  // by device: the op whose input is received in an exchange of its own; -1: none

  // The ops whose inputs, where they come from another device, the exchange before that slot receives.
  [[nodiscard]] std::vector<std::int32_t> users(std::int32_t slot_begin, std::int32_t slot_end) const;
};
// Of other orders all is as in `users` of a slot alone.
[[nodiscard]] CoupledReceives coupled_receives(const OpIndex& ops, const ExchangeSlots& slots);

// By span of a run: the last one of its slot, and the first of the slot before which its input is received. `rows`: by
// device, its spans in running order.
struct SpanSlots {
  std::vector<std::int32_t> last;
  std::vector<std::int32_t> received;
  std::vector<bool> apart;  // its input is received once all others of the exchange have met
};
[[nodiscard]] SpanSlots slots_of_spans(const Schedule& schedule, const Timeline& timeline,
                                       const std::vector<std::vector<std::int32_t>>& rows);

}  // namespace debubble
