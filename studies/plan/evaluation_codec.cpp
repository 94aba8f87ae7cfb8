#include "studies/plan/evaluation_codec.hpp"

#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace debubble {
namespace {

// Members are taken apart by structured bindings: one that is added later does not compile until it is sent, too.
using live::MessageReader;
using live::MessageWriter;

void put(MessageWriter& writer, double value) { writer.number(std::bit_cast<std::int64_t>(value)); }
double get_double(MessageReader& reader) { return std::bit_cast<double>(reader.number()); }

void put(MessageWriter& writer, const std::optional<double>& value) {
  writer.number(value ? 1 : 0);
  put(writer, value.value_or(0));
}
std::optional<double> get_optional_double(MessageReader& reader) {
  const bool given = reader.number() != 0;
  const double value = get_double(reader);
  return given ? std::optional<double>(value) : std::nullopt;
}

void put(MessageWriter& writer, const std::optional<std::int64_t>& value) {
  writer.number(value ? 1 : 0).number(value.value_or(0));
}
std::optional<std::int64_t> get_optional(MessageReader& reader) {
  const bool given = reader.number() != 0;
  const std::int64_t value = reader.number();
  return given ? std::optional<std::int64_t>(value) : std::nullopt;
}

// Plain numbers one after the other.
template <typename Plain>
void put_plain(MessageWriter& writer, const Plain& value) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  std::string bytes(sizeof(Plain), '\0');
  std::memcpy(bytes.data(), &value, sizeof(Plain));
  writer.text(bytes);
}
template <typename Plain>
Plain get_plain(MessageReader& reader) {
  static_assert(std::is_trivially_copyable_v<Plain>);
  Plain value;
  const std::string bytes = reader.text();
  if (bytes.size() != sizeof(Plain)) throw std::logic_error("a rank's message is of another size");
  std::memcpy(&value, bytes.data(), sizeof(Plain));
  return value;
}

template <typename Plain>
void put_all_plain(MessageWriter& writer, const std::vector<Plain>& values) {
  writer.number(static_cast<std::int64_t>(values.size()));
  for (const Plain& value : values) put_plain(writer, value);
}
template <typename Plain>
std::vector<Plain> get_all_plain(MessageReader& reader) {
  std::vector<Plain> values;
  for (std::int64_t left = reader.number(); left > 0; --left) values.push_back(get_plain<Plain>(reader));
  return values;
}

void put(MessageWriter& writer, const StageCosts& costs) {
  const auto& [stages, vocabulary, overlapped_pair, at_work] = costs;
  put_all_plain(writer, stages);
  writer.number(static_cast<std::int64_t>(at_work.size()));
  for (const TimesAtWork& times : at_work) {
    writer.number(times.devices);
    put_all_plain(writer, times.stages);
  }
  writer.number(vocabulary ? 1 : 0);
  if (vocabulary) put_plain(writer, *vocabulary);
  put(writer, overlapped_pair);
}

StageCosts get_stage_costs(MessageReader& reader) {
  StageCosts costs;
  costs.stages = get_all_plain<StageCost>(reader);
  for (std::int64_t left = reader.number(); left > 0; --left) {
    TimesAtWork& times = costs.at_work.emplace_back();
    times.devices = static_cast<std::int32_t>(reader.number());
    times.stages = get_all_plain<StageCost>(reader);
  }
  if (reader.number() != 0) costs.vocabulary = get_plain<VocabularyCost>(reader);
  costs.overlapped_pair = get_optional(reader);
  return costs;
}

}  // namespace

void write(MessageWriter& writer, const Evaluation& one) {
  const auto& [kind, bound, memory_bound, missing, only_tight, run, code, message] = one;
  writer.number(static_cast<std::int64_t>(kind)).number(bound).number(memory_bound).number(missing);
  writer.number(only_tight ? 1 : 0);
  writer.text(code).text(message).text(run.choice.partition);
  const auto& [choice, step, run_bound, peak, bubble_ratio, samples, tokens, mfu, spare, margin] = run;
  writer.number(step).number(run_bound).number(peak).number(margin);
  put(writer, bubble_ratio);
  put(writer, samples);
  put(writer, tokens);
  put(writer, mfu);
  put(writer, spare);
}

Evaluation read_evaluation(MessageReader& reader) {
  Evaluation one;
  one.kind = static_cast<Evaluation::Kind>(reader.number());
  one.bound = reader.number();
  one.memory_bound = reader.number();
  one.missing = reader.number();
  one.only_tight = reader.number() != 0;
  one.code = reader.text();
  one.message = reader.text();
  one.run.choice.partition = reader.text();
  one.run.step = reader.number();
  one.run.bound = reader.number();
  one.run.peak = reader.number();
  one.run.margin = reader.number();
  one.run.bubble_ratio = get_double(reader);
  one.run.samples_per_second = get_optional_double(reader);
  one.run.tokens_per_second = get_optional_double(reader);
  one.run.mfu = get_optional_double(reader);
  one.run.spare = get_optional(reader);
  return one;
}

void write(MessageWriter& writer, const Interest& interest) {
  const auto& [below, missing] = interest;
  writer.number(below).number(missing ? 1 : 0);
}

Interest read_interest(MessageReader& reader) {
  Interest interest;
  interest.below = reader.number();
  interest.missing = reader.number() != 0;
  return interest;
}

void write(MessageWriter& writer, const BaseEvaluation& base) {
  const auto& [legal, compute, states, code, message] = base;
  writer.number(legal ? 1 : 0).number(compute).number(states).text(code).text(message);
}

BaseEvaluation read_base_evaluation(MessageReader& reader) {
  BaseEvaluation base;
  base.legal = reader.number() != 0;
  base.compute = reader.number();
  base.states = reader.number();
  base.code = reader.text();
  base.message = reader.text();
  return base;
}

void write(MessageWriter& writer, const StepCosts& step) {
  const auto& [costs, chains, capacities, margin, refusal] = step;
  put(writer, costs);
  writer.number(static_cast<std::int64_t>(chains.size()));
  for (const auto& [stage, longest] : chains) writer.number(stage.first).number(stage.second).number(longest);
  writer.number(static_cast<std::int64_t>(capacities.size()));
  for (const Bytes capacity : capacities) writer.number(capacity);
  writer.number(margin);
  write(writer, refusal);
}

StepCosts read_step_costs(MessageReader& reader) {
  StepCosts step;
  step.costs = get_stage_costs(reader);
  for (std::int64_t left = reader.number(); left > 0; --left) {
    const auto replica = static_cast<std::int32_t>(reader.number());
    const auto stage = static_cast<std::int32_t>(reader.number());
    step.chains[{replica, stage}] = reader.number();
  }
  for (std::int64_t left = reader.number(); left > 0; --left) step.capacities.push_back(reader.number());
  step.margin = reader.number();
  step.refusal = read_evaluation(reader);
  return step;
}

}  // namespace debubble
