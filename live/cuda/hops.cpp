#include "live/cuda/hops.hpp"

#include <algorithm>
#include <utility>

#include "sim/core/median.hpp"

namespace debubble::live {
namespace {

constexpr std::size_t kHopRounds = 7;  // odd: a median is one of the samples
constexpr std::size_t kRepeats = 2;    // of each device's sequence, while transfers are timed

using HopEdge = std::pair<std::int32_t, std::int32_t>;  // sender, receiver

std::size_t index(std::int32_t device) { return static_cast<std::size_t>(device); }

class HopTimer {
 public:
  HopTimer(const Job& job, const GpuParts& parts, const Lanes& lanes, const Works& works, Executor& executor,
           Bench& bench, const std::vector<std::vector<Op>>& sequences)
      : job_(job),
        parts_(parts),
        lanes_(lanes),
        works_(works),
        executor_(executor),
        bench_(bench),
        sequences_(sequences) {}

  // Bytes per second beyond the first few bytes; 0: too fast to tell.
  std::int64_t bandwidth(bool busy) {
    std::vector<Nanoseconds> small;
    std::vector<Nanoseconds> large;
    for (const auto& [edge, stream] : executor_.edges()) {
      bench_.run([&, of = edge] { issue_copies(of, busy); });
      const std::vector<Nanoseconds> sent = bench_.read(edge.first);
      for (std::size_t k = 0; k + 4 <= sent.size(); k += 4) {
        small.push_back(sent[k + 1] - sent[k]);
        large.push_back(sent[k + 3] - sent[k + 2]);
      }
    }
    small_ = upper_median(small);
    const Nanoseconds longer = upper_median(large) - small_;
    const auto more = static_cast<double>(works_.front()->tensor_bytes() - Arena::kAlignment);
    return longer <= 0 ? 0 : static_cast<std::int64_t>(more / static_cast<double>(longer) * 1e9);
  }

  // From an op's end to the begin of the op that waits for its output; 0 where no two devices share a clock.
  Nanoseconds latency(bool busy) {
    std::vector<Nanoseconds> times;
    for (const auto& [edge, stream] : executor_.edges()) {
      if (lanes_[index(edge.first)]->part().gpu != lanes_[index(edge.second)]->part().gpu) continue;
      bench_.run([&, of = edge] { issue_hand_overs(of, busy); });
      const std::vector<Nanoseconds> sent = bench_.read(edge.first);
      const std::vector<Nanoseconds> got = bench_.read(edge.second);
      for (std::size_t k = 0; k < got.size(); ++k) times.push_back(got[k] - sent[3 * k]);
    }
    return upper_median(times);
  }

  [[nodiscard]] Nanoseconds small() const { return small_; }  // a small copy in the last pass

 private:
  // One of kRounds equal shares of each device's ops.
  void work(std::size_t round, std::int32_t but_not = -1) {
    for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
      if (device == but_not) continue;
      const std::vector<Op>& ops = sequences_[index(device)];
      const std::size_t all = kRepeats * ops.size();
      lanes_[index(device)]->enter();
      for (std::size_t k = all * round / kHopRounds; k < all * (round + 1) / kHopRounds; ++k) {
        works_[index(device)]->run(ops[k % ops.size()]);
      }
    }
  }

  void copy(const HopEdge& edge, Bytes bytes) {
    const auto [from, to] = edge;
    const cuda::Stream stream = executor_.transfer_stream(from, to);
    const auto& sends = executor_.trace_buffer(from).sends();
    const auto sent = std::find_if(sends.begin(), sends.end(), [&, receiver = to](const auto& each) {
      return user(job_.schedule(), each.first) == receiver;
    });
    parts_.enter(parts_.transfer_part(lanes_[index(from)]->part()));
    executor_.stamp(from, stream, bench_.next(from));
    executor_.copy(from, to, works_[index(from)]->outgoing(sent->first), works_[index(to)]->incoming(sent->first),
                   bytes);
    executor_.stamp(from, stream, bench_.next(from));
  }

  // Where the sender's stream is now, the transfer goes on.
  void leave_sender(const HopEdge& edge) {
    const LaneDevice& sender = *lanes_[index(edge.first)];
    const cuda::Event made = new_event(sender.part());
    sender.enter();
    executor_.record(made, sender.stream(), "marking an output");
    parts_.enter(parts_.transfer_part(sender.part()));
    executor_.wait_for(executor_.transfer_stream(edge.first, edge.second), made, "waiting for an output");
  }

  void issue_copies(const HopEdge& edge, bool busy) {
    for (std::size_t round = 0; round < kHopRounds; ++round) {
      leave_sender(edge);
      if (busy) work(round);
      copy(edge, Arena::kAlignment);
      copy(edge, works_[index(edge.first)]->tensor_bytes());
    }
  }

  void issue_hand_overs(const HopEdge& edge, bool busy) {
    const LaneDevice& sender = *lanes_[index(edge.first)];
    const LaneDevice& receiver = *lanes_[index(edge.second)];
    const GpuPart& part = parts_.transfer_part(sender.part());
    cuda::Event arrived = nullptr;
    for (std::size_t round = 0; round < kHopRounds; ++round) {
      if (busy) work(round, edge.second);
      sender.enter();
      if (arrived != nullptr) executor_.wait_for(sender.stream(), arrived, "waiting for a transfer");
      executor_.end_stamp(edge.first, bench_.next(edge.first));
      leave_sender(edge);
      copy(edge, Arena::kAlignment);
      arrived = new_event(part);
      parts_.enter(part);
      executor_.record(arrived, executor_.transfer_stream(edge.first, edge.second), "marking a transfer");
      receiver.enter();
      executor_.wait_for(receiver.stream(), arrived, "waiting for a transfer");
      executor_.stamp(edge.second, receiver.stream(), bench_.next(edge.second));
    }
  }

  cuda::Event new_event(const GpuPart& part) {
    events_.push_back(parts_.make_event(part));
    return events_.back().get();
  }

  const Job& job_;
  const GpuParts& parts_;
  const Lanes& lanes_;
  const Works& works_;
  Executor& executor_;
  Bench& bench_;
  const std::vector<std::vector<Op>>& sequences_;
  std::vector<OwnedHandle<cuda::Event>> events_;
  Nanoseconds small_ = 0;
};

}  // namespace

void measure_hops(const Job& job, const GpuParts& parts, const Lanes& lanes, const Works& works, Executor& executor,
                  Bench& bench, const std::vector<std::vector<Op>>& sequences, Calibration& result) {
  if (executor.edges().empty()) return;
  HopTimer timer(job, parts, lanes, works, executor, bench, sequences);
  result.bandwidth_alone = timer.bandwidth(false);
  result.latency_alone = timer.latency(false);
  if (result.latency_alone == 0) result.latency_alone = timer.small();
  result.hop_bandwidth = timer.bandwidth(true);
  result.hop_latency = timer.latency(true);
  if (result.hop_latency == 0) result.hop_latency = timer.small();
}

}  // namespace debubble::live
