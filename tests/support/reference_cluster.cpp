#include "tests/support/reference_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace debubble::reference {

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kNothing = 1e-6;  // nanoseconds: less than this is rounding

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

// The run: everything that may be under way, in plain lists.
class Run {
 public:
  explicit Run(const ClusterCase& given) : given_(given) {
    outcome_.replicas = given.replicas;
    for (std::size_t r = 0; r < given.replicas.size(); ++r) add_replica(r);
    if (given.step != nullptr) add_tasks();
  }

  ClusterOutcome run() {
    for (;;) {
      while (look_again()) {
      }
      const double step = next_event();
      if (step == kForever) break;
      advance(step);
    }
    for (const Working& cell : cells_) {
      if (!cell.done) throw std::logic_error("reference: a cell never ran");
    }
    return std::move(outcome_);
  }

 private:
  struct Working {  // a cell
    std::size_t replica = 0, device = 0, index = 0;
    double left = 0;
    bool running = false, done = false;
  };
  struct Moving {  // a hop, or one entry of a task's phases
    FlowPath path;
    double left = 0;
    double latency = 0;
    bool flowing = false, travelling = false, done = false;
    double rate = 0;
  };
  struct HopState {
    std::size_t replica = 0, hop = 0;
    Moving moving;
    bool begun = false;
  };
  struct TaskState {
    std::size_t times = 0;  // in outcome_.tasks
    const StepTask* task = nullptr;
    std::vector<std::size_t> replicas;
    std::vector<std::vector<Flow>> chains;
    std::vector<std::size_t> next;  // by chain: phase
    std::vector<Moving> moving;     // by chain
    double left = 0;                // of its duration, where it has no flows
    Nanoseconds ready = -1;
    bool running = false, done = false;
  };

  void add_replica(std::size_t r) {
    const Outcome& of = given_.replicas[r];
    for (std::size_t d = 0; d < of.cells.size(); ++d) {
      for (std::size_t c = 0; c < of.cells[d].size(); ++c) {
        const Cell& cell = of.cells[d][c];
        cells_.push_back({r, d, c, static_cast<double>(cell.end - cell.begin), false, false});
      }
    }
    for (std::size_t h = 0; h < of.hops.size(); ++h) {
      const Hop& hop = of.hops[h];
      HopState state{r, h, {}, false};
      state.moving.path = given_.topology->path(static_cast<int>(r), static_cast<int>(hop.from_device),
                                                static_cast<int>(hop.to_device));
      state.moving.left = static_cast<double>(hop.bytes);
      state.moving.latency = static_cast<double>(state.moving.path.latency);
      hops_.push_back(state);
    }
  }

  void add_tasks() {
    for (std::size_t t = 0; t < given_.step->tasks.size(); ++t) {
      const StepTask& task = given_.step->tasks[t];
      const std::size_t runs = task.across_replicas ? 1 : given_.replicas.size();
      for (std::size_t r = 0; r < runs; ++r) {
        TaskState state;
        state.times = outcome_.tasks.size();
        state.task = &task;
        outcome_.tasks.push_back(
            {static_cast<std::int32_t>(t), task.across_replicas ? -1 : static_cast<std::int32_t>(r), -1, -1});
        for (std::size_t k = 0; k < given_.replicas.size(); ++k) {
          if (task.across_replicas || k == r) state.replicas.push_back(k);
        }
        if (task.phases.size() == 1) state.chains = task.phases;
        if (task.phases.size() > 1 && task.across_replicas) state.chains = task.phases;
        if (task.phases.size() > 1 && !task.across_replicas) state.chains = {task.phases[r]};
        state.next.assign(state.chains.size(), 0);
        state.moving.resize(state.chains.size());
        const auto& given = given_.task_durations;
        state.left = static_cast<double>(given.empty() ? task.duration : given[t][r]);
        tasks_.push_back(state);
      }
    }
  }

  // Whether what op `name` stands for has ended: every B, I and W of that stage and model replica.
  [[nodiscard]] bool backward_done(std::size_t replica, const StageName& name) const {
    return std::all_of(cells_.begin(), cells_.end(), [&](const Working& cell) {
      if (cell.replica != replica || cell.done) return true;
      const auto& members = given_.replicas[replica].cells[cell.device][cell.index].members;
      return std::none_of(members.begin(), members.end(), [&](const Op& op) {
        const bool backward =
            op.kind == OpKind::kBackward || op.kind == OpKind::kInputGrad || op.kind == OpKind::kWeightGrad;
        return backward && op.stage == name.stage && given_.schedule->replica_of[at(op.microbatch)] == name.replica;
      });
    });
  }

  // Whether a task keeps an op of that cell from running.
  [[nodiscard]] bool kept_back(const Working& cell) const {
    const auto& members = given_.replicas[cell.replica].cells[cell.device][cell.index].members;
    return std::any_of(tasks_.begin(), tasks_.end(), [&](const TaskState& state) {
      if (state.done || std::find(state.replicas.begin(), state.replicas.end(), cell.replica) == state.replicas.end()) {
        return false;
      }
      return std::any_of(state.task->before_stages.begin(), state.task->before_stages.end(),
                         [&](const StageName& name) {
                           return std::any_of(members.begin(), members.end(), [&](const Op& op) {
                             return op.kind == OpKind::kForward && op.stage == name.stage &&
                                    given_.schedule->replica_of[at(op.microbatch)] == name.replica;
                           });
                         });
    });
  }

  [[nodiscard]] const TaskState* running_task(std::size_t replica, std::size_t device, StepTask::Lane lane) const {
    for (const TaskState& state : tasks_) {
      if (!state.running || state.task->lane != lane) continue;
      const bool here = std::find(state.replicas.begin(), state.replicas.end(), replica) != state.replicas.end();
      const auto& devices = state.task->devices;
      if (here && std::find(devices.begin(), devices.end(), static_cast<std::int32_t>(device)) != devices.end()) {
        return &state;
      }
    }
    return nullptr;
  }

  [[nodiscard]] bool may_begin(const Working& cell) const {
    for (const Working& other : cells_) {
      if (other.replica == cell.replica && other.device == cell.device && other.index < cell.index && !other.done) {
        return false;
      }
    }
    for (const HopState& state : hops_) {
      const Hop& hop = given_.replicas[state.replica].hops[state.hop];
      if (state.replica == cell.replica && hop.to_device == cell.device && hop.to_cell == cell.index &&
          !state.moving.done) {
        return false;
      }
    }
    return running_task(cell.replica, cell.device, StepTask::Lane::kCompute) == nullptr && !kept_back(cell);
  }

  // One thing that can happen now; false when nothing more can. Cells come before tasks.
  bool look_again() {
    for (Working& cell : cells_) {
      Cell& times = outcome_.replicas[cell.replica].cells[cell.device][cell.index];
      if (cell.running && cell.left <= kNothing) {
        cell.running = false;
        cell.done = true;
        times.end = now_;
        return true;
      }
    }
    for (HopState& state : hops_) {
      if (move_on(state.moving)) {
        if (state.moving.done) outcome_.replicas[state.replica].hops[state.hop].end = now_;
        return true;
      }
    }
    for (TaskState& state : tasks_) {
      if (state.running && task_moves_on(state)) return true;
    }
    for (HopState& state : hops_) {
      const Hop& hop = given_.replicas[state.replica].hops[state.hop];
      if (state.begun || !is_done(state.replica, hop.from_device, hop.from_cell)) continue;
      state.begun = true;
      outcome_.replicas[state.replica].hops[state.hop].begin = now_;
      start(state.moving);
      return true;
    }
    for (Working& cell : cells_) {
      if (cell.running || cell.done || !may_begin(cell)) continue;
      cell.running = true;
      outcome_.replicas[cell.replica].cells[cell.device][cell.index].begin = now_;
      return true;
    }
    return tasks_may_begin();
  }

  [[nodiscard]] bool is_done(std::size_t replica, std::size_t device, std::size_t index) const {
    return std::any_of(cells_.begin(), cells_.end(), [&](const Working& cell) {
      return cell.replica == replica && cell.device == device && cell.index == index && cell.done;
    });
  }

  static void start(Moving& moving) {
    moving.flowing = true;
    moving.travelling = false;
    moving.done = false;
    moving.rate = kForever;  // until the rates are known: then only what is empty has left
  }

  // From flowing to travelling to done.
  static bool move_on(Moving& moving) {
    if (moving.flowing && (moving.left <= 0 || (moving.rate < kForever && moving.left <= moving.rate * kNothing))) {
      moving.flowing = false;
      moving.travelling = true;
      return true;
    }
    if (moving.travelling && moving.latency <= kNothing) {
      moving.travelling = false;
      moving.done = true;
      return true;
    }
    return false;
  }

  bool task_moves_on(TaskState& state) {
    bool all = state.left <= kNothing || !state.chains.empty();
    for (std::size_t c = 0; c < state.chains.size(); ++c) {
      if (move_on(state.moving[c])) {
        if (state.moving[c].done) start_phase(state, c);
        return true;
      }
      all = all && state.next[c] > state.chains[c].size();
    }
    if (!all) return false;
    state.running = false;
    state.done = true;
    outcome_.tasks[state.times].end = now_;
    return true;
  }

  static void start_phase(TaskState& state, std::size_t c) {
    const std::size_t phase = state.next[c]++;
    if (phase >= state.chains[c].size()) return;
    const Flow& flow = state.chains[c][phase];
    state.moving[c].path = flow.path;
    state.moving[c].left = static_cast<double>(flow.bytes);
    state.moving[c].latency = static_cast<double>(flow.path.latency);
    start(state.moving[c]);
  }

  [[nodiscard]] bool is_ready(const TaskState& state) const {
    for (const std::size_t replica : state.replicas) {
      for (const StageName& name : state.task->after_stages) {
        if (!backward_done(replica, name)) return false;
      }
      for (const TaskState& other : tasks_) {
        const std::int32_t number = outcome_.tasks[other.times].task;
        const auto& after = state.task->after;
        if (std::find(after.begin(), after.end(), number) == after.end() || other.done) continue;
        if (std::find(other.replicas.begin(), other.replicas.end(), replica) != other.replicas.end()) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool lanes_free(const TaskState& state) const {
    for (const std::size_t replica : state.replicas) {
      for (const std::int32_t device : state.task->devices) {
        if (running_task(replica, at(device), state.task->lane) != nullptr) return false;
        if (state.task->lane == StepTask::Lane::kCollective) continue;
        for (const Working& cell : cells_) {
          if (cell.replica == replica && cell.device == at(device) && cell.running) return false;
        }
      }
    }
    return true;
  }

  bool tasks_may_begin() {
    for (TaskState& state : tasks_) {
      if (state.ready < 0 && is_ready(state)) state.ready = now_;
    }
    TaskState* first = nullptr;
    for (TaskState& state : tasks_) {
      if (state.ready < 0 || state.running || state.done || !lanes_free(state)) continue;
      if (first == nullptr || state.ready < first->ready) first = &state;
    }
    if (first == nullptr) return false;
    first->running = true;
    outcome_.tasks[first->times].begin = now_;
    for (std::size_t c = 0; c < first->chains.size(); ++c) start_phase(*first, c);
    return true;
  }

  [[nodiscard]] double slow_on(std::size_t replica, std::size_t device) const {
    const TaskState* beside = running_task(replica, device, StepTask::Lane::kCollective);
    return beside == nullptr ? 1 : 1 + beside->task->slow_down;
  }
  [[nodiscard]] double slow_of(const TaskState& state) const {
    double factor = 1;
    if (state.task->lane == StepTask::Lane::kCollective) return factor;
    for (const std::size_t replica : state.replicas) {
      for (const std::int32_t device : state.task->devices) factor = std::max(factor, slow_on(replica, at(device)));
    }
    return factor;
  }

  void set_rates() {
    std::vector<Moving*> flowing;
    const auto add = [&](Moving& moving) {
      if (moving.flowing) flowing.push_back(&moving);
    };
    for (HopState& state : hops_) add(state.moving);
    for (TaskState& state : tasks_) {
      for (Moving& moving : state.moving) add(moving);
    }
    std::vector<FlowPath> flows;
    for (const Moving* moving : flowing) flows.push_back(moving->path);
    const std::vector<double> rates = fair_rates(given_.topology->network()->graph, flows);
    for (std::size_t f = 0; f < flowing.size(); ++f) flowing[f]->rate = rates[f];
  }

  // Whole nanoseconds until something ends.
  double next_event() {
    set_rates();
    double next = kForever;
    const auto consider = [&](double time) { next = std::min(next, std::max(1.0, std::ceil(time - kNothing))); };
    const auto consider_moving = [&](const Moving& moving) {
      if (moving.flowing) consider(moving.left / moving.rate);
      if (moving.travelling) consider(moving.latency);
    };
    for (const Working& cell : cells_) {
      if (cell.running) consider(cell.left * slow_on(cell.replica, cell.device));
    }
    for (const HopState& state : hops_) consider_moving(state.moving);
    for (const TaskState& state : tasks_) {
      for (const Moving& moving : state.moving) consider_moving(moving);
      if (state.running && state.chains.empty()) consider(state.left * slow_of(state));
    }
    return next;
  }

  void advance(double time) {
    now_ += static_cast<Nanoseconds>(time);
    const auto move = [&](Moving& moving) {
      if (moving.flowing) moving.left -= moving.rate * time;
      if (moving.travelling) moving.latency -= time;
    };
    for (Working& cell : cells_) {
      if (cell.running) cell.left -= time / slow_on(cell.replica, cell.device);
    }
    for (HopState& state : hops_) move(state.moving);
    for (TaskState& state : tasks_) {
      for (Moving& moving : state.moving) move(moving);
      if (state.running && state.chains.empty()) state.left -= time / slow_of(state);
    }
  }

  const ClusterCase& given_;
  ClusterOutcome outcome_;
  std::vector<Working> cells_;
  std::vector<HopState> hops_;
  std::vector<TaskState> tasks_;
  Nanoseconds now_ = 0;
};

}  // namespace

ClusterOutcome simulate_cluster(const ClusterCase& given) { return Run(given).run(); }

}  // namespace debubble::reference
