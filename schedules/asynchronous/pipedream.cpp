#include "schedules/asynchronous/pipedream.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "schedules/asynchronous/stream_rows.hpp"
#include "schedules/common/closed_forms.hpp"
#include "schedules/common/request.hpp"
#include "sim/core/at.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/split.hpp"

namespace debubble {

namespace {

constexpr int kMostRoutes = 4096;  // a placement lists every route through every stage

// "2,1,1"; empty where the text is no such list.
std::vector<int> parse_replicas(const std::string& text) {
  std::vector<int> replicas;
  for (const std::string& item : split(text)) {
    const auto count = read_whole<int>(item);
    if (!count || *count < 1) return {};
    replicas.push_back(*count);
  }
  return replicas;
}

std::string straight(int devices) {
  std::string text = "1";
  for (int device = 1; device < devices; ++device) text += ",1";
  return text;
}

std::vector<int> replicas_of(const ScheduleRequest& request) {
  const auto given = request.params.find("replicas");
  if (given == request.params.end()) {
    std::vector<int> one_each(to_index(request.devices), 1);
    return one_each;
  }
  const std::string all_alone = "write how many devices each stage takes, first stage first: --param replicas=" +
                                straight(std::min(request.devices, 8));
  std::vector<int> replicas = parse_replicas(given->second);
  if (replicas.empty()) {
    fail("S061", "--param replicas", "\"" + given->second + "\" is not a list of whole numbers from 1", all_alone);
  }
  const auto devices = std::accumulate(replicas.begin(), replicas.end(), std::int64_t{0});
  if (devices != request.devices) {
    fail("S062", "--param replicas",
         "the stages of \"" + given->second + "\" take " + std::to_string(devices) + " devices; there are " +
             std::to_string(request.devices),
         "use -p " + std::to_string(devices) + ", or " + all_alone);
  }
  return replicas;
}

// After so many microbatches they meet the same devices again.
int routes_of(const std::vector<int>& replicas, int microbatches) {
  std::int64_t routes = 1;
  for (const int count : replicas) {
    routes = std::min(std::lcm(routes, std::int64_t{count}), std::int64_t{microbatches});
  }
  if (routes > kMostRoutes) {
    fail("S063", "--param replicas",
         "microbatches take " + std::to_string(routes) + " different routes through these stages; at most " +
             std::to_string(kMostRoutes) + " are kept",
         "use numbers of replicas that divide each other");
  }
  return static_cast<int>(routes);
}

// How far a device of the stage runs ahead. The runtime's own rule: devices at and after the stage, shared among the
// stage's own.
int pipedream_warmup(const std::vector<int>& replicas, std::size_t stage) {
  const int all = std::accumulate(replicas.begin(), replicas.end(), 0);
  const int before = std::accumulate(replicas.begin(), replicas.begin() + static_cast<std::ptrdiff_t>(stage), 0);
  return (all - 1 - before) / replicas[stage];
}

void place(Schedule& schedule, const std::vector<int>& replicas, int routes) {
  std::vector<std::int32_t> device;
  for (int route = 0; route < routes; ++route) {
    int first = 0;
    for (const int count : replicas) {
      device.push_back(first + route % count);
      first += count;
    }
  }
  schedule.stages = static_cast<int>(replicas.size());
  schedule.placement = Placement(routes, schedule.stages, std::move(device));
  for (std::size_t i = 0; i < schedule.replica_of.size(); ++i) {
    schedule.replica_of[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(routes));
  }
}

Schedule build_pipedream(const ScheduleRequest& request) {
  require_one_chunk(request, "pipedream");
  const std::vector<int> replicas = replicas_of(request);
  Schedule schedule = start_schedule(request, "pipedream", 1);
  place(schedule, replicas, routes_of(replicas, request.microbatches));
  std::string text;
  std::size_t device = 0;
  for (std::size_t stage = 0; stage < replicas.size(); ++stage) {
    text += (stage == 0 ? "" : ",") + std::to_string(replicas[stage]);
    for (int k = 0; k < replicas[stage]; ++k, ++device) {
      schedule.rows[device] = one_engine_row(static_cast<int>(stage), pipedream_warmup(replicas, stage),
                                             request.microbatches, k, replicas[stage]);
    }
  }
  schedule.params = {{"replicas", text}};
  schedule.asynchrony.emplace().versions = Asynchrony::Versions::kStashed;
  if (schedule.stages < schedule.devices) {
    schedule.replicas_share_weights = true;
    schedule.notes.emplace_back(
        "the all-reduce of gradients among the devices of one stage takes no time here; they update together");
  }
  return schedule;
}

std::optional<double> pipedream_makespan(const FormCase& form) {
  const std::vector<int> replicas = parse_replicas(form_word(form, "replicas"));
  const bool alone = std::all_of(replicas.begin(), replicas.end(), [](int count) { return count == 1; });
  return alone ? fill_and_drain(form) : std::nullopt;
}

// As many microbatches as the device runs ahead, and one; a stage is p/S device shares.
std::optional<double> pipedream_peak(const FormCase& form) {
  std::vector<int> replicas = parse_replicas(form_word(form, "replicas"));
  if (replicas.empty()) replicas.assign(static_cast<std::size_t>(form.devices), 1);
  std::size_t stage = 0;
  int first = form.device;
  while (first >= replicas[stage]) first -= replicas[stage++];
  const int share_of_m = form.microbatches > first ? (form.microbatches - first - 1) / replicas[stage] + 1 : 0;
  const int held = std::min(pipedream_warmup(replicas, stage) + 1, share_of_m);
  return held * static_cast<double>(form.devices) / static_cast<double>(replicas.size());
}

}  // namespace

const ScheduleEntry& pipedream_entry() {
  static const ScheduleEntry entry{
      .name = "pipedream",
      .summary = "1f1b that never flushes, with a stash of weights; stages may take several devices",
      .citation = "Narayanan et al., PipeDream, SOSP 2019; Harlap et al., arXiv 1806.03377",
      .constraints = "p >= 1, m >= 1; the replicas of all stages add up to p",
      .needs = "no flush: stale gradients; up to p versions of a stage's weights",
      .splits_backward = false,
      .default_chunks = 1,
      .params = {{"replicas", "r0,r1,...", "1,1,...", "devices of each stage, first stage first; they add up to p"}},
      .build = build_pipedream,
      .family = ScheduleFamily::kAsynchronous,
      .certainty = Certainty::kReproduced,
      .certainty_note = "warm-up and numbers of versions follow the authors' code; staleness is tested by brute force",
      .makespan = {"(m + p - 1)(f + b) for one device per stage; in the stream a microbatch every max of (f + b)/r at "
                   "best, r the replicas of a stage",
                   pipedream_makespan},
      .peak = {"min(floor((p - 1 - devices before the stage) / r) + 1, ceil(m / r)) p/S, r the stage's replicas",
               pipedream_peak},
      .frameworks = "the authors' code (msr-fiddle/pipedream)",
      .advice =
          "Keeps every device busy once the pipeline is full, at the price of gradients S - 1 - s updates old and as "
          "many copies of the first stage's weights as it has microbatches in flight. Give slow stages more "
          "replicas.",
      .chunk_step = 0};
  return entry;
}

}  // namespace debubble
