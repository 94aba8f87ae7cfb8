#include "profiler/attribution/attribution.hpp"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "profiler/attribution/assemble.hpp"
#include "profiler/attribution/correlations.hpp"
#include "profiler/attribution/instances.hpp"
#include "profiler/attribution/ledger.hpp"
#include "profiler/attribution/memory_use.hpp"
#include "profiler/attribution/range_names.hpp"
#include "profiler/attribution/range_stacks.hpp"
#include "profiler/attribution/results.hpp"
#include "profiler/attribution/steps.hpp"
#include "profiler/attribution/stream_selection.hpp"

namespace debubble {

using namespace attribution;

struct Attributor::State {
  explicit State(AttributionRules given) : rules(std::move(given)), names(rules), ledger(instances) {}

  // What one stream needs in addition to the instances.
  struct Stream {
    explicit Stream(State& state)
        : stacks(state.names, state.instances, steps, state.ledger), correlations(state.ledger) {
      if (state.rules.phases_add_up) stacks.add_up_phases();
    }
    Steps steps;
    RangeStacks stacks;
    Correlations correlations;
    MemoryUse memory;
    bool paused = false;
  };

  Stream& current() {
    if (!stream) stream = std::make_unique<Stream>(*this);
    return *stream;
  }

  AttributionRules rules;
  RangeNames names;
  Instances instances;  // of the current stream
  Ledger ledger;
  Results results;
  std::unique_ptr<Stream> stream;
};

Attributor::Attributor(AttributionRules rules) : state_(std::make_unique<State>(std::move(rules))) {}
Attributor::~Attributor() = default;

void Attributor::on(const RangePush& record) { state_->current().stacks.push(record); }
void Attributor::on(const RangePop& record) { state_->current().stacks.pop(record); }

void Attributor::on(const LinkRecord& record) {
  State::Stream& stream = state_->current();
  stream.correlations.link(record.correlation, stream.stacks.slot_of(record.range));
}

void Attributor::on(const LaunchRecord& record) {
  State::Stream& stream = state_->current();
  const bool linked = stream.correlations.linked(record.correlation) && !stream.stacks.before_ranges(record.begin);
  stream.correlations.launch(record.correlation, record.begin,
                             linked ? Slot{} : stream.stacks.slot_at(record.thread, record.begin));
}

void Attributor::on(const KernelRecord& record) {
  Work work;
  if (state_->ledger.take(record, work)) state_->current().correlations.work(record.correlation, work);
}

void Attributor::on(const MemoryRecord& record) {
  State::Stream& stream = state_->current();
  stream.memory.add(stream.stacks.slot_at(record.thread, record.time), state_->instances, record.bytes);
}

void Attributor::on(const OverheadRecord& record) { state_->current().steps.on(record); }
void Attributor::on(const ClockRecord& record) { state_->results.clock.add(record); }

void Attributor::on(const SwitchRecord& record) {
  state_->current().steps.on(record);
  if (!record.recording) state_->results.paused = true;
}

void Attributor::on(const FactRecord& record) {
  constexpr std::size_t kMostFacts = 10'000;
  constexpr std::size_t kMostValues = 64;  // of one fact, over all ranks
  auto& facts = state_->results.facts;
  if (facts.size() >= kMostFacts && !facts.contains(std::string(record.key))) return;
  std::set<std::string>& values = facts[std::string(record.key)];
  if (values.size() < kMostValues) values.emplace(record.value);
}

void Attributor::on(const LossRecord& record) { state_->ledger.lose(record.what, record.count); }

void Attributor::end_of_stream(bool complete) {
  State& state = *state_;
  if (!complete) ++state.results.incomplete;
  if (!state.stream) return;
  State::Stream& stream = *state.stream;
  stream.correlations.flush();
  stream.stacks.close();
  state.results.placed_by_time += stream.correlations.placed_by_time();
  state.results.before_launches += stream.correlations.before_launches();
  state.results.before_launches_time += stream.correlations.before_launches_time();
  state.results.ambiguous_nodes += stream.stacks.ambiguous_nodes();
  state.results.whole_nodes += stream.correlations.whole_nodes();
  state.results.add(state.instances, stream.memory,
                    select_executions(state.instances, stream.steps, state.rules.warm_up_steps));
  state.stream.reset();
  state.instances.clear();
  state.ledger.forget_overlaps();
}

Attribution Attributor::finish(const std::map<std::string, LayerFacts>& facts) {
  if (state_->stream) end_of_stream();
  return assemble(state_->results, state_->ledger, state_->names, facts, state_->rules.explain);
}

}  // namespace debubble
