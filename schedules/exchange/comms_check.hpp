// What is wrong with the communication of a compute_comms table whose compute is a whole schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/exchange/compute_table_cells.hpp"

namespace debubble {

// Row and cell are 0-based; -1: of no single cell.
struct CommsProblem {
  std::int64_t row = -1;
  std::int64_t cell = -1;
  std::string code;
  std::string message;
  std::string help;
};

// One message between two devices: where its send and its receive are.
struct CommsMessage {
  Action send;
  Action receive;
  std::int32_t from = 0;  // devices
  std::int32_t to = 0;
  std::int32_t sent_at = -1;  // cells
  std::int32_t received_at = -1;
  std::int32_t waited_at = -1;  // where the sender waits for it; none before PyTorch 2.15
};

// Every hand-over between devices that the compute asks for, and all that is wrong with single cells: what is out of
// range, on another device, twice, missing, or on the wrong side of the compute it belongs to. `device_of` is by stage.
struct CommsCells {
  std::vector<CommsMessage> messages;  // whole where there are no problems
  std::vector<CommsProblem> problems;
};
[[nodiscard]] CommsCells check_comms_cells(const ActionTable& table, const std::vector<std::int32_t>& device_of,
                                           std::int32_t microbatches);

// What is wrong with the order of messages that are all there: receives in another order than the sends of the same
// two devices (T045), and a wait that never ends (T011).
struct CommsOrder {
  std::vector<CommsProblem> problems;
  // The wait that ends only where transfers are buffered; empty: there is none. In a table without waits for sends
  // adjacent transfers of a device are one batch, which ends when each of them has met its counterpart.
  std::string unbuffered;
};
[[nodiscard]] CommsOrder check_comms_order(const ActionTable& table, const std::vector<CommsMessage>& messages);

}  // namespace debubble
