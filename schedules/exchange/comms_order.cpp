// The part of the comms check that looks at devices together: the order of messages between two of them, and whether
// all rows come to their end.
#include <algorithm>
#include <map>
#include <utility>

#include "schedules/exchange/comms_check.hpp"

namespace debubble {
namespace {

constexpr std::int32_t kNoAction = -1;

class OrderCheck {
 public:
  OrderCheck(const ActionTable& table, const std::vector<CommsMessage>& messages) : table_(table), messages_(messages) {
    for (const auto& row : table_) message_at_.emplace_back(row.size(), kNoAction);
    waited_at_ = message_at_;
    for (std::size_t k = 0; k < messages_.size(); ++k) {
      const CommsMessage& message = messages_[k];
      message_at_[at(message.from)][at(message.sent_at)] = static_cast<std::int32_t>(k);
      message_at_[at(message.to)][at(message.received_at)] = static_cast<std::int32_t>(k);
      if (message.waited_at >= 0) {
        waited_at_[at(message.from)][at(message.waited_at)] = static_cast<std::int32_t>(k);
        waits_ = true;
      }
    }
    find_arrivals();
  }

  CommsOrder run() {
    check_pairs();
    if (!result_.problems.empty()) return std::move(result_);
    if (!runs_to_the_end(false)) {
      const auto [row, text] = told_wait(false);
      result_.problems.push_back({static_cast<std::int64_t>(row), next_[row], "T011", text,
                                  "each device runs its row strictly in order: reorder one of these rows"});
    } else if (!runs_to_the_end(true)) {
      result_.unbuffered = told_wait(true).second;
    }
    return std::move(result_);
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] static std::string where(std::int32_t row, std::int32_t cell) {
    return "row " + std::to_string(row + 1) + ", cell " + std::to_string(cell + 1);
  }

  // Between two devices there is one channel each way: the first receive gets what was sent first.
  void check_pairs() {
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const CommsMessage*>> channels;
    for (const CommsMessage& message : messages_) channels[{message.from, message.to}].push_back(&message);
    for (auto& [ends, sent] : channels) {
      std::sort(sent.begin(), sent.end(), [](const auto* a, const auto* b) { return a->sent_at < b->sent_at; });
      std::vector<const CommsMessage*> received = sent;
      std::sort(received.begin(), received.end(),
                [](const auto* a, const auto* b) { return a->received_at < b->received_at; });
      const auto [one, other] = std::mismatch(sent.begin(), sent.end(), received.begin());
      if (one == sent.end()) continue;
      result_.problems.push_back({ends.second, (*other)->received_at, "T045",
                                  to_string((*other)->receive) + " gets " + to_string((*one)->send) + " (" +
                                      where(ends.first, (*one)->sent_at) + "), which row " +
                                      std::to_string(ends.first + 1) + " sends before " + to_string((*other)->send),
                                  "what one device sends another is received in the order of sending"});
    }
  }

  // For each cell of compute, the messages that its ops use.
  void find_arrivals() {
    for (const auto& row : table_) arrivals_.emplace_back(row.size());
    std::map<std::pair<std::int32_t, std::int32_t>, std::pair<std::int32_t, std::int32_t>> received;
    for (std::size_t k = 0; k < messages_.size(); ++k) {
      const bool forward = messages_[k].receive.kind == ActionKind::kReceiveForward;
      auto& both =
          received.try_emplace({messages_[k].receive.stage, messages_[k].receive.microbatch}, kNoAction, kNoAction)
              .first->second;
      (forward ? both.first : both.second) = static_cast<std::int32_t>(k);
    }
    for (std::size_t row = 0; row < table_.size(); ++row) {
      for (std::size_t cell = 0; cell < table_[row].size(); ++cell) {
        for (const Action& action : table_[row][cell]) {
          const bool forward = action.kind == ActionKind::kForward;
          if (!forward && action.kind != ActionKind::kBackward && action.kind != ActionKind::kInputGrad) continue;
          const auto found = received.find({action.stage, action.microbatch});
          if (found == received.end()) continue;
          const std::int32_t message = forward ? found->second.first : found->second.second;
          if (message != kNoAction) arrivals_[row][cell].push_back(message);
        }
      }
    }
  }

  // Without `rendezvous` only compute waits, for what was sent. With it both ends of a message must have been posted:
  // a batch of adjacent transfers waits for that or, in a table with waits, compute and these do.
  bool runs_to_the_end(bool rendezvous) {
    next_.assign(table_.size(), 0);
    posted_.assign(table_.size(), 0);
    bool progress = true;
    while (progress) {
      progress = false;
      for (std::size_t row = 0; row < table_.size(); ++row) progress = advance(row, rendezvous) || progress;
    }
    for (std::size_t row = 0; row < table_.size(); ++row) {
      if (next_[row] < size(row)) return false;
    }
    return true;
  }

  [[nodiscard]] std::int32_t size(std::size_t row) const { return static_cast<std::int32_t>(table_[row].size()); }

  bool advance(std::size_t row, bool rendezvous) {
    const std::int32_t before = next_[row];
    const std::int32_t posted_before = posted_[row];
    while (next_[row] < size(row)) {
      const std::int32_t end = cells_at_once(row, rendezvous);
      posted_[row] = std::max(posted_[row], end);
      if (missing(row, end, rendezvous) != kNoAction) break;
      next_[row] = end;
    }
    return next_[row] != before || posted_[row] != posted_before;
  }

  // After the last of the adjacent transfers from the next cell on; after that cell when it is not one.
  [[nodiscard]] std::int32_t cells_at_once(std::size_t row, bool rendezvous) const {
    std::int32_t end = next_[row];
    if (!rendezvous || waits_) return end + 1;
    while (end < size(row) && message_at_[row][at(end)] != kNoAction) ++end;
    return std::max(end, next_[row] + 1);
  }

  // A message that the cells up to `end` wait for, or kNone.
  [[nodiscard]] std::int32_t missing(std::size_t row, std::int32_t end, bool rendezvous) const {
    for (std::int32_t cell = next_[row]; cell < end; ++cell) {
      const std::int32_t own = rendezvous ? met_at(row, cell) : kNoAction;
      if (own != kNoAction && !both_posted(own)) return own;
      if (rendezvous && !waits_) continue;
      for (const std::int32_t message : arrivals_[row][at(cell)]) {
        const CommsMessage& needed = messages_[at(message)];
        if (rendezvous ? !both_posted(message) : needed.sent_at >= next_[at(needed.from)]) return message;
      }
    }
    return kNoAction;
  }

  // The message whose two ends must meet at a cell.
  [[nodiscard]] std::int32_t met_at(std::size_t row, std::int32_t cell) const {
    return waits_ ? waited_at_[row][at(cell)] : message_at_[row][at(cell)];
  }

  [[nodiscard]] bool both_posted(std::int32_t k) const {
    const CommsMessage& message = messages_[at(k)];
    return message.sent_at < posted_[at(message.from)] && message.received_at < posted_[at(message.to)];
  }

  // Every row that has not ended waits for another that has not, so following them comes back. The first of these rows.
  [[nodiscard]] std::pair<std::size_t, std::string> told_wait(bool rendezvous) const {
    std::size_t row = 0;
    while (next_[row] == size(row)) ++row;
    std::vector<std::size_t> path;
    while (std::find(path.begin(), path.end(), row) == path.end()) {
      path.push_back(row);
      row = other_end(row, rendezvous);
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), row));
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    std::string text = "the devices wait for each other";
    text += rendezvous ? " where transfers are not buffered:" : ":";
    for (std::size_t k = 0; k < path.size(); ++k) {
      const CommsMessage& message = awaited(path[k], rendezvous);
      const bool sender = message.from == static_cast<std::int32_t>(path[k]);
      const std::size_t next = path[(k + 1) % path.size()];
      text += (k == 0 ? " " : "; ") + std::string("row ") + std::to_string(path[k] + 1) + " waits at cell " +
              std::to_string(next_[path[k]] + 1) + " (" + to_string(table_[path[k]][at(next_[path[k]])]) + ") for " +
              to_string(sender ? message.receive : message.send) + ", which row " + std::to_string(next + 1) +
              " has after cell " + std::to_string(next_[next] + 1);
    }
    return {path[0], std::move(text)};
  }

  [[nodiscard]] const CommsMessage& awaited(std::size_t row, bool rendezvous) const {
    return messages_[at(missing(row, cells_at_once(row, rendezvous), rendezvous))];
  }
  [[nodiscard]] std::size_t other_end(std::size_t row, bool rendezvous) const {
    const CommsMessage& message = awaited(row, rendezvous);
    return at(message.from == static_cast<std::int32_t>(row) ? message.to : message.from);
  }

  const ActionTable& table_;
  const std::vector<CommsMessage>& messages_;
  std::vector<std::vector<std::int32_t>> message_at_;             // by row and cell: the message it is an end of
  std::vector<std::vector<std::int32_t>> waited_at_;              // by row and cell: the message it waits for
  std::vector<std::vector<std::vector<std::int32_t>>> arrivals_;  // by row and cell: the messages its ops use
  std::vector<std::int32_t> next_;                                // by row: the first cell that is not done
  std::vector<std::int32_t> posted_;                              // by row: cells that were reached
  bool waits_ = false;                                            // the table waits for its sends where it says
  CommsOrder result_;
};

}  // namespace

CommsOrder check_comms_order(const ActionTable& table, const std::vector<CommsMessage>& messages) {
  return OrderCheck(table, messages).run();
}

}  // namespace debubble
