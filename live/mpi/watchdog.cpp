#include "live/mpi/watchdog.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "live/mpi/stopped_ranks.hpp"
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
      most_silence_(most_silence(patience)),
      heard_(static_cast<std::size_t>(passing.size())),
      ranks_(static_cast<std::size_t>(passing.size()), MessageType::kMoving),
      statuses_(static_cast<std::size_t>(passing.size())) {}

std::optional<Outcome> Watchdog::poll() {
  check_own_work();
  give_signs_of_life();
  while (!outcome_.has_value()) {  // messages after the outcome belong to the next phase of the run
    std::optional<ControlChannel::Received> received = channel_.next();
    if (!received.has_value()) break;
    read(std::move(*received));
  }
  if (!outcome_.has_value()) look_for_silence(Clock::now());
  return outcome_;
}

void Watchdog::give_signs_of_life() {
  constexpr int kSigns = 4;  // within the longest silence
  if (outcome_.has_value() || Clock::now() - spoke_ < most_silence_ / kSigns) return;
  spoke_ = Clock::now();
  const MessageWriter sign = status_message(static_cast<std::int64_t>(MessageType::kAlive), mailbox_.status());
  if (passing_.rank() == 0) {
    channel_.send_to_all_others(sign);
  } else {
    channel_.send(0, sign);
  }
}

// Who has not been heard yet is still in MPI's start, where others may keep it (stopped_ranks.hpp).
bool Watchdog::is_silent(int rank, Clock::time_point now, std::chrono::nanoseconds longest) const {
  const std::optional<Clock::time_point>& heard = at(heard_, rank);
  return heard.has_value() && now - *heard > longest;
}

void Watchdog::look_for_silence(Clock::time_point now) {
  // Whoever was stopped itself, maybe with the whole job, has heard nothing meanwhile.
  const bool was_away = now - polled_ > most_silence_ / 2;
  for (std::optional<Clock::time_point>& heard : heard_) {
    if (was_away && heard.has_value()) heard = now;
  }
  polled_ = now;
  if (passing_.rank() == 0) {
    std::vector<int> silent;
    for (int rank = 1; rank < passing_.size(); ++rank) {
      if (is_silent(rank, now, most_silence_)) silent.push_back(rank);
    }
    if (silent.empty()) return;
    statuses_.front() = mailbox_.status();
    for (const int rank : silent) at(statuses_, rank).waits = false;  // whatever for: it says no more
    decide({Outcome::Kind::kStalled, statuses_, {}, std::move(silent)});
    return;
  }
  // One after the other, so that the first one speaks for all: it ends the job.
  constexpr int kMostTurns = 20;
  const auto turn = std::chrono::milliseconds(100) * std::min(passing_.rank() - 1, kMostTurns);
  if (!is_silent(0, now, most_silence_ + turn)) return;
  throw std::runtime_error("rank 0 has given no sign of life for " + whole_seconds(most_silence_.count()) +
                           ": its process is stopped, or its host is out of reach; the run ends");
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
  if (passing_.rank() == 0) return decide({Outcome::Kind::kFailed, statuses_, failure, {}});
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
    return decide({Outcome::Kind::kComplete, statuses_, {}, {}});
  }
  probe_all();
}

void Watchdog::probe_all() {
  replies_ = 0;
  channel_.send_to_all_others(status_message(static_cast<std::int64_t>(MessageType::kProbe), {}));
  if (passing_.size() == 1) decide({Outcome::Kind::kStalled, statuses_, {}, {}});
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
  at(heard_, received.from) = Clock::now();
  if (type == MessageType::kOutcome) return read_outcome(received.message);
  const auto status = live::read<DeviceStatus>(received.message);
  if (type == MessageType::kAlive) {
    at(statuses_, received.from) = status;
    return;
  }
  if (type == MessageType::kProbe) return reply_to_probe();
  if (type == MessageType::kFailed) return failed(live::read<Failure>(received.message));
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
  decide({stuck ? Outcome::Kind::kStalled : Outcome::Kind::kComplete, statuses_, {}, {}});
}

void Watchdog::read_outcome(MessageReader& reader) { outcome_ = live::read<Outcome>(reader); }

// kLeaving is a rank's last message of the watchdog, and messages of a rank arrive in order: after it none of them is
// in flight. What a faster rank has sent since stays in the channel.
void Watchdog::drain() {
  const std::vector<int>& silent = outcome_->silent;
  if (passing_.rank() == 0) {
    for (int rank = 1; rank < passing_.size(); ++rank) {
      if (std::find(silent.begin(), silent.end(), rank) != silent.end()) {
        channel_.abandon(rank);
        continue;
      }
      for (MessageType type{}; type != MessageType::kLeaving;) channel_.wait(rank).message.into(type);
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
  writer.number(static_cast<std::int64_t>(MessageType::kOutcome));
  write(writer, *outcome_);
  channel_.send_to_all_others(writer);
}

}  // namespace debubble::live
