#include "live/mpi/control_line.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "live/mpi/frame.hpp"

namespace debubble::live {

namespace {

constexpr int kControlRounds = 2000;  // then others need the core more

}  // namespace

std::list<ControlLine::Transfer>& ControlLine::left_behind() {
  static auto* const transfers = new std::list<Transfer>;
  return *transfers;
}

ControlLine::~ControlLine() {
  static std::mutex mutex;  // ranks may be threads
  const std::lock_guard lock(mutex);
  for (std::list<Transfer>* const transfers : {&sending_, &receiving_}) {
    left_behind().splice(left_behind().end(), *transfers);
  }
}

void ControlLine::send(int to, const LetterWriter& letter) {
  Transfer transfer{0, to, std::vector<std::byte>(whole_blocks(letter.bytes().size()))};
  if (!letter.bytes().empty()) std::memcpy(transfer.bytes.data(), letter.bytes().data(), letter.bytes().size());
  sending_.push_back(std::move(transfer));
  Transfer& kept = sending_.back();
  kept.request = passing_.send(MessagePassing::kEverybody, to, kept.bytes.data(), kept.bytes.size());
}

void ControlLine::send_to_all_others(const LetterWriter& letter) {
  for (int rank = 0; rank < passing_.size(); ++rank) {
    if (rank != passing_.rank()) send(rank, letter);
  }
}

void ControlLine::look() {
  sending_.remove_if([this](const Transfer& transfer) { return passing_.done(transfer.request); });
  int from = 0;
  const std::int64_t bytes = passing_.arrived(MessagePassing::kEverybody, from);
  if (bytes < 0) return;
  receiving_.push_back({0, from, std::vector<std::byte>(static_cast<std::size_t>(bytes))});
  Transfer& kept = receiving_.back();
  kept.request = passing_.receive(kept.bytes.data(), kept.bytes.size());
}

// Only ever the oldest, so that the order stays.
std::optional<ControlLine::Mail> ControlLine::arrival() {
  look();
  if (receiving_.empty() || !passing_.done(receiving_.front().request)) return std::nullopt;
  Transfer transfer = std::move(receiving_.front());
  receiving_.pop_front();
  return Mail{transfer.peer, LetterReader(std::move(transfer.bytes))};
}

std::optional<ControlLine::Mail> ControlLine::next() {
  if (kept_.empty()) return arrival();
  Mail mail = std::move(kept_.front());
  kept_.pop_front();
  return mail;
}

ControlLine::Mail ControlLine::wait(int from) {
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [from](const Mail& mail) { return from == kAnybody || mail.from == from; });
  if (kept != kept_.end()) {
    Mail mail = std::move(*kept);
    kept_.erase(kept);
    return mail;
  }
  for (int round = 0;; ++round) {
    if (std::optional<Mail> mail = arrival()) {
      if (from == kAnybody || mail->from == from) return std::move(*mail);
      kept_.push_back(std::move(*mail));
    } else if (round < kControlRounds) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void ControlLine::flush() {
  while (!sending_.empty()) {
    look();
    std::this_thread::yield();
  }
}

}  // namespace debubble::live
