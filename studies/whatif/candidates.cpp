#include "studies/whatif/candidates.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <utility>

#include "scenario/job/make_schedule.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "studies/parallel.hpp"
#include "studies/whatif/changes.hpp"
#include "studies/whatif/step_time.hpp"

namespace debubble {

namespace {

constexpr double kFasterCandidate = 0.9;
constexpr std::size_t kMostLinks = 16;  // those with most of the step at stake

// A job to try; made when its turn comes.
struct CandidateTrial {
  std::string label;
  std::function<Job()> make;
};

class CandidateTrials {
 public:
  CandidateTrials(const CandidateBase& base, const Sensitivity& sensitivity)
      : base_(base),
        sensitivity_(sensitivity),
        p2p_(base.changes.overlap ? (*base.changes.overlap ? P2p::kOverlapped : P2p::kBlocking) : base.prepared.p2p) {}

  std::vector<CandidateTrial> all() {
    add_stages();
    add_links();
    add_overlap();
    add_shapes();
    return std::move(trials_);
  }

 private:
  void add(std::string label, const Changes& changes) {
    const Changes all = together(base_.changes, changes);
    trials_.push_back({std::move(label), [this, all] { return changed_job(base_.scenario, base_.prepared, all); }});
  }

  void add_stages() {
    for (int stage = 0; stage < base_.prepared.schedule.stages; ++stage) {
      Changes changes;
      changes.stage = stage;
      changes.stage_factor = kFasterCandidate;
      add("stage " + std::to_string(stage) + " 10 % faster", changes);
    }
  }

  void add_all_links(const char* label, double bandwidth, double latency) {
    LinkChange change;
    change.bandwidth = bandwidth;
    change.latency = latency;
    Changes changes;
    changes.links = {change};
    add(label, changes);
  }

  void add_links() {
    std::vector<Derivative> links;
    bool latency = false;
    bool bytes = false;
    for (const Derivative& derivative : sensitivity_.derivatives) {
      latency = latency || derivative.name.kind == CostName::Kind::kLatency;
      if (derivative.name.kind != CostName::Kind::kTimePerByte) continue;
      bytes = true;
      if (derivative.at_stake > 0) links.push_back(derivative);
    }
    std::stable_sort(links.begin(), links.end(),
                     [](const Derivative& a, const Derivative& b) { return a.at_stake > b.at_stake; });
    links.resize(std::min(links.size(), kMostLinks));
    for (const Derivative& link : links) {
      LinkChange change;
      change.link = link.name.link;
      change.numbers = link.name.links;
      change.bandwidth = 2;
      Changes changes;
      changes.links = {change};
      add((link.name.links.size() < 2 ? "link " : "") + link.name.link + " at twice the bandwidth", changes);
    }
    if (bytes) add_all_links("all links at twice the bandwidth", 2, 1);
    if (latency) add_all_links("no latency", 1, 0);
  }

  void add_overlap() {
    if (p2p_ != P2p::kOverlapped && p2p_ != P2p::kBlocking) return;
    Changes changes;
    changes.overlap = p2p_ != P2p::kOverlapped;
    add(*changes.overlap ? "communication that overlaps with compute" : "communication that holds compute", changes);
  }

  // Other schedules of the same kind; the scenario must be able to make them.
  void add_shapes() {
    const ScheduleEntry* entry = find_schedule(base_.name);
    if (is_table_file(base_.name) || entry == nullptr) return;
    const int microbatches = base_.prepared.schedule.microbatches;
    const int chunks = base_.prepared.schedule.chunks;
    for (const int m : {microbatches + 1, microbatches - 1}) {
      add_shape(std::to_string(m) + " microbatches", m, chunks);
    }
    if (entry->default_chunks < 2 || entry->chunk_step < 1) return;
    for (const int v : {chunks + entry->chunk_step, chunks - entry->chunk_step}) {
      add_shape(std::to_string(v) + " stages per device", microbatches, v);
    }
  }

  void add_shape(std::string label, int microbatches, int chunks) {
    if (microbatches < 1 || chunks < 1) return;
    Scenario other = base_.scenario;
    other.devices = base_.prepared.schedule.devices;
    other.microbatches = microbatches;
    if (base_.prepared.schedule.chunks > 1) other.chunks = chunks;
    trials_.push_back({std::move(label), [this, other] {
                         NoProgress silent;
                         return changed_job(other, prepare(other, base_.name, silent), base_.changes);
                       }});
  }

  const CandidateBase& base_;
  const Sensitivity& sensitivity_;
  P2p p2p_ = P2p::kOverlapped;
  std::vector<CandidateTrial> trials_;
};

std::optional<Candidate> tried_candidate(const CandidateTrial& trial, double per_microbatch) {
  try {
    const Job job = trial.make();
    const auto program = lowered(job, job.p2p);
    if (!program) return std::nullopt;
    Candidate candidate{trial.label, step_time(job, *program), job.schedule.microbatches, 0};
    const double own = static_cast<double>(candidate.step) / candidate.microbatches;
    candidate.gain = per_microbatch > 0 ? 1 - own / per_microbatch : 0;
    return candidate;
  } catch (const InputError&) {
    return std::nullopt;  // the schedule does not take it
  }
}

}  // namespace

std::vector<Candidate> rank_candidates(const CandidateBase& base, const Sensitivity& sensitivity, int threads,
                                       const RunsDone& tell) {
  CandidateTrials trials(base, sensitivity);
  const std::vector<CandidateTrial> list = trials.all();
  const double per_microbatch =
      static_cast<double>(sensitivity.step) / std::max(1, base.prepared.schedule.microbatches);
  std::vector<std::optional<Candidate>> results(list.size());
  std::atomic<std::size_t> done{0};
  for_each_index(list.size(), threads_for(list.size(), threads), [&](std::size_t k) {
    results[k] = tried_candidate(list[k], per_microbatch);
    if (tell) tell(++done, list.size());
  });
  std::vector<Candidate> ranked;
  for (const auto& result : results) {
    if (result) ranked.push_back(*result);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; });
  return ranked;
}

}  // namespace debubble
