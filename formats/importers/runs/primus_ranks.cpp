#include "formats/importers/runs/primus_ranks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "formats/importers/imported_run.hpp"
#include "formats/importers/kineto_ranks.hpp"
#include "formats/json/json_tree.hpp"
#include "formats/text/micros.hpp"
#include "formats/text/quantities.hpp"
#include "formats/text/text.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr const char* kPrimusHelp = "this is not a file of Primus' pp_vis, or it was changed";
constexpr std::int64_t kMostPrimusChunks = 128;

struct PrimusConfig {
  std::int64_t devices = 0;  // 0: no config.json
  std::int64_t chunks = 1;
  std::int64_t microbatches = 0;
};

struct PrimusIteration {
  std::vector<Nanoseconds> forward_begin, forward_end, backward_begin, backward_end;
};

struct PrimusRank {
  std::string file;
  std::map<std::int64_t, PrimusIteration> iterations;
};

const JsonValue* member_of(const JsonValue& object, std::string_view key) {
  const auto found = std::find_if(object.children.begin(), object.children.end(),
                                  [&](const JsonValue& child) { return child.key == key; });
  return found == object.children.end() ? nullptr : &*found;
}

// Milliseconds, as the file writes them.
std::optional<Nanoseconds> nanoseconds_of_millis(const JsonValue& value) {
  const bool number = value.kind == JsonValue::Kind::kFraction || value.kind == JsonValue::Kind::kInteger;
  if (!number) return std::nullopt;
  const bool exponent = value.text.find_first_of("eE") != std::string::npos;
  const std::optional<Nanoseconds> micros = nanoseconds_of_micros(exponent ? value.text : value.text + "e3");
  if (!micros || *micros < 0 || *micros > kLongestDuration / 1000) return std::nullopt;
  return exponent ? *micros * 1000 : *micros;
}

std::vector<Nanoseconds> times_of(const JsonValue& iteration, const char* key, const std::string& pointer,
                                  ProblemList& problems) {
  const JsonValue* list = member_of(iteration, key);
  const std::string place = pointer + "/" + key;
  if (list == nullptr || list->kind != JsonValue::Kind::kArray) {
    problems.add_at_pointer(list == nullptr ? "P006" : "P007", place,
                            std::string("an iteration needs an array \"") + key + "\"", kPrimusHelp);
    return {};
  }
  std::vector<Nanoseconds> times;
  for (const JsonValue& value : list->children) {
    const std::optional<Nanoseconds> time = nanoseconds_of_millis(value);
    if (!time) {
      problems.add_at_pointer("P004", place + "/" + std::to_string(times.size()),
                              "must be milliseconds from 0 to 52 days; got " + describe(value), kPrimusHelp);
    }
    times.push_back(time.value_or(0));
  }
  return times;
}

PrimusIteration iteration_of(const JsonValue& value, const std::string& pointer, ProblemList& problems) {
  PrimusIteration iteration;
  iteration.forward_begin = times_of(value, "fwd_start", pointer, problems);
  iteration.forward_end = times_of(value, "fwd_end", pointer, problems);
  iteration.backward_begin = times_of(value, "bwd_start", pointer, problems);
  iteration.backward_end = times_of(value, "bwd_end", pointer, problems);
  const std::size_t count = iteration.forward_begin.size();
  if (iteration.forward_end.size() != count || iteration.backward_begin.size() != count ||
      iteration.backward_end.size() != count) {
    problems.add_at_pointer("P004", pointer, "the four lists of times are not equally long", kPrimusHelp);
  }
  return iteration;
}

PrimusRank primus_rank_of(const JsonValue& root, const std::string& file, ProblemList& problems) {
  PrimusRank rank{file, {}};
  for (const JsonValue& child : root.children) {
    const std::string pointer = "/" + child.key;
    const std::optional<std::int64_t> number = whole_number(child.key);
    if (!number || *number < 0 || child.kind != JsonValue::Kind::kObject) {
      problems.add_at_pointer("P007", pointer, "must be an iteration: its number, and an object", kPrimusHelp);
      continue;
    }
    rank.iterations[*number] = iteration_of(child, pointer, problems);
  }
  return rank;
}

std::int64_t config_number(const JsonValue& root, const char* key, std::int64_t most, ProblemList& problems) {
  const JsonValue* value = member_of(root, key);
  if (value != nullptr && value->kind == JsonValue::Kind::kInteger && value->integer >= 1 && value->integer <= most) {
    return value->integer;
  }
  problems.add_at_pointer(value == nullptr ? "P006" : "P004", std::string("/") + key,
                          std::string("\"") + key + "\" must be a whole number from 1 to " + std::to_string(most),
                          kPrimusHelp);
  return 1;
}

// The number in "pp_rank_3.json".
int rank_in_name(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename().string();
  constexpr std::string_view kPrefix = "pp_rank_";
  const std::size_t at = name.find(kPrefix);
  std::optional<std::int64_t> number;
  if (at != std::string::npos) {
    const std::string digits = name.substr(at + kPrefix.size());
    number = whole_number(std::string_view(digits).substr(0, digits.find_first_not_of("0123456789")));
  }
  if (number && *number >= 0 && *number < 4096) return static_cast<int>(*number);
  throw InputError(Diagnostic{"D005", file, "the file's name does not say its rank", "Primus names it pp_rank_3.json"});
}

class PrimusRun {
 public:
  ImportedRun run(std::vector<RunText> files) {
    for (RunText& file : files) read(file);
    order_ranks();
    check_config();
    run_.devices = static_cast<int>(ranks_.size());
    run_.method = "begins and ends that Primus logged on each rank";
    run_.on_gpu = true;
    run_.begins_show_transfers = true;
    // Megatron-LM overlaps transfers by default where ranks hold several chunks, and waits for each where they do not.
    run_.p2p = config_.chunks > 1 ? P2p::kOverlapped : P2p::kCoupled;
    const std::vector<std::int64_t> numbers = whole_iterations();
    run_.clocks = {.method = "each rank's own begin of the iteration", .residual = 0, .offsets = {}, .bounded = false};
    for (const std::int64_t number : numbers) run_.iterations.push_back({std::to_string(number), observe(number)});
    if (trimmed_ > 0) run_.losses.push_back({kTrimmedOps, trimmed_});
    add_notes();
    return std::move(run_);
  }

 private:
  void read(RunText& file) {
    ProblemList problems(file.file);
    const std::optional<JsonValue> root = parse_json(file.text, problems);
    problems.throw_if_any();
    if (root->kind != JsonValue::Kind::kObject) {
      throw InputError(Diagnostic{"P007", file.file, "must be a JSON object; got " + describe(*root), kPrimusHelp});
    }
    if (member_of(*root, "pp_size") != nullptr) {
      config_.devices = config_number(*root, "pp_size", 4096, problems);
      config_.chunks = config_number(*root, "vp_size", kMostPrimusChunks, problems);
      config_.microbatches = config_number(*root, "num_mbs", 1'000'000, problems);
      problems.throw_if_any();
      return;
    }
    const int number = rank_in_name(file.file);
    PrimusRank rank = primus_rank_of(*root, file.file, problems);
    problems.throw_if_any();
    if (!by_number_.emplace(number, std::move(rank)).second) {
      throw InputError(Diagnostic{"D005", file.file, "rank " + std::to_string(number) + " is given twice",
                                  "give one file for every rank"});
    }
  }

  void order_ranks() {
    if (by_number_.empty()) {
      throw InputError(Diagnostic{"D005", "FILE", "no file of a rank is given", "give pp_rank_0.json and all others"});
    }
    const int last = std::max(by_number_.rbegin()->first, static_cast<int>(config_.devices) - 1);
    const std::string some_file = by_number_.begin()->second.file;
    for (int rank = 0; rank <= last; ++rank) {
      const auto found = by_number_.find(rank);
      if (found == by_number_.end()) {
        throw InputError(Diagnostic{"D005", some_file, "the file of rank " + std::to_string(rank) + " is missing",
                                    "give pp_rank_0.json to pp_rank_" + std::to_string(last) + ".json"});
      }
      ranks_.push_back(std::move(found->second));
    }
  }

  void check_config() const {
    if (config_.devices == 0) return;
    const auto wanted = static_cast<std::size_t>(config_.chunks * config_.microbatches);
    for (const PrimusRank& rank : ranks_) {
      for (const auto& [number, iteration] : rank.iterations) {
        if (iteration.forward_begin.size() == wanted) continue;
        throw InputError(Diagnostic{"D010", rank.file,
                                    "iteration " + std::to_string(number) + " has " +
                                        counted(static_cast<std::int64_t>(iteration.forward_begin.size()), "forward") +
                                        ", but num_mbs * vp_size of config.json is " + std::to_string(wanted),
                                    "give the files of one run"});
      }
    }
    const auto devices = static_cast<std::int64_t>(ranks_.size());
    if (devices == config_.devices && (config_.chunks == 1 || config_.microbatches % devices == 0)) return;
    throw InputError(Diagnostic{
        "D010", ranks_.front().file,
        devices == config_.devices
            ? "Megatron-LM's interleaved order takes microbatches in groups of the ranks, and " +
                  std::to_string(config_.microbatches) + " are no multiple of " + std::to_string(devices)
            : counted(devices, "rank") + " are given, but pp_size of config.json is " + std::to_string(config_.devices),
        "give the files of one run"});
  }

  // Of all ranks, without the warm-up.
  std::vector<std::int64_t> whole_iterations() {
    std::vector<std::int64_t> whole;
    std::vector<Nanoseconds> lengths;
    for (const auto& [number, iteration] : ranks_.front().iterations) {
      const std::size_t count = iteration.forward_begin.size();
      const bool everywhere = std::all_of(ranks_.begin(), ranks_.end(), [&, n = number](const PrimusRank& rank) {
        const auto found = rank.iterations.find(n);
        return found != rank.iterations.end() && found->second.forward_begin.size() == count;
      });
      if (!everywhere || count == 0) continue;
      whole.push_back(number);
      // An iteration that ends before it begins is refused later, with its ops.
      lengths.push_back(std::max<Nanoseconds>(0, iteration.backward_end.back() - iteration.forward_begin.front()));
    }
    if (whole.empty()) {
      throw InputError(Diagnostic{"D006", ranks_.front().file, "no iteration is in the files of all ranks",
                                  "give the files of one run"});
    }
    const auto lost = static_cast<std::int64_t>(ranks_.front().iterations.size() - whole.size());
    if (lost > 0) run_.losses.push_back({"iterations that are not whole", lost});
    const std::size_t warm_up = warm_up_iterations(lengths);
    if (warm_up > 0) {
      run_.notes.push_back(counted(static_cast<std::int64_t>(warm_up), "iteration") +
                           " at the start, more than a quarter longer than the median, left out as warm-up");
    }
    whole.erase(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(warm_up));
    return whole;
  }

  // The k-th forward of a rank; a backward's chunk counts from the other end.
  [[nodiscard]] Op op_of(OpKind kind, std::size_t rank, std::size_t k) const {
    const auto devices = static_cast<std::int64_t>(ranks_.size());
    const auto place = static_cast<std::int64_t>(k);
    std::int64_t chunk = 0;
    std::int64_t microbatch = place;
    if (config_.chunks > 1) {
      const std::int64_t group = devices * config_.chunks;
      chunk = place % group / devices;
      microbatch = place / group * devices + place % devices;
    }
    if (kind == OpKind::kBackward) chunk = config_.chunks - 1 - chunk;
    return {.kind = kind,
            .stage = static_cast<std::int32_t>(chunk * devices + static_cast<std::int64_t>(rank)),
            .microbatch = static_cast<std::int32_t>(microbatch)};
  }

  [[nodiscard]] Observation observe_raw(std::int64_t number) const {
    Observation observation;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const PrimusIteration& times = ranks_[r].iterations.at(number);
      const auto device = static_cast<std::int32_t>(r);
      for (std::size_t k = 0; k < times.forward_begin.size(); ++k) {
        observation.ops.push_back(
            {op_of(OpKind::kForward, r, k), {}, false, device, times.forward_begin[k], times.forward_end[k]});
        observation.ops.push_back(
            {op_of(OpKind::kBackward, r, k), {}, false, device, times.backward_begin[k], times.backward_end[k]});
      }
    }
    return observation;
  }

  Observation observe(std::int64_t number) {
    Observation observation = observe_raw(number);
    std::map<std::tuple<OpKind, std::int32_t, std::int32_t>, const ObservedOp*> ops;
    for (const ObservedOp& op : observation.ops) ops[{op.op.kind, op.op.stage, op.op.microbatch}] = &op;
    for (const ObservedOp& made : observation.ops) {
      const std::int32_t towards = made.op.kind == OpKind::kForward ? 1 : -1;
      const auto user = ops.find({made.op.kind, made.op.stage + towards, made.op.microbatch});
      if (user != ops.end()) early_ = std::max(early_, made.end - user->second->begin);
    }
    trimmed_ += trim_overlaps(observation.ops);
    return observation;
  }

  void add_notes() {
    run_.notes.emplace_back(config_.devices == 0 ? "no config.json is given: every rank is taken to hold one chunk"
                            : config_.chunks > 1 ? "which op a time belongs to follows from Megatron-LM's "
                                                   "interleaved order: the files do not say it"
                                                 : "the k-th forward of a rank is taken to be microbatch k's");
    if (early_ > 0) {
      run_.notes.push_back("ops begin up to " + format_duration(early_) +
                           " before their input was made: by so much at least the ranks' clocks differ");
    }
    run_.notes.emplace_back("no transfer was timed: how long after their input was made ops begin says what one takes");
  }

  PrimusConfig config_;
  std::map<int, PrimusRank> by_number_;
  std::vector<PrimusRank> ranks_;
  std::int64_t trimmed_ = 0;
  Nanoseconds early_ = 0;  // the most by which an op begins before its input was made
  ImportedRun run_;
};

}  // namespace

bool is_primus_rank(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || text[begin] != '{') return false;
  const std::string_view head = text.substr(begin, 4096);
  const bool config =
      head.find("\"pp_size\"") != std::string_view::npos && head.find("\"num_mbs\"") != std::string_view::npos;
  return config || head.find("\"fwd_start\"") != std::string_view::npos;
}

ImportedRun read_primus_ranks(std::vector<RunText> files, const RunReaderOptions& options) {
  require_replica(options.replica, 1);
  return PrimusRun().run(std::move(files));
}

}  // namespace debubble
