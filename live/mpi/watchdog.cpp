#include "live/mpi/watchdog.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/at.hpp"

namespace debubble::live {

namespace {

MessageWriter status_message(std::int64_t type, const DeviceStatus& status) {
  MessageWriter writer;
  writer.number(type);
  write(writer, status);
  return writer;
}

}  // namespace

Watchdog::Watchdog(MessagePassing& passing, ControlChannel& channel, Mailbox& mailbox, Nanoseconds patience)
    : passing_(passing),
      channel_(channel),
      mailbox_(mailbox),
      patience_(patience),
      ranks_(static_cast<std::size_t>(passing.size()), MessageType::kMoving),
      statuses_(static_cast<std::size_t>(passing.size())) {}

std::optional<Outcome> Watchdog::poll() {
  check_own_work();
  while (!outcome_.has_value()) {  // messages after the outcome belong to the next phase of the run
    std::optional<ControlChannel::Received> received = channel_.next();
    if (!received.has_value()) break;
    read(std::move(*received));
  }
  return outcome_;
}

void Watchdog::check_own_work() {
  if (last_sent_ == MessageType::kEnded || last_sent_ == MessageType::kFailed) return;
  if (mailbox_.has_ended()) return send_state(MessageType::kEnded);
  const auto since = mailbox_.waiting_since();
  const bool stuck = since.has_value() && std::chrono::steady_clock::now() - *since > patience_;
  const MessageType now = stuck ? MessageType::kStuck : MessageType::kMoving;
  if (now != last_sent_) send_state(now);
}

void Watchdog::send_state(MessageType type) {
  last_sent_ = type;
  if (passing_.rank() == 0) return update(0, type, mailbox_.status());
  channel_.send(0, status_message(static_cast<std::int64_t>(type), mailbox_.status()));
}

void Watchdog::failed(const Failure& failure) {
  last_sent_ = MessageType::kFailed;
  if (passing_.rank() == 0) return decide({Outcome::Kind::kFailed, statuses_, failure});
  MessageWriter writer = status_message(static_cast<std::int64_t>(MessageType::kFailed), mailbox_.status());
  write(writer, failure);
  channel_.send(0, writer);
}

bool Watchdog::all_stopped() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](MessageType state) { return state == MessageType::kEnded || state == MessageType::kStuck; });
}

void Watchdog::update(int rank, MessageType type, const DeviceStatus& status) {
  at(ranks_, rank) = type;
  at(statuses_, rank) = status;
  if (replies_.has_value() || !all_stopped()) return;
  if (std::find(ranks_.begin(), ranks_.end(), MessageType::kStuck) == ranks_.end()) {
    return decide({Outcome::Kind::kComplete, statuses_, {}});
  }
  probe_all();
}

void Watchdog::probe_all() {
  replies_ = 0;
  channel_.send_to_all_others(status_message(static_cast<std::int64_t>(MessageType::kProbe), {}));
  if (passing_.size() == 1) decide({Outcome::Kind::kStalled, statuses_, {}});
}

void Watchdog::reply_to_probe() {
  check_own_work();
  MessageWriter writer = status_message(static_cast<std::int64_t>(MessageType::kProbeReply), mailbox_.status());
  writer.number(static_cast<std::int64_t>(last_sent_));
  channel_.send(0, writer);
}

void Watchdog::read(ControlChannel::Received received) {
  MessageType type{};
  received.message.into(type);
  if (type == MessageType::kOutcome) return read_outcome(received.message);
  const DeviceStatus status = read_status(received.message);
  if (type == MessageType::kProbe) return reply_to_probe();
  if (type == MessageType::kFailed) return failed(read_failure(received.message));
  if (type != MessageType::kProbeReply) return update(received.from, type, status);
  received.message.into(at(ranks_, received.from));
  at(statuses_, received.from) = status;
  if (++*replies_ < passing_.size() - 1) return;
  // All replies are in, and this rank's own state is read again with them. A rank that is stuck has been so for
  // `patience` up to its reply; so unless the probe itself took longer, there was a moment when no rank was at work.
  check_own_work();
  replies_.reset();
  if (!all_stopped()) return;
  const bool stuck = std::find(ranks_.begin(), ranks_.end(), MessageType::kStuck) != ranks_.end();
  decide({stuck ? Outcome::Kind::kStalled : Outcome::Kind::kComplete, statuses_, {}});
}

void Watchdog::read_outcome(MessageReader& reader) {
  Outcome outcome;
  reader.into(outcome.kind);
  for (int rank = 0; rank < passing_.size(); ++rank) outcome.statuses.push_back(read_status(reader));
  outcome.failure = read_failure(reader);
  outcome_ = std::move(outcome);
}

// kLeaving is a rank's last message, and messages of a rank arrive in order: after it none of its sends is in flight.
void Watchdog::drain() {
  if (passing_.rank() == 0) {
    for (int left = passing_.size() - 1; left > 0;) {
      MessageType type{};
      channel_.wait().message.into(type);
      if (type == MessageType::kLeaving) --left;
    }
  } else {
    channel_.send(0, status_message(static_cast<std::int64_t>(MessageType::kLeaving), {}));
  }
  channel_.flush();
}

// Rank 0 only; the first decision counts.
void Watchdog::decide(Outcome outcome) {
  if (outcome_.has_value()) return;
  outcome_ = std::move(outcome);
  MessageWriter writer;
  writer.number(static_cast<std::int64_t>(MessageType::kOutcome)).number(static_cast<std::int64_t>(outcome_->kind));
  for (const DeviceStatus& status : outcome_->statuses) write(writer, status);
  write(writer, outcome_->failure);
  channel_.send_to_all_others(writer);
}

}  // namespace debubble::live
