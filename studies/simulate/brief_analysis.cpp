#include "studies/simulate/brief_analysis.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/analysis/analyse.hpp"
#include "sim/analysis/idle.hpp"
#include "sim/core/at.hpp"
#include "sim/engine/tables.hpp"
#include "studies/simulate/pace.hpp"

namespace debubble {

BriefAnalysis::BriefAnalysis(const Job& job, RowStream& stream, const std::vector<Bytes>& capacities,
                             RunObserver* observer)
    : job_(job),
      stream_(stream),
      observer_(observer),
      memory_(job, stream, capacities, observer),
      inside_(job.schedule, job.costs),
      states_(job.schedule.rows.size()),
      reports_(states_.size()) {
  for (std::size_t d = 0; d < states_.size(); ++d) start(d);
  for (const TransferTime& transfer : stream.tables().channels) longest_ = std::max(longest_, transfer.total());
}

Report BriefAnalysis::report() {
  RunLength length;
  const State* last = nullptr;
  for (const State& state : states_) {
    if (state.last < 0) continue;
    if (last == nullptr || state.last_end > last->last_end) last = &state;
    length.longest_span = std::max(length.longest_span, state.last_end - state.first_begin);
  }
  length.makespan = last == nullptr ? 0 : last->last_end;
  check_device_time(length.makespan, job_.schedule.devices);
  memory_.finish(reports_);
  // Without contention and stragglers nothing after a device's last work is anybody's fault.
  for (std::size_t d = 0; d < states_.size(); ++d) {
    at(reports_[d].idle_by_cause, IdleCause::kDrain) += length.makespan - states_[d].last_end;
  }
  Report report = report_of_devices(job_.schedule, job_.costs, length, std::move(reports_));
  report.p2p_messages = messages_;
  report.p2p_bytes = bytes_;
  report.inside_collectives = inside_sum_;
  if (last == nullptr) return report;
  report.critical_path.transfer = last->way.latency + last->way.bandwidth;
  report.critical_path.compute = length.makespan - report.critical_path.transfer;
  report.critical_path.hops = last->way.hops;
  return report;
}

void BriefAnalysis::start(std::size_t device) {
  const std::vector<Op>& row = job_.schedule.rows[device];
  State& state = states_[device];
  const auto is_forward = [](const Op& op) { return op.kind == OpKind::kForward; };
  const auto first = std::find_if(row.begin(), row.end(), [](const Op& op) { return makes_input_gradient(op.kind); });
  const auto last = std::find_if(row.rbegin(), row.rend(), is_forward);
  state.first_backward = static_cast<std::size_t>(first - row.begin());
  state.last_forward = last == row.rend() ? 0 : static_cast<std::size_t>(row.rend() - last) - 1;
  state.ended = row.empty();
  state.may_begin = !row.empty() && source_stage(row[0].kind, row[0].stage, job_.schedule.stages) < 0;
  reports_[device].device = static_cast<int>(device);
}

// What a cell waited for last: the member whose input came last, -1: its lane. On a tie the lane counts, then the
// first member, as for a SpanRecorder: nothing was lost by waiting for the other.
int BriefAnalysis::waited_for(const StreamedCell& cell, const State& state) const {
  Nanoseconds latest = state.last_end;
  int member = -1;
  for (std::size_t k = 0; k < cell.in.size(); ++k) {
    if (cell.in[k].maker < 0) continue;
    const Nanoseconds arrival = cell.in[k].sent + transfer(cell.in[k]).total();
    if (arrival <= latest) continue;
    latest = arrival;
    member = static_cast<int>(k);
  }
  return member;
}

void BriefAnalysis::add(const StreamedCell& cell) {
  State& state = at(states_, cell.device);
  if (state.last < 0) state.last_end = 0;
  DeviceReport& report = at(reports_, cell.device);
  const int member = waited_for(cell, state);
  ExplainedCell explained;
  explained.cell = &cell;
  explained.member = member;
  explained.first = state.last < 0;
  explained.idle_from = state.last_end;
  WaitHistory::Cell past;
  past.begin = cell.begin;
  past.end = cell.end;
  if (member >= 0) {
    const StreamedTensor& in = at(cell.in, member);
    const Way& makers = state.last < 0 ? at(state.first_ways, member) : history_.way(in.maker);
    past.parent = in.maker;
    past.received = true;
    past.transfer = transfer(in);
    past.way = makers.after(past.transfer);
    explain(cell, in, makers, state, explained.causes);
    for (int cause = 0; cause < kIdleCauses; ++cause) at(report.idle_by_cause, cause) += at(explained.causes, cause);
  } else if (state.last >= 0) {
    past.parent = state.last;
    past.way = history_.way(state.last);
  }
  history_.add(past);
  if (state.last < 0) state.first_begin = cell.begin;
  if (state.last < 0 || cell.end > state.last_end) state.way = past.way;
  state.last = cell.number;
  state.last_end = cell.end;
  state.ended = cell.position + (cell.paired ? 2 : 1) == at(job_.schedule.rows, cell.device).size();
  report.busy += cell.end - cell.begin;
  add_exchange(cell, past.way);
  memory_.add(cell);
  if (observer_ != nullptr) {
    explained.parent = past.parent;
    explained.last = state.ended;
    observer_->cell(explained);
  }
  if (cell.number % look_every() == 0) forget();
}

void BriefAnalysis::explain(const StreamedCell& cell, const StreamedTensor& in, const Way& makers, const State& state,
                            NanosecondsByCause& causes) const {
  const IdleCause cause = cell.position <= state.first_backward ? IdleCause::kFill
                          : cell.position > state.last_forward  ? IdleCause::kDrain
                                                                : IdleCause::kDependency;
  const ChainParts wait = state.last < 0 ? WaitHistory::from_start(makers, transfer(in), cell.begin)
                                         : history_.explain(in.maker, transfer(in), state.last_end, cell.begin);
  add_parts(wait, cause, false, causes);
}

// What the members take and make.
void BriefAnalysis::add_exchange(const StreamedCell& cell, const Way& way) {
  for (std::size_t member = 0; member < (cell.paired ? 2U : 1U); ++member) {
    const Op& op = member == 0 ? cell.op : cell.partner;
    inside_sum_ += inside_.of(op);
    if (const StreamedTensor& in = cell.in[member]; in.maker >= 0) {
      ++messages_;
      bytes_ += at(stream_.tables().channel_bytes, in.channel);
    }
    if (const StreamedTensor& out = cell.out[member]; out.channel >= 0) keep_first_way(op, out, way);
  }
}

// A device that waits for its first input does not keep the others' past from being forgotten, but for this.
void BriefAnalysis::keep_first_way(const Op& op, const StreamedTensor& out, const Way& way) {
  const std::int32_t target = at(stream_.program().channels, out.channel).to_device;
  State& state = at(states_, target);
  const std::vector<Op>& row = at(job_.schedule.rows, target);
  if (state.last >= 0 || row.empty()) return;
  for (std::size_t member = 0; member < (row[0].paired_with_next ? 2U : 1U); ++member) {
    if (!feeds(op, row[member], job_.schedule.stages)) continue;
    at(state.first_ways, member) = way;
    if (!state.may_begin) state.last_end = out.sent;
    state.may_begin = true;
  }
}

std::int64_t BriefAnalysis::look_every() const {
  constexpr std::size_t kSeldom = 1024;
  return static_cast<std::int64_t>(std::max(kSeldom, states_.size()));
}

// No wait of a device that has begun begins before its last end, nor is what it waits for sent much earlier. One that
// waits for its first input takes that from a device that counts.
void BriefAnalysis::forget() {
  Nanoseconds earliest = std::numeric_limits<Nanoseconds>::max();
  for (const State& state : states_) {
    if ((state.last >= 0 || state.may_begin) && !state.ended) earliest = std::min(earliest, state.last_end);
  }
  if (observer_ != nullptr) tell_observer();
  if (earliest != std::numeric_limits<Nanoseconds>::max()) history_.forget_before(earliest - longest_);
}

// One that has not begun may begin at time 0, with a wait if not with a cell.
void BriefAnalysis::tell_observer() {
  memory_.settle_all();
  Nanoseconds earliest = memory_.settled_until();
  for (const State& state : states_) {
    if (!state.ended) earliest = std::min(earliest, state.last < 0 ? 0 : state.last_end);
  }
  observer_->nothing_before(earliest);
}

bool follows_without_spans(const Job& job) {
  if (!RowStream::knows(job.schedule, job.p2p) || job.schedule.asynchrony || job.extra_work) return false;
  return !ops_need_events(job) && job.step.empty();
}

}  // namespace debubble
