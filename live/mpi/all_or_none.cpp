#include "live/mpi/all_or_none.hpp"

#include <exception>
#include <optional>
#include <string>
#include <thread>

#include "live/mpi/failure.hpp"

namespace debubble::live {

namespace {

LetterWriter failure_letter(const std::optional<Failure>& failure) {
  LetterWriter letter;
  letter.number(failure.has_value() ? 1 : 0);
  if (failure.has_value()) write(letter, *failure);
  return letter;
}

std::optional<Failure> read_mail(ControlLine::Mail mail) {
  if (mail.letter.number() == 0) return std::nullopt;
  return read_failure(mail.letter);
}

// Every other rank sends rank 0 one letter, when its work has ended or when somebody's has failed, and gets one.
class Deciding {
 public:
  Deciding(MessagePassing& passing, ControlLine& line, const std::function<bool()>& turn)
      : passing_(passing), line_(line), turn_(turn) {}

  void run() {
    while (passing_.rank() == 0 ? !lead() : !follow()) std::this_thread::yield();
    line_.flush();
    if (failure_.has_value()) raise(*failure_);
  }

 private:
  void work() {
    if (ended_) return;
    try {
      ended_ = turn_();
    } catch (...) {
      ended_ = true;
      const std::string who = "rank " + std::to_string(passing_.rank()) + " on " + passing_.host();
      failure_ = failure_of(std::current_exception(), who);
    }
  }

  bool lead() {
    if (!told_) work();
    while (heard_ < passing_.size() - 1) {
      std::optional<ControlLine::Mail> mail = line_.next();
      if (!mail.has_value()) break;
      const std::optional<Failure> other = read_mail(std::move(*mail));
      if (!failure_.has_value()) failure_ = other;
      ++heard_;
    }
    const bool all_heard = heard_ == passing_.size() - 1;
    if (!told_ && (failure_.has_value() || (ended_ && all_heard))) {
      told_ = true;
      line_.send_to_all_others(failure_letter(failure_));
    }
    return told_ && all_heard;
  }

  bool follow() {
    work();
    if (ended_ && !told_) tell();
    std::optional<ControlLine::Mail> verdict = line_.next();
    if (!verdict.has_value()) return false;
    if (!told_) tell();
    failure_ = read_mail(std::move(*verdict));
    return true;
  }

  void tell() {
    told_ = true;
    line_.send(0, failure_letter(failure_));
  }

  MessagePassing& passing_;
  ControlLine& line_;
  const std::function<bool()>& turn_;
  std::optional<Failure> failure_;
  bool ended_ = false;
  bool told_ = false;
  int heard_ = 0;
};

}  // namespace

void all_or_none_by_turns(MessagePassing& passing, ControlLine& line, const std::function<bool()>& turn) {
  Deciding(passing, line, turn).run();
}

void all_or_none(MessagePassing& passing, ControlLine& line, const std::function<void()>& work) {
  all_or_none_by_turns(passing, line, [&work] {
    work();
    return true;
  });
}

}  // namespace debubble::live
