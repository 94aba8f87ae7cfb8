// PyTorch's compute_comms schedule table (CSV): a compute-only table with every transfer and collective in it.
//
//     0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1
//     1RECV_F0,1RECV_F1,1F0,1B0,1SEND_B0,1F1,1B1,1SEND_B1
//
// SEND names the producing stage, RECV the consuming one. UNSHARD, RESHARD and REDUCE_GRAD name a stage alone. Since
// PyTorch 2.15 each SEND and REDUCE_GRAD has a WAIT_SEND_F, WAIT_SEND_B or WAIT_REDUCE_GRAD behind it.
#pragma once

#include <string>
#include <string_view>

#include "schedules/exchange/compute_table_cells.hpp"
#include "sim/core/schedule.hpp"

namespace debubble {

// Cells verbatim, LF line ends; idle cells are empty.
[[nodiscard]] std::string write_action_table(const ActionTable& table);

// Reads either table without judging more than its cells; idle cells keep their places. Throws InputError with the
// place of each cell that is not valid.
[[nodiscard]] ActionTable read_action_table(std::string_view text, const std::string& name);

// Reads a table strictly. Its compute must be a whole schedule (as read_compute_table has it), with each stage on one
// device; every hand-over between devices has its SEND after the producer and its RECV before the consumer, once;
// two devices send and receive in the same order; nobody waits for ever. The result is the compute schedule; notes say
// where devices would wait for ever if every transfer held both until both are there, and where the table's
// communication is not what PyTorch's loader would have added. The schedule's receives are the table's.
[[nodiscard]] Schedule read_comms_table(std::string_view text, const std::string& name);

// Whether the text has a word of communication in it.
[[nodiscard]] bool is_comms_table(std::string_view text);

// Reads whichever of the two the text is.
[[nodiscard]] Schedule read_schedule_table(std::string_view text, const std::string& name);

}  // namespace debubble
