#include "studies/sweep/block.hpp"

#include <algorithm>

#include "formats/exporters/finding_text.hpp"
#include "sim/analysis/limit.hpp"
#include "sim/core/exit_status.hpp"

namespace debubble {

namespace {

Bytes highest_peak(const Report& report) {
  Bytes peak = 0;
  for (const DeviceReport& device : report.devices) peak = std::max(peak, device.peak_memory);
  return peak;
}

double ranks_of(const Report& report) {
  return static_cast<double>(report.cluster ? report.cluster->ranks : report.schedule.devices);
}

double merit_of(const Report& report, SweepMerit merit) {
  switch (merit) {
    case SweepMerit::kThroughput:
      return sweep_rate(report);
    case SweepMerit::kPerDevice:
      return sweep_rate(report) / std::max(1.0, ranks_of(report));
    case SweepMerit::kStep:
      return -static_cast<double>(report.makespan);
    case SweepMerit::kBubble:
      return -report.bubble_ratio;
    case SweepMerit::kMemory:
      return -static_cast<double>(highest_peak(report));
    case SweepMerit::kMfu:
      return report.mfu.value_or(0);
  }
  return 0;
}

bool is_better(const SweepBest& a, const SweepBest& b) {
  if (a.asynchronous != b.asynchronous) return b.asynchronous;
  return a.merit != b.merit ? a.merit > b.merit : a.row < b.row;
}

void keep_best(std::vector<SweepBest>& best, SweepBest candidate, int top) {
  const auto room = static_cast<std::size_t>(std::max(top, 0));
  if (room == 0 || (best.size() >= room && !is_better(candidate, best.back()))) return;
  best.insert(std::upper_bound(best.begin(), best.end(), candidate, is_better), std::move(candidate));
  if (best.size() > room) best.pop_back();
}

void keep_asynchronous(std::optional<SweepBest>& best, const SweepBest& candidate) {
  if (candidate.asynchronous && (!best || is_better(candidate, *best))) best = candidate;
}

SweepBest swept_best(const SweptRow& row, SweepMerit merit) {
  const Report& report = row.report;
  SweepBest best;
  best.merit = merit_of(report, merit);
  best.asynchronous = report.stream.has_value();
  best.row = row.number;
  best.makespan = report.makespan;
  best.bubble_ratio = report.bubble_ratio;
  best.rate = sweep_rate(report);
  best.in_samples = report.samples_per_second.has_value();
  best.mfu = report.mfu;
  best.peak = highest_peak(report);
  if (report.memory_fit) best.spare = report.memory_fit->spare;
  best.limit = limit_word(row);
  return best;
}

// On one line, whatever was in it.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

}  // namespace

std::int64_t SweepBlock::rows() const {
  std::int64_t sum = 0;
  for (const auto& [ending, tally] : tallies) sum += tally.rows;
  return sum;
}

std::int64_t SweepBlock::rows_with(int status) const {
  std::int64_t sum = 0;
  for (const auto& [ending, tally] : tallies) sum += ending.first == status ? tally.rows : 0;
  return sum;
}

SweepVerdict verdict_of(const SweptRow& row) {
  SweepVerdict verdict{row.status, "", ""};
  if (!row.reasons.empty()) {
    const Diagnostic& first = row.reasons.front();
    verdict.code = first.code;
    verdict.reason = one_line(first.place.empty() ? first.message : first.place + ": " + first.message);
    return verdict;
  }
  if (row.status == kExitOk) return verdict;
  for (const Finding& finding : row.report.findings) {
    if (!is_error(finding)) continue;
    verdict.code = code_of(finding);
    verdict.reason = one_line(finding_text(finding, row.report));
    break;
  }
  return verdict;
}

std::string limit_word(const SweptRow& row) {
  return row.has_numbers() && row.report.makespan > 0 ? to_string(find_limit(row.report).kind) : "";
}

SweepBlock sweep_block(SweepRunner& runner, std::int64_t first, std::int64_t end, const SweepForm& form) {
  SweepBlock block;
  for (std::int64_t number = first; number < end; ++number) {
    const SweptRow row = runner.run(number);
    SweepVerdict verdict = verdict_of(row);
    SweepTally& tally = block.tallies[{verdict.status, verdict.code}];
    if (tally.rows++ == 0) tally.reason = std::move(verdict.reason);
    if (form.line) block.lines += form.line(row);
    if (row.status != kExitOk || form.top <= 0) continue;
    SweepBest candidate = swept_best(row, form.merit);
    keep_asynchronous(block.asynchronous, candidate);
    keep_best(block.best, std::move(candidate), form.top);
  }
  return block;
}

void add_block(SweepBlock& sum, const SweepBlock& later, int top) {
  for (const auto& [ending, tally] : later.tallies) {
    SweepTally& known = sum.tallies[ending];
    if (known.rows == 0) known.reason = tally.reason;
    known.rows += tally.rows;
  }
  for (const SweepBest& best : later.best) keep_best(sum.best, best, top);
  if (later.asynchronous) keep_asynchronous(sum.asynchronous, *later.asynchronous);
}

}  // namespace debubble
