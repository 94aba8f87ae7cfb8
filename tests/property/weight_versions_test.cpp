// Weight versions by brute force: devices that really keep numbered weights run the rows in time, with random
// durations, and what they read and keep is counted. Shares nothing with the bookkeeping but the rows.
#include "sim/rows/weight_versions.hpp"

#include "tests/support/catalog_requests.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Weights as a device holds them: copies tagged with the update that made them.
struct Device {
  std::size_t position = 0;
  std::vector<Op> running;
  std::int64_t free_at = 0;
  int newest = 0;
  int gradients = 0;
  bool waits_for_peers = false;  // its share of an update is done; the others' are not
  std::map<int, int> stash;      // microbatch -> version that its F read, until its B has ended
  std::size_t most_copies = 1;
  std::size_t most_in_flight = 0;
};

struct Read {
  int forward = -1, backward = -1, applied = -1;
};

class Training {
 public:
  Training(const Schedule& schedule, std::uint64_t seed)
      : schedule_(schedule), policy_(*schedule.asynchrony), dice_(seed), devices_(schedule.rows.size()) {
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (!schedule.rows[d].empty()) peers_[schedule.rows[d].front().stage].push_back(d);
    }
  }

  void run() {
    for (bool moved = true; moved; ++now_) {
      moved = false;
      for (std::size_t d = 0; d < devices_.size(); ++d) moved |= finish(d);
      for (auto& [stage, peers] : peers_) moved |= update(peers);
      for (std::size_t d = 0; d < devices_.size(); ++d) moved |= start(d);
      for (const Device& device : devices_) moved |= !device.running.empty();
    }
  }

  [[nodiscard]] const std::map<std::pair<int, int>, Read>& reads() const { return reads_; }
  [[nodiscard]] const Device& device(std::size_t d) const { return devices_[d]; }
  [[nodiscard]] const std::map<int, std::vector<std::size_t>>& peers() const { return peers_; }
  [[nodiscard]] bool complete() const {
    return std::all_of(devices_.begin(), devices_.end(), [&](const Device& device) {
      return device.position == schedule_.rows[static_cast<std::size_t>(&device - devices_.data())].size();
    });
  }

 private:
  [[nodiscard]] bool can_start(const Op& op) const {
    const bool forward = op.kind == OpKind::kForward;
    if (!forward && !done_.contains({0, op.stage, op.microbatch})) return false;
    const int other = op.stage + (forward ? -1 : 1);
    return other < 0 || other == schedule_.stages || done_.contains({forward ? 0 : 1, other, op.microbatch});
  }

  bool start(std::size_t d) {
    Device& device = devices_[d];
    const auto& row = schedule_.rows[d];
    if (!device.running.empty() || device.waits_for_peers || device.position == row.size()) return false;
    std::vector<Op> cell{row[device.position]};
    if (cell.front().paired_with_next) cell.push_back(row[device.position + 1]);
    for (const Op& op : cell) {
      if (!can_start(op)) return false;
    }
    device.position += cell.size();
    device.running = cell;
    device.free_at = now_ + dice_.from(1, 4);
    for (const Op& op : cell) read(device, op);
    return true;
  }

  void read(Device& device, const Op& op) {
    Read& read = reads_[{op.stage, op.microbatch}];
    if (op.kind == OpKind::kForward) {
      read.forward = device.newest;
      device.stash[op.microbatch] = device.newest;
      device.most_in_flight = std::max(device.most_in_flight, device.stash.size());
      count(device);
    } else {
      const bool stashed = policy_.versions == Asynchrony::Versions::kStashed;
      read.backward = stashed ? device.stash.at(op.microbatch) : device.newest;
    }
  }

  bool finish(std::size_t d) {
    Device& device = devices_[d];
    if (device.running.empty() || device.free_at > now_) return false;
    for (const Op& op : device.running) {
      const bool forward = op.kind == OpKind::kForward;
      done_.insert({forward ? 0 : 1, op.stage, op.microbatch});
      if (forward) continue;
      device.stash.erase(op.microbatch);
      reads_[{op.stage, op.microbatch}].applied = device.newest;
      device.waits_for_peers = ++device.gradients % policy_.update_every == 0;
    }
    device.running.clear();
    return true;
  }

  // All devices of a stage exchange gradients, or none does; one that has run its whole row no longer holds them up.
  bool update(const std::vector<std::size_t>& peers) {
    const bool all = std::all_of(peers.begin(), peers.end(), [&](std::size_t d) {
      return devices_[d].waits_for_peers ||
             (devices_[d].position == schedule_.rows[d].size() && devices_[d].running.empty());
    });
    if (!all) return false;
    bool any = false;
    for (const std::size_t d : peers) {
      if (!devices_[d].waits_for_peers) continue;
      devices_[d].waits_for_peers = false;
      ++devices_[d].newest;
      count(devices_[d]);
      any = true;
    }
    return any;
  }

  void count(Device& device) const {
    std::set<int> copies{device.newest};
    if (policy_.versions == Asynchrony::Versions::kStashed) {
      for (const auto& [microbatch, version] : device.stash) copies.insert(version);
    }
    device.most_copies = std::max(device.most_copies, copies.size());
  }

  const Schedule& schedule_;
  const Asynchrony& policy_;
  Dice dice_;
  std::vector<Device> devices_;
  std::map<int, std::vector<std::size_t>> peers_;  // by stage
  std::set<std::array<int, 3>> done_;              // (0 forward, 1 backward; stage; microbatch)
  std::map<std::pair<int, int>, Read> reads_;      // by (stage, microbatch)
  std::int64_t now_ = 0;
};

std::vector<Schedule> streams() {
  std::vector<Schedule> list;
  const auto add = [&](const char* name, int devices, int microbatches, const Params& params) {
    list.push_back(build(name, devices, microbatches, 0, params));
  };
  for (const int devices : {1, 2, 3, 4, 6}) {
    for (const int m : {1, 5, 8, 24, 31}) {
      add("pipedream", devices, m, {});
      for (const char* every : {"1", "2", "3", "7"}) {
        add("pipedream-2bw", devices, m, {{"update_every", every}, {"version_at", "forward-time"}});
        add("pipemare", devices, m, {{"update_every", every}});
        add("pipemare", devices, m, {{"update_every", every}, {"engines", "2"}});
      }
      for (const char* stash : {"on", "off"}) {
        add("pipelined-backprop", devices, m, {{"stash", stash}});
        add("pipelined-backprop", devices, m, {{"stash", stash}, {"turnaround", "1"}});
        add("pipelined-backprop", devices, m, {{"stash", stash}, {"engines", "1"}});
      }
    }
  }
  for (const char* replicas : {"2,1,1", "1,2,1", "3,1", "2,2", "1,1,2", "4"}) {
    for (const int m : {5, 24, 31}) add("pipedream", 4, m, {{"replicas", replicas}});
  }
  return list;
}

// What the bookkeeping says against what the devices did; "" when they agree.
std::string mismatch(const Schedule& schedule, std::uint64_t seed) {
  Training training(schedule, seed);
  training.run();
  if (!training.complete()) return "the training does not end";
  for (const StageVersions& stage : weight_versions(schedule)) {
    const std::string at = " on stage " + std::to_string(stage.stage);
    std::size_t copies = 1;
    std::size_t in_flight = 0;
    for (const std::size_t d : training.peers().at(stage.stage)) {
      copies = std::max(copies, training.device(d).most_copies);
      in_flight = std::max(in_flight, training.device(d).most_in_flight);
    }
    if (static_cast<int>(copies) != stage.live_versions) return std::to_string(copies) + " copies" + at;
    if (static_cast<int>(in_flight) != stage.in_flight) return std::to_string(in_flight) + " in flight" + at;
    UpdateCount forward{0, 1 << 20, -1};
    UpdateCount apart = forward;
    for (int i = 0; i < schedule.microbatches; ++i) {
      const Read& read = training.reads().at({stage.stage, i});
      forward.most = std::max(forward.most, read.applied - read.forward);
      apart.most = std::max(apart.most, std::abs(read.backward - read.forward));
    }
    if (forward.most != stage.forward_late.most) return std::to_string(forward.most) + " late" + at;
    if (apart.most != stage.inconsistent.most) return std::to_string(apart.most) + " between F and B" + at;
  }
  return "";
}

}  // namespace

TEST_CASE("versions, copies and delays are those of devices that really train, whatever the passes take") {
  std::uint64_t seed = 900'001;
  for (const Schedule& schedule : streams()) {
    for (int round = 0; round < 2; ++round, ++seed) {
      CAPTURE(describe(schedule));
      CAPTURE(seed);
      REQUIRE_EQ(mismatch(schedule, seed), "");
    }
  }
}

TEST_CASE("two buffers are enough for pipedream-2bw: the version that a batch reads is never older than the last two") {
  for (const int devices : {2, 3, 4, 6, 8}) {
    for (const int every : {devices - 1, devices, devices + 1, 2 * devices}) {
      const auto schedule = build("pipedream-2bw", devices, 64, 0, {{"update_every", std::to_string(every)}});
      Training training(schedule, 7);
      training.run();
      for (const auto& [place, read] : training.reads()) {
        const int wanted = std::max(place.second / every - 1, 0);  // w(t - 1) for all of batch t
        CAPTURE(describe(schedule));
        const std::pair<int, int> where = place;
        CAPTURE(where.first);
        CAPTURE(where.second);
        REQUIRE(wanted <= read.forward);      // it exists when F runs
        REQUIRE(wanted >= read.applied - 1);  // and is still there when B does
      }
    }
  }
}

TEST_CASE("spectrain's v1 predicts up to the start of the minibatch's backward on the first stage, F = B") {
  for (const int stages : {1, 2, 3, 4, 5, 8}) {
    const auto schedule = build("spectrain", stages, 60);
    const StageCosts costs = toy_costs(schedule, 1, 1);
    const Program program = std::get<Program>(lower(schedule));
    const Timeline timeline = simulate(program, schedule, costs, Topology::ideal(0, 0));
    std::map<std::array<int, 3>, Span> spans;
    for (const Span& span : timeline.spans) {
      spans[{static_cast<int>(span.op.kind), span.op.stage, span.op.microbatch}] = span;
    }
    const auto at = [&](OpKind kind, int stage, int microbatch) {
      return spans.at({static_cast<int>(kind), stage, microbatch});
    };
    for (const StageVersions& stage : weight_versions(schedule)) {
      const int i = 30;
      const Nanoseconds target = at(OpKind::kBackward, 0, i).begin;
      int from_forward = 0;
      int from_backward = 0;
      for (int k = 0; k < 60; ++k) {
        const Nanoseconds update = at(OpKind::kBackward, stage.stage, k).end;
        if (update >= target) continue;
        from_forward += update > at(OpKind::kForward, stage.stage, i).begin ? 1 : 0;
        from_backward += update > at(OpKind::kBackward, stage.stage, i).begin ? 1 : 0;
      }
      CAPTURE(stages);
      CAPTURE(stage.stage);
      CHECK(stage.forward_ahead == from_forward);
      CHECK(stage.backward_ahead == from_backward);
    }
  }
}
