// What the catalog promises in numbers, on uniform stages without communication: closed forms are exact wherever they
// say anything, and no device holds more than the memory limit that it was given.
#include "schedules/catalog.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/test.hpp"
#include "tests/support/toy.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// Of one device share; the backward is the sum of its halves.
struct Times {
  double f, i, w, held;
};

const std::vector<Times> kTimes{{1, 1, 1, 1}, {1, 0.5, 0.5, 1}, {2, 1.5, 1.5, 0.5}, {1, 2, 1, 1},
                                {1, 1, 2, 0}, {2, 0.5, 0.5, 1}, {4, 5, 3, 0.5}};

FormCase form_of(const Schedule& schedule, const Times& times) {
  FormCase form;
  form.devices = schedule.devices;
  form.microbatches = schedule.microbatches;
  form.chunks = schedule.chunks;
  for (const auto& [name, value] : schedule.params) form.params[name] = value;
  form.forward = times.f;
  form.backward = times.i + times.w;
  form.input_grad = times.i;
  form.weight_grad = times.w;
  form.held = times.held;
  return form;
}

// Uniform stages that serve whole and split backwards alike.
StageCosts costs_of(const Schedule& schedule, const Times& times) {
  StageCosts costs = split_costs(schedule, times.f, times.i, times.w, times.held);
  for (StageCost& stage : costs.stages) stage.backward = stage.input_grad + stage.weight_grad;
  return costs;
}

bool differs(std::int64_t got, double expected, std::int64_t unit, std::int64_t slack) {
  return std::abs(static_cast<double>(got) - expected * static_cast<double>(unit)) > static_cast<double>(slack) + 0.001;
}

std::string units_text(std::int64_t value, std::int64_t unit) {
  return std::to_string(static_cast<double>(value) / static_cast<double>(unit));
}

// How often the row's forms have said something, and the first thing they said that is not so.
struct Verdict {
  int makespans = 0;
  int peaks = 0;
  std::string problem;
};

void check_forms(const ScheduleEntry& entry, const Schedule& schedule, const Times& times, Verdict& verdict) {
  FormCase form = form_of(schedule, times);
  const Totals totals = totals_of(schedule, costs_of(schedule, times));
  const std::string at = " (f=" + std::to_string(times.f) + " i=" + std::to_string(times.i) +
                         " w=" + std::to_string(times.w) + " held=" + std::to_string(times.held) + ")";
  // Toy times divide evenly but for pieces like sevenths, which may each be rounded by half a nanosecond.
  const bool even =
      schedule.piece_shares.empty() && kUnit / 4 % (schedule.chunks * schedule.pieces * schedule.stages) == 0;
  const std::int64_t slack = even ? 0 : static_cast<std::int64_t>(schedule.total_ops());
  if (const auto value = entry.makespan.value == nullptr ? std::nullopt : entry.makespan.value(form)) {
    ++verdict.makespans;
    if (differs(totals.makespan, *value, kUnit, slack) && verdict.problem.empty()) {
      verdict.problem =
          describe(schedule) + at + ": takes " + units_text(totals.makespan, kUnit) + ", not " + std::to_string(*value);
    }
  }
  for (form.device = 0; form.device < schedule.devices && entry.peak.value != nullptr; ++form.device) {
    const auto value = entry.peak.value(form);
    if (!value) continue;
    ++verdict.peaks;
    const Bytes peak = totals.devices[static_cast<std::size_t>(form.device)].peak_activation;
    if (differs(peak, *value, kShare, slack) && verdict.problem.empty()) {
      verdict.problem = describe(schedule) + at + ": device " + std::to_string(form.device) + " holds " +
                        units_text(peak, kShare) + ", not " + std::to_string(*value);
    }
  }
}

Verdict verdict_of(const ScheduleEntry& entry) {
  Verdict verdict;
  std::size_t which = 0;
  for (const Schedule& schedule : schedules_of(entry)) {
    for (int turn = 0; turn < 3; ++turn) check_forms(entry, schedule, kTimes[which++ % kTimes.size()], verdict);
  }
  return verdict;
}

// The limit "3", "2.5" or "1.5p" in device shares.
double shares_of(const std::string& limit, int devices) {
  return std::stod(limit) * (limit.back() == 'p' ? devices : 1);
}

struct LimitedRun {
  bool refused = true;
  double highest = 0;  // peak of any device, in device shares
};

LimitedRun run_with_limit(const ScheduleEntry& entry, const ScheduleRequest& request) {
  try {
    const Schedule schedule = build_schedule(entry.name, request);
    LimitedRun run{false, 0};
    for (const DeviceTotals& device : totals_of(schedule, costs_of(schedule, {1, 1, 1, 1})).devices) {
      run.highest = std::max(run.highest, static_cast<double>(device.peak_activation) / static_cast<double>(kShare));
    }
    return run;
  } catch (const InputError&) {
    return {};
  }
}

bool has_limit(const ScheduleEntry& entry) {
  for (const ParamSpec& spec : entry.params) {
    if (spec.name == "memory_limit") return true;
  }
  return false;
}

}  // namespace

TEST_CASE("the closed forms of every catalog row are exact wherever they apply") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    const Verdict verdict = verdict_of(entry);
    CHECK_EQ(verdict.problem, "");
    CHECK_MESSAGE((verdict.makespans >= 2) == (entry.makespan.value != nullptr), "makespan: ", verdict.makespans);
    CHECK_MESSAGE((verdict.peaks >= 2) == (entry.peak.value != nullptr), "peak: ", verdict.peaks);
  }
}

TEST_CASE("a closed form that is computed is also told") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    CHECK((entry.makespan.value == nullptr || !entry.makespan.text.empty()));
    CHECK((entry.peak.value == nullptr || !entry.peak.text.empty()));
  }
}

TEST_CASE("no row with a memory limit ever holds more, on any device") {
  int rows = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (!has_limit(entry)) continue;
    ++rows;
    int kept = 0;
    for (const int devices : {2, 4, 6}) {
      for (const int m : {1, 4, 9, 16}) {
        for (const char* limit : {"1", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "11", "0.5p", "1p", "1.5p", "2p"}) {
          const LimitedRun run = run_with_limit(entry, {devices, m, 0, {{"memory_limit", limit}}});
          if (run.refused) continue;
          ++kept;
          CHECK_MESSAGE(run.highest <= shares_of(limit, devices) + 1e-6, entry.name, " p=", devices, " m=", m,
                        " memory_limit=", std::string(limit), " holds ", run.highest);
        }
      }
    }
    CHECK_MESSAGE(kept > 40, entry.name);
  }
  CHECK(rows >= 1);
}
