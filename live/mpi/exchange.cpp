#include "live/mpi/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

#include "live/mpi/frame.hpp"
#include "sim/core/at.hpp"

namespace debubble::live {

std::vector<std::pair<int, int>> edges_of(const Plan& plan) {
  std::set<std::pair<int, int>> edges;
  for (std::size_t device = 0; device < plan.devices.size(); ++device) {
    for (const Action& action : plan.devices[device]) {
      for (const Hop& hop : action.sends) {
        edges.insert({static_cast<int>(device), hop.peer});
        edges.insert({hop.peer, static_cast<int>(device)});
      }
    }
  }
  return {edges.begin(), edges.end()};
}

Exchange::Exchange(MessagePassing& passing, const Plan& plan, Mailbox& mailbox) : passing_(passing), mailbox_(mailbox) {
  for (const auto& [from, to] : edges_of(plan)) {
    if (from == passing_.rank()) out_[to] = passing_.open_edge(from, to);
    if (to == passing_.rank()) in_[from] = passing_.open_edge(from, to);
  }
}

std::list<Exchange::Transfer>& Exchange::abandoned() {
  static auto* const transfers = new std::list<Transfer>;  // NOLINT(cppcoreguidelines-owning-memory)
  return *transfers;
}

Exchange::~Exchange() {
  static std::mutex mutex;  // ranks may be threads
  const std::lock_guard lock(mutex);
  for (std::list<Transfer>* const transfers : {&sending_, &receiving_}) {
    abandoned().splice(abandoned().end(), *transfers);
  }
}

void Exchange::use_clock(WallClock now, std::vector<Nanoseconds> shifts) {
  now_ = std::move(now);
  shifts_ = std::move(shifts);
}

// MPI need not move messages outside of its calls, so this runs while the worker computes. Sends first: what the worker
// has put into the mailbox should leave at once.
bool Exchange::progress() {
  const bool sends = start_sends();
  const bool left = finish_sends();
  const bool seen = start_receives();
  const bool arrived = finish_receives();
  const bool met = progress_barrier();
  const bool moved = sends || left || seen || arrived || met;
  if (moved) mailbox_.set_in_flight(in_flight());
  return moved;
}

bool Exchange::start_sends() {
  bool moved = false;
  while (std::optional<Mailbox::OutgoingFrame> outgoing = mailbox_.next_outgoing()) {
    sending_.push_back({0, outgoing->to, std::move(outgoing->frame)});
    Transfer& kept = sending_.back();
    kept.request = passing_.send(out_.at(kept.peer), kept.peer, kept.frame.data(), kept.frame.size());
    moved = true;
  }
  return moved;
}

bool Exchange::finish_sends() {
  return sending_.remove_if([this](const Transfer& transfer) {
    if (!passing_.done(transfer.request)) return false;
    mailbox_.frame_sent(transfer.peer);
    return true;
  }) > 0;
}

// MPI announces a message before it is received, with its size, so a buffer is made to measure and no receive is ever
// posted for something that may not come.
bool Exchange::start_receives() {
  bool moved = false;
  for (const auto& [peer, edge] : in_) {
    int from = 0;
    for (std::int64_t bytes = 0; (bytes = passing_.arrived(edge, from)) >= 0; moved = true) {
      receiving_.push_back({0, peer, std::vector<std::byte>(static_cast<std::size_t>(bytes))});
      Transfer& kept = receiving_.back();
      kept.request = passing_.receive(kept.frame.data(), kept.frame.size());
    }
  }
  return moved;
}

bool Exchange::finish_receives() {
  return receiving_.remove_if([this](const Transfer& transfer) {
    if (!passing_.done(transfer.request)) return false;
    deliver(transfer);
    return true;
  }) > 0;
}

void Exchange::deliver(const Transfer& transfer) {
  Message message = from_frame(transfer.frame);
  if (now_) {
    const Nanoseconds shift = at(shifts_, transfer.peer);
    message.time += shift;
    message.arrival = std::max(message.arrival + shift, now_());
  }
  mailbox_.deliver(std::move(message));
}

std::size_t Exchange::in_flight() const {
  std::size_t bytes = 0;
  for (const Transfer& transfer : sending_) bytes += transfer.frame.size();
  for (const Transfer& transfer : receiving_) bytes += transfer.frame.size();
  return bytes;
}

bool Exchange::progress_barrier() {
  if (mailbox_.barrier_wanted()) barrier_ = passing_.start_barrier();
  if (!barrier_.has_value() || !passing_.done(*barrier_)) return false;
  barrier_.reset();
  mailbox_.barrier_done();
  return true;
}

}  // namespace debubble::live
