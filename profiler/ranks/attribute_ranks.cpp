#include "profiler/ranks/attribute_ranks.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "profiler/ranks/differences.hpp"
#include "profiler/ranks/join.hpp"
#include "profiler/ranks/stages.hpp"
#include "profiler/records/forwarding_sink.hpp"
#include "sim/core/error.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

// Remembers the rank that a process says it is, and hands everything to two others.
class RankedRecords : public ForwardingSink {
 public:
  RankedRecords(RecordSink& own, RecordSink& all) : ForwardingSink(own), all_(all) {}
  void on(const RangePush& record) override { both(record); }
  void on(const RangePop& record) override { both(record); }
  void on(const LinkRecord& record) override { both(record); }
  void on(const LaunchRecord& record) override { both(record); }
  void on(const KernelRecord& record) override { both(record); }
  void on(const MemoryRecord& record) override { both(record); }
  void on(const OverheadRecord& record) override { both(record); }
  void on(const ClockRecord& record) override { both(record); }
  void on(const SwitchRecord& record) override { both(record); }
  void on(const LossRecord& record) override { both(record); }
  void on(const FactRecord& record) override {
    if (record.key == "rank") rank = read_whole<std::int64_t>(record.value);
    both(record);
  }

  std::optional<std::int64_t> rank;

 private:
  template <typename Record>
  void both(const Record& record) {
    next().on(record);
    all_.on(record);
  }

  RecordSink& all_;
};

std::optional<std::int64_t> rank_said_by(const RankStream& stream) {
  RecordSink nothing;
  RankedRecords ranked(nothing, nothing);
  static_cast<void>(stream.replay(ranked));
  return ranked.rank;
}

std::vector<RankStream> of_rank(const std::vector<RankStream>& streams, std::int64_t wanted) {
  std::vector<RankStream> found;
  std::set<std::int64_t> ranks;
  for (const RankStream& stream : streams) {
    const std::optional<std::int64_t> rank = rank_said_by(stream);
    if (rank) ranks.insert(*rank);
    if (rank == wanted) found.push_back(stream);
  }
  if (!found.empty()) return found;
  std::string there;
  for (const std::int64_t rank : ranks) there += (there.empty() ? "" : ", ") + std::to_string(rank);
  throw InputError({"C012", "--rank", "no recording is of rank " + std::to_string(wanted),
                    there.empty()       ? "none says its rank (exports of Nsight Systems never do): leave --rank out"
                    : ranks.size() == 1 ? "there is rank " + there
                                        : "there are ranks " + there});
}

class RanksAttribution {
 public:
  RanksAttribution(std::vector<RankStream> streams, const RanksRequest& request)
      : streams_(std::move(streams)), request_(request) {}

  Attribution run() {
    if (streams_.size() == 1) return of_one_stage({0});
    Attributor together(request_.rules);
    for (const RankStream& stream : streams_) read(stream, together);
    std::stable_sort(ranks_.begin(), ranks_.end(),
                     [](const Rank& left, const Rank& right) { return left.order() < right.order(); });
    std::vector<std::vector<std::string>> layers;
    for (const Rank& rank : ranks_) layers.push_back(layers_at(rank));
    const std::vector<std::vector<std::size_t>> stages = stages_of(layers);
    if (stages.size() > 1) return of_stages(stages);
    Attribution found = together.finish(merged_facts(sizes_of(stages.front())));
    add_replica_notes(stages.front(), found);
    return found;
  }

 private:
  struct Rank {
    const RankStream* stream = nullptr;
    std::optional<std::int64_t> rank;
    std::optional<Attribution> found;  // of this one alone; nothing where it has no work in layers

    // Those that do not say their rank are last, in the order in which they were given.
    [[nodiscard]] std::pair<bool, std::int64_t> order() const { return {!rank, rank.value_or(0)}; }
    [[nodiscard]] std::string label() const { return rank ? "rank " + std::to_string(*rank) : stream->name; }
    [[nodiscard]] std::vector<std::string> layers() const {
      std::vector<std::string> names;
      if (found) {
        for (const ProfileLayer& layer : found->profile.layers) names.push_back(layer.name);
      }
      return names;
    }
  };

  // Of a process without layers, such as one that a rank has started, those of its rank.
  [[nodiscard]] std::vector<std::string> layers_at(const Rank& one) const {
    const auto with = std::find_if(ranks_.begin(), ranks_.end(), [&](const Rank& other) {
      return one.rank && other.rank == one.rank && other.found;
    });
    return one.found || with == ranks_.end() ? one.layers() : with->layers();
  }

  void read(const RankStream& stream, Attributor& together) {
    Attributor alone(request_.rules);
    RankedRecords ranked(alone, together);
    const bool complete = stream.replay(ranked);
    alone.end_of_stream(complete);
    together.end_of_stream(complete);
    Rank rank{&stream, ranked.rank, std::nullopt};
    try {
      rank.found = alone.finish(merged_facts(sizes_of(ranked.rank)));
    } catch (const InputError&) {
      // No layer, or no work in one: it stays with the others, and if none has any, these say why.
    }
    ranks_.push_back(std::move(rank));
  }

  [[nodiscard]] std::vector<HooksFile> sizes_of(std::optional<std::int64_t> rank) const {
    if (!rank) return request_.sizes;
    std::vector<HooksFile> sizes;
    std::copy_if(request_.sizes.begin(), request_.sizes.end(), std::back_inserter(sizes),
                 [&](const HooksFile& file) { return file.rank == *rank; });
    return sizes;
  }

  [[nodiscard]] std::vector<HooksFile> sizes_of(const std::vector<std::size_t>& stage) const {
    std::set<std::int64_t> wanted;
    for (const std::size_t k : stage) {
      if (k >= ranks_.size() || !ranks_[k].rank) return request_.sizes;
      wanted.insert(*ranks_[k].rank);
    }
    std::vector<HooksFile> sizes;
    std::copy_if(request_.sizes.begin(), request_.sizes.end(), std::back_inserter(sizes),
                 [&](const HooksFile& file) { return wanted.contains(file.rank); });
    return sizes;
  }

  Attribution of_one_stage(const std::vector<std::size_t>& stage) {
    Attributor attributor(request_.rules);
    for (const std::size_t k : stage) {
      const RankStream& stream = ranks_.empty() ? streams_[k] : *ranks_[k].stream;
      attributor.end_of_stream(stream.replay(attributor));
    }
    return attributor.finish(merged_facts(sizes_of(stage)));
  }

  Attribution of_stages(const std::vector<std::vector<std::size_t>>& stages) {
    std::vector<StagePart> parts;
    for (const std::vector<std::size_t>& stage : stages) {
      const bool single = stage.size() == 1;
      parts.push_back({label_of(stage), single ? std::move(*ranks_[stage.front()].found) : of_one_stage(stage)});
      if (!single) add_replica_notes(stage, parts.back().found);
    }
    return joined_stages(std::move(parts));
  }

  // "rank 3", "ranks 2, 3"
  [[nodiscard]] std::string label_of(const std::vector<std::size_t>& stage) const {
    std::string text;
    std::set<std::int64_t> ranks;
    for (const std::size_t k : stage) {
      if (ranks_[k].rank && !ranks.insert(*ranks_[k].rank).second) continue;
      text += (text.empty() ? "" : ", ") + (ranks_[k].rank ? std::to_string(*ranks_[k].rank) : ranks_[k].label());
    }
    return (ranks.empty() ? "" : ranks.size() == 1 ? "rank " : "ranks ") + text;
  }

  void add_replica_notes(const std::vector<std::size_t>& stage, Attribution& found) const {
    std::vector<RankProfile> profiles;
    for (const std::size_t k : stage) {
      if (ranks_[k].found) profiles.push_back({ranks_[k].label(), &ranks_[k].found->profile});
    }
    if (profiles.size() < 2) return;
    const bool known = std::all_of(stage.begin(), stage.end(), [&](std::size_t k) { return ranks_[k].rank; });
    const std::string what = counted(profiles.size(), known ? "rank" : "recording");
    add_note(what + ": layers of the same name were taken for replicas of one layer", found);
    if (const std::string apart = differences_between(profiles); !apart.empty()) add_note(apart, found);
  }

  static void add_note(const std::string& note, Attribution& found) {
    std::string& all = found.profile.origin.notes;
    all += (all.empty() ? "" : "; ") + note;
    found.notes.push_back(note);
  }

  std::vector<RankStream> streams_;
  const RanksRequest& request_;
  std::vector<Rank> ranks_;
};

}  // namespace

Attribution attribute_ranks(std::vector<RankStream> streams, const RanksRequest& request) {
  if (request.rank) {
    RanksRequest one = request;
    std::erase_if(one.sizes, [&](const HooksFile& file) { return file.rank != *request.rank; });
    return RanksAttribution(of_rank(streams, *request.rank), one).run();
  }
  return RanksAttribution(std::move(streams), request).run();
}

}  // namespace debubble
