#include "live/mpi/all_or_none.hpp"

#include <exception>
#include <optional>
#include <string>
#include <thread>

#include "live/mpi/failure.hpp"

namespace debubble::live {

namespace {

MessageWriter failure_message(const std::optional<Failure>& failure) {
  MessageWriter writer;
  write(writer, failure);
  return writer;
}

std::optional<Failure> read_message(ControlChannel::Received received) {
  return read<std::optional<Failure>>(received.message);
}

// Every other rank sends rank 0 exactly one message, when its work has ended or when the verdict arrives before that,
// and receives exactly one, the verdict. So when `run` returns no message of this exchange is left in the channel.
class Deciding {
 public:
  Deciding(MessagePassing& passing, ControlChannel& channel, const std::function<bool()>& poll)
      : passing_(passing), channel_(channel), poll_(poll) {}

  void run() {
    while (passing_.rank() == 0 ? !lead() : !follow()) std::this_thread::yield();
    channel_.flush();
    if (failure_.has_value()) raise(*failure_);
  }

 private:
  void work() {
    if (ended_) return;
    try {
      ended_ = poll_();
    } catch (...) {
      ended_ = true;
      const std::string who = "rank " + std::to_string(passing_.rank()) + " on " + passing_.host();
      failure_ = failure_of(std::current_exception(), who);
    }
  }

  bool lead() {
    if (!sent_) work();
    while (received_ < passing_.size() - 1) {
      std::optional<ControlChannel::Received> received = channel_.next();
      if (!received.has_value()) break;
      const std::optional<Failure> other = read_message(std::move(*received));
      if (!failure_.has_value()) failure_ = other;
      ++received_;
    }
    const bool all_received = received_ == passing_.size() - 1;
    if (!sent_ && (failure_.has_value() || (ended_ && all_received))) {
      sent_ = true;
      channel_.send_to_all_others(failure_message(failure_));
    }
    return sent_ && all_received;
  }

  bool follow() {
    work();
    if (ended_ && !sent_) send_own();
    std::optional<ControlChannel::Received> verdict = channel_.next();
    if (!verdict.has_value()) return false;
    if (!sent_) send_own();
    failure_ = read_message(std::move(*verdict));
    return true;
  }

  void send_own() {
    sent_ = true;
    channel_.send(0, failure_message(failure_));
  }

  MessagePassing& passing_;
  ControlChannel& channel_;
  const std::function<bool()>& poll_;
  std::optional<Failure> failure_;
  bool ended_ = false;
  bool sent_ = false;
  int received_ = 0;
};

}  // namespace

void all_or_none_polling(MessagePassing& passing, ControlChannel& channel, const std::function<bool()>& poll) {
  Deciding(passing, channel, poll).run();
}

void all_or_none(MessagePassing& passing, ControlChannel& channel, const std::function<void()>& work) {
  all_or_none_polling(passing, channel, [&work] {
    work();
    return true;
  });
}

}  // namespace debubble::live
