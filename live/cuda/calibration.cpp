#include "live/cuda/calibration.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "sim/core/error.hpp"

namespace debubble::live {
namespace {

constexpr int kRounds = 7;        // odd: a median is one of the samples
constexpr int kMostRounds = 400;  // of a device with short ops beside one with long ones
constexpr std::size_t kSlots = 65'536;
constexpr std::array<OpKind, 5> kSequence{OpKind::kForward, OpKind::kInputGrad, OpKind::kWeightGrad, OpKind::kForward,
                                          OpKind::kBackward};

struct Sample {
  std::int32_t device = 0;
  Op op;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};

Nanoseconds median(std::vector<Nanoseconds> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Nanoseconds& time_of(StageCost& cost, OpKind kind) {
  switch (kind) {
    case OpKind::kForward:
      return cost.forward;
    case OpKind::kBackward:
      return cost.backward;
    case OpKind::kInputGrad:
      return cost.input_grad;
    case OpKind::kWeightGrad:
      return cost.weight_grad;
  }
  return cost.forward;
}

std::string decimals(std::int64_t thousandths) {
  std::string digits = std::to_string(thousandths % 1000);
  return std::to_string(thousandths / 1000) + "." + std::string(3 - digits.size(), '0') + digits;
}

// Stamps of one lane outside of any board.
class Slots {
 public:
  explicit Slots(LaneDevice& lane)
      : lane_(lane), data_(lane.allocate(static_cast<Bytes>(kSlots * sizeof(std::uint64_t)))) {}
  ~Slots() { lane_.release(data_); }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  void clear() { used_ = 0; }
  [[nodiscard]] bool has_room(std::size_t slots) const { return used_ + slots <= kSlots; }
  DeviceAddress next() { return data_ + used_++ * sizeof(std::uint64_t); }
  [[nodiscard]] std::vector<Nanoseconds> read() {
    std::vector<std::uint64_t> words(used_);
    lane_.download(words.data(), data_, static_cast<Bytes>(used_ * sizeof(std::uint64_t)));
    return {words.begin(), words.end()};
  }

 private:
  LaneDevice& lane_;
  DeviceAddress data_;
  std::size_t used_ = 0;
};

class Calibrator {
 public:
  Calibrator(const Job& job, const GpuParts& parts, const Lanes& lanes, const Works& works, Executor& executor)
      : job_(job), parts_(parts), lanes_(lanes), works_(works), executor_(executor) {
    for (std::int32_t device = 0; device < job.schedule().devices; ++device) {
      slots_.push_back(std::make_unique<Slots>(*lanes_[index(device)]));
      sequences_.push_back(sequence_of(device));
    }
  }

  Calibration run() {
    Calibration result;
    result.clock_step = clock_step();
    if (lanes_.front()->part().gpu != lanes_.back()->part().gpu) align_clocks(result);
    std::vector<Sample> samples;
    std::vector<Nanoseconds> lengths;
    for (std::int32_t device = 0; device < job_.schedule().devices; ++device) {
      std::vector<int> rounds(slots_.size(), 0);
      rounds[index(device)] = kRounds;
      const std::vector<Sample> own = measure(rounds);
      lengths.push_back(own.empty() ? 1 : std::max<Nanoseconds>(1, own.back().end - own.front().begin));
      samples.insert(samples.end(), own.begin(), own.end());
    }
    result.alone = costs_of(samples);
    const Nanoseconds longest = *std::max_element(lengths.begin(), lengths.end());
    std::vector<int> rounds;
    for (const Nanoseconds length : lengths) {
      rounds.push_back(
          static_cast<int>(std::min<Nanoseconds>(kMostRounds, kRounds * (longest + longest / 2) / length)));
    }
    result.busy = costs_of(while_all_work(measure(rounds)));
    measure_hops(result);
    return result;
  }

 private:
  static std::size_t index(std::int32_t device) { return static_cast<std::size_t>(device); }

  // All kinds of every stage of the device, on the first microbatch that the stage gets there.
  [[nodiscard]] std::vector<Op> sequence_of(std::int32_t device) const {
    std::vector<Op> ops;
    std::set<std::int32_t> stages;
    for (const Op& op : job_.schedule().rows[index(device)]) {
      if (op.kind != OpKind::kForward || !stages.insert(op.stage).second) continue;
      for (const OpKind kind : kSequence) ops.push_back({kind, false, op.stage, op.microbatch});
    }
    return ops;
  }

  void wait() {
    if (executor_.wait()) return;
    throw UnavailableError({"U027", "", "the GPU makes no progress while its ops are timed",
                            "does nvidia-smi show errors, or another program on this GPU?"});
  }

  // Each device runs its sequence so many times, all at once; in the order of devices, then time.
  std::vector<Sample> measure(const std::vector<int>& rounds) {
    std::vector<std::vector<Op>> planned(slots_.size());
    std::size_t most = 0;
    for (std::size_t device = 0; device < slots_.size(); ++device) {
      slots_[device]->clear();
      for (int round = 0; round < rounds[device]; ++round) {
        if (2 * (planned[device].size() + sequences_[device].size()) > kSlots) break;
        planned[device].insert(planned[device].end(), sequences_[device].begin(), sequences_[device].end());
      }
      most = std::max(most, planned[device].size());
    }
    executor_.gate().run([&] { issue(planned, most); });
    wait();
    std::vector<Sample> samples;
    for (std::size_t device = 0; device < slots_.size(); ++device) {
      const std::vector<Nanoseconds> times = slots_[device]->read();
      for (std::size_t k = 0; k < planned[device].size(); ++k) {
        samples.push_back({static_cast<std::int32_t>(device), planned[device][k], times[2 * k], times[2 * k + 1]});
      }
    }
    return samples;
  }

  void issue(const std::vector<std::vector<Op>>& planned, std::size_t most) {
    std::vector<std::int64_t> before;
    for (const auto& lane : lanes_) before.push_back(lane->launches());
    for (std::size_t k = 0; k < most; ++k) {
      for (std::size_t device = 0; device < planned.size(); ++device) {
        if (k >= planned[device].size()) continue;
        LaneDevice& lane = *lanes_[device];
        lane.enter();
        executor_.stamp(static_cast<std::int32_t>(device), lane.stream(), slots_[device]->next());
        works_[device]->run(planned[device][k]);
        executor_.stamp(static_cast<std::int32_t>(device), lane.stream(), slots_[device]->next());
        executor_.gate().launched(lane.launches() - before[device]);
      }
    }
  }

  // The samples while no device had yet to start, and none was through; all, where there are none.
  [[nodiscard]] static std::vector<Sample> while_all_work(std::vector<Sample> samples) {
    std::map<std::int32_t, std::pair<Nanoseconds, Nanoseconds>> spans;
    for (const Sample& sample : samples) {
      auto [span, first] = spans.try_emplace(sample.device, sample.begin, sample.end);
      if (!first) span->second.second = sample.end;
    }
    Nanoseconds begin = 0;
    Nanoseconds end = spans.begin()->second.second;
    for (const auto& [device, span] : spans) {
      begin = std::max(begin, span.first);
      end = std::min(end, span.second);
    }
    std::vector<Sample> inside;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(inside),
                 [&](const Sample& sample) { return sample.begin >= begin && sample.end <= end; });
    std::set<std::pair<std::int32_t, OpKind>> kinds;
    std::set<std::pair<std::int32_t, OpKind>> found;
    for (const Sample& sample : samples) kinds.emplace(sample.op.stage, sample.op.kind);
    for (const Sample& sample : inside) found.emplace(sample.op.stage, sample.op.kind);
    return found.size() == kinds.size() ? inside : samples;
  }

  [[nodiscard]] StageCosts costs_of(const std::vector<Sample>& samples) const {
    std::map<std::pair<std::int32_t, OpKind>, std::vector<Nanoseconds>> times;
    for (const Sample& sample : samples) {
      times[{sample.op.stage, sample.op.kind}].push_back(sample.end - sample.begin);
    }
    StageCosts costs;
    costs.stages.resize(static_cast<std::size_t>(job_.schedule().stages));
    for (const auto& [key, values] : times) {
      time_of(costs.stages[static_cast<std::size_t>(key.first)], key.second) = median(values) * job_.schedule().pieces;
    }
    return costs;
  }

  Nanoseconds clock_step() {
    slots_.front()->clear();
    LaneDevice& lane = *lanes_.front();
    lane.enter();
    DeviceAddress out = slots_.front()->next();
    long long readings = 100'000;
    const std::array<void*, 2> arguments{&out, &readings};
    lane.launch({"debubble_live_resolution", 1, 1, 0, arguments});
    return slots_.front()->read().front();
  }

  // All GPUs watch one word of the host's memory, and read their clocks once it changes.
  void align_clocks(Calibration& result) {
    HostFlag flag(parts_.libraries().driver);
    std::vector<std::vector<Nanoseconds>> offsets(lanes_.size());
    for (unsigned round = 1; round <= kRounds; ++round) {
      for (const auto& slots : slots_) slots->clear();
      executor_.gate().run([&] {
        for (std::size_t device = 0; device < lanes_.size(); ++device) {
          LaneDevice& lane = *lanes_[device];
          lane.enter();
          DeviceAddress address = flag.address();
          const std::array<void*, 2> arguments{&address, &round};
          lane.launch({"debubble_live_wait", 1, 1, 0, arguments});
          executor_.stamp(static_cast<std::int32_t>(device), lane.stream(), slots_[device]->next());
        }
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(2));  // until all of them watch
      flag.set(round);
      wait();
      const Nanoseconds first = slots_.front()->read().front();
      for (std::size_t device = 0; device < lanes_.size(); ++device) {
        offsets[device].push_back(first - slots_[device]->read().front());
      }
    }
    for (const std::vector<Nanoseconds>& rounds : offsets) {
      result.offsets.push_back(median(rounds));
      const auto [least, most] = std::minmax_element(rounds.begin(), rounds.end());
      result.clock_residual = std::max(result.clock_residual, *most - *least);
    }
  }

  // Copies on every edge, small ones and real ones: begin and end of each copy, and, where `handed_over`, the stamps
  // of the sender before it and of the receiver behind it.
  struct HopTimes {
    Nanoseconds small = 0, large = 0, handed_over = 0;
  };

  HopTimes time_hops(bool busy) {
    std::vector<Nanoseconds> small;
    std::vector<Nanoseconds> large;
    std::vector<Nanoseconds> handed;
    for (const auto& [edge, stream] : executor_.edges()) {
      for (const auto& slots : slots_) slots->clear();
      executor_.gate().run([&, from = edge.first, to = edge.second] { issue_hops(from, to, busy); });
      wait();
      const std::vector<Nanoseconds> sent = slots_[index(edge.first)]->read();
      const std::vector<Nanoseconds> got = slots_[index(edge.second)]->read();
      const std::size_t per_round = busy ? 4 : 5;
      for (std::size_t k = 0; k + per_round <= sent.size(); k += per_round) {
        small.push_back(sent[k + 1] - sent[k]);
        large.push_back(sent[k + 3] - sent[k + 2]);
        if (!busy && same_gpu(edge.first, edge.second)) handed.push_back(got[k / per_round] - sent[k + 4]);
      }
    }
    return {median(small), median(large), median(handed)};
  }

  [[nodiscard]] bool same_gpu(std::int32_t a, std::int32_t b) const {
    return lanes_[index(a)]->part().gpu == lanes_[index(b)]->part().gpu;
  }

  void issue_hops(std::int32_t from, std::int32_t to, bool busy) {
    const CudaDriver& driver = parts_.libraries().driver;
    LaneDevice& sender = *lanes_[index(from)];
    LaneDevice& receiver = *lanes_[index(to)];
    const cuda::Stream stream = executor_.transfer_stream(from, to);
    const GpuPart& part = parts_.transfer_part(sender.part());
    const auto copy = [&](Bytes bytes, bool stamped) {
      const auto& [tensor, word] =
          *std::find_if(executor_.board(from).sends().begin(), executor_.board(from).sends().end(),
                        [&](const auto& sent) { return user(job_.schedule(), sent.first) == to; });
      if (stamped) executor_.stamp(from, stream, slots_[index(from)]->next());
      executor_.copy(from, to, works_[index(from)]->outgoing(tensor), works_[index(to)]->incoming(tensor), bytes);
      if (stamped) executor_.stamp(from, stream, slots_[index(from)]->next());
    };
    if (busy) {
      for (int round = 0; round < 2; ++round) keep_busy();
    }
    for (int round = 0; round < kRounds; ++round) {
      parts_.enter(part);
      copy(Arena::kAlignment, true);
      copy(works_[index(from)]->tensor_bytes(), true);
      if (busy) continue;
      // An empty hand-over: op's end, copy, op's begin.
      hops_.push_back({parts_.make_event(sender.part()), parts_.make_event(part), parts_.make_event(part)});
      const auto& [made, arrived, idle] = hops_.back();
      parts_.enter(part);
      check_cuda(driver, driver.call.event_record(idle.get(), stream), "marking a transfer");
      sender.enter();
      check_cuda(driver, driver.call.stream_wait(sender.stream(), idle.get(), 0), "waiting for a transfer");
      executor_.stamp(from, sender.stream(), slots_[index(from)]->next());
      check_cuda(driver, driver.call.event_record(made.get(), sender.stream()), "marking an output");
      parts_.enter(part);
      check_cuda(driver, driver.call.stream_wait(stream, made.get(), 0), "waiting for an output");
      copy(Arena::kAlignment, false);
      check_cuda(driver, driver.call.event_record(arrived.get(), stream), "marking a transfer");
      receiver.enter();
      check_cuda(driver, driver.call.stream_wait(receiver.stream(), arrived.get(), 0), "waiting for a transfer");
      executor_.stamp(to, receiver.stream(), slots_[index(to)]->next());
    }
  }

  void keep_busy() {
    for (std::size_t device = 0; device < lanes_.size(); ++device) {
      lanes_[device]->enter();
      for (const Op& op : sequences_[device]) works_[device]->run(op);
    }
  }

  void measure_hops(Calibration& result) {
    if (executor_.edges().empty()) return;
    const Bytes more = works_.front()->tensor_bytes() - Arena::kAlignment;
    const auto bandwidth = [more](const HopTimes& times) -> std::int64_t {
      const Nanoseconds longer = times.large - times.small;
      return longer <= 0 ? 0 : static_cast<std::int64_t>(static_cast<double>(more) / static_cast<double>(longer) * 1e9);
    };
    const HopTimes alone = time_hops(false);
    result.hop_latency = alone.handed_over > 0 ? alone.handed_over : alone.small;
    result.bandwidth_alone = bandwidth(alone);
    result.hop_bandwidth = bandwidth(time_hops(true));
  }

  const Job& job_;
  const GpuParts& parts_;
  const Lanes& lanes_;
  const Works& works_;
  Executor& executor_;
  std::vector<std::unique_ptr<Slots>> slots_;  // by device
  std::vector<std::vector<Op>> sequences_;
  struct HopEvents {
    OwnedHandle<cuda::Event> made, arrived, idle;
  };
  std::vector<HopEvents> hops_;
};

}  // namespace

Calibration calibrate(const Job& job, const GpuParts& parts, const Lanes& lanes, const Works& works,
                      Executor& executor) {
  return Calibrator(job, parts, lanes, works, executor).run();
}

std::string interference_text(const Calibration& calibration) {
  std::string text;
  for (std::size_t stage = 0; stage < calibration.busy.stages.size(); ++stage) {
    StageCost busy = calibration.busy.stages[stage];
    StageCost alone = calibration.alone.stages[stage];
    text += (stage == 0 ? "stage " : "; stage ") + std::to_string(stage) + ":";
    for (const OpKind kind : {OpKind::kForward, OpKind::kInputGrad, OpKind::kWeightGrad, OpKind::kBackward}) {
      const Nanoseconds base = std::max<Nanoseconds>(1, time_of(alone, kind));
      text += std::string(" ") + letter(kind) + " " + decimals(time_of(busy, kind) * 1000 / base);
    }
  }
  return text;
}

std::string costs_text(const StageCosts& costs) {
  std::string text;
  for (std::size_t stage = 0; stage < costs.stages.size(); ++stage) {
    StageCost cost = costs.stages[stage];
    text += (stage == 0 ? "stage " : "; stage ") + std::to_string(stage) + ":";
    for (const OpKind kind : {OpKind::kForward, OpKind::kInputGrad, OpKind::kWeightGrad, OpKind::kBackward}) {
      text += std::string(" ") + letter(kind) + " " + decimals(time_of(cost, kind) / 1000);
    }
  }
  return text + " ms";
}

}  // namespace debubble::live
