#include "live/mpi/control_channel.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "live/mpi/frame.hpp"

namespace debubble::live {

namespace {

constexpr int kQuickRounds =
    2000;  // of polling with the core yielded; after that the thread sleeps, since ranks may outnumber cores

}  // namespace

std::list<ControlChannel::Transfer>& ControlChannel::abandoned() {
  static auto* const transfers = new std::list<Transfer>;  // NOLINT(cppcoreguidelines-owning-memory)
  return *transfers;
}

ControlChannel::~ControlChannel() {
  abandon_if(sending_, [](const Transfer&) { return true; });
  abandon_if(receiving_, [](const Transfer&) { return true; });
}

void ControlChannel::abandon(int rank) {
  abandon_if(sending_, [rank](const Transfer& transfer) { return transfer.peer == rank; });
}

template <typename Condition>
void ControlChannel::abandon_if(std::list<Transfer>& transfers, const Condition& condition) {
  static std::mutex mutex;  // in tests ranks are threads of one process
  const std::lock_guard lock(mutex);
  for (auto next = transfers.begin(); next != transfers.end();) {
    const auto transfer = next++;
    if (condition(*transfer)) abandoned().splice(abandoned().end(), transfers, transfer);
  }
}

void ControlChannel::send(int to, const MessageWriter& writer) {
  Transfer transfer{0, to, std::vector<std::byte>(whole_blocks(writer.bytes().size()))};
  if (!writer.bytes().empty()) std::memcpy(transfer.bytes.data(), writer.bytes().data(), writer.bytes().size());
  sending_.push_back(std::move(transfer));
  Transfer& kept = sending_.back();
  kept.request = passing_.send(MessagePassing::kAllRanks, to, kept.bytes.data(), kept.bytes.size());
}

void ControlChannel::send_to_all_others(const MessageWriter& writer) {
  for (int rank = 0; rank < passing_.size(); ++rank) {
    if (rank != passing_.rank()) send(rank, writer);
  }
}

void ControlChannel::poll() {
  sending_.remove_if([this](const Transfer& transfer) { return passing_.done(transfer.request); });
  int from = 0;
  const std::int64_t bytes = passing_.arrived(MessagePassing::kAllRanks, from);
  if (bytes < 0) return;
  receiving_.push_back({0, from, std::vector<std::byte>(static_cast<std::size_t>(bytes))});
  Transfer& kept = receiving_.back();
  kept.request = passing_.receive(kept.bytes.data(), kept.bytes.size());
}

// MPI completes receives in any order; taking only the oldest keeps the order of arrival.
std::optional<ControlChannel::Received> ControlChannel::arrival() {
  poll();
  if (receiving_.empty() || !passing_.done(receiving_.front().request)) return std::nullopt;
  Transfer transfer = std::move(receiving_.front());
  receiving_.pop_front();
  return Received{transfer.peer, MessageReader(std::move(transfer.bytes))};
}

std::optional<ControlChannel::Received> ControlChannel::next() {
  if (kept_.empty()) return arrival();
  Received received = std::move(kept_.front());
  kept_.pop_front();
  return received;
}

ControlChannel::Received ControlChannel::wait(int from) {
  const auto kept = std::find_if(kept_.begin(), kept_.end(), [from](const Received& received) {
    return from == kAnyRank || received.from == from;
  });
  if (kept != kept_.end()) {
    Received received = std::move(*kept);
    kept_.erase(kept);
    return received;
  }
  for (int round = 0;; ++round) {
    if (std::optional<Received> received = arrival()) {
      if (from == kAnyRank || received->from == from) return std::move(*received);
      kept_.push_back(std::move(*received));
    } else if (round < kQuickRounds) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void ControlChannel::flush() {
  while (!sending_.empty()) {
    poll();
    std::this_thread::yield();
  }
}

}  // namespace debubble::live
