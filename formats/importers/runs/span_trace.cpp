#include "formats/importers/runs/span_trace.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "formats/importers/kineto_json.hpp"
#include "formats/importers/runs/slow_workers.hpp"
#include "formats/text/micros.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

enum class SpanKind : std::uint8_t { kForward, kBackward, kForwardSend, kForwardRecv, kBackwardSend, kBackwardRecv };

struct SpanWord {
  std::string_view name;
  SpanKind kind;
};
constexpr std::array kSpanWords{
    SpanWord{"forward-compute", SpanKind::kForward},    SpanWord{"backward-compute", SpanKind::kBackward},
    SpanWord{"forward-send", SpanKind::kForwardSend},   SpanWord{"forward-recv", SpanKind::kForwardRecv},
    SpanWord{"backward-send", SpanKind::kBackwardSend}, SpanWord{"backward-recv", SpanKind::kBackwardRecv},
};

constexpr std::int64_t kMostRanks = 4096;
constexpr std::int64_t kMostChunks = 128;
constexpr std::int64_t kMostMicrobatches = 1'000'000;
constexpr double kSpanOverlap = 0.001;  // the writer's events of two streams: 70 us of 500 ms were seen
constexpr Nanoseconds kLatestSpan = Nanoseconds{1} << 61;

using Thread = std::pair<std::int64_t, std::int64_t>;  // process, thread

struct RankSpan {
  SpanKind kind = SpanKind::kForward;
  Thread thread;
  std::int64_t step = 0;
  std::int64_t chunk = 0;
  std::int64_t microbatch = 0;
  std::int64_t position = 0;
  Nanoseconds begin = 0;
  Nanoseconds end = 0;

  [[nodiscard]] bool computes() const { return kind == SpanKind::kForward || kind == SpanKind::kBackward; }
};

struct ThreadRank {
  std::int32_t pipeline = 0;
  std::int32_t tensor = 0;
};

// The number behind `word` in "PP rank 1, TP rank 0, compute".
std::optional<std::int32_t> rank_behind(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  const std::optional<std::int64_t> number = whole_number(text.substr(0, text.find_first_not_of("0123456789")));
  if (!number || *number >= kMostRanks) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

class SpanTraceReader : public KinetoVisitor {
 public:
  explicit SpanTraceReader(ProblemList& problems) : problems_(problems) {}

  void event(std::size_t index, const KinetoFields& fields) override {
    index_ = index;
    const Thread thread{whole_number(fields.pid).value_or(-1), whole_number(fields.tid).value_or(-1)};
    if (fields.ph == "\"M\"" && fields.name == "thread_name") return name_thread(thread, fields.named);
    if (fields.ph != "\"X\"") return;
    const auto word = std::find_if(kSpanWords.begin(), kSpanWords.end(),
                                   [&](const SpanWord& known) { return known.name == fields.name; });
    if (word == kSpanWords.end()) {
      ++others;
      return;
    }
    RankSpan span{.kind = word->kind, .thread = thread};
    const auto begin = time(fields.ts, "ts");
    const auto duration = time(fields.dur, "dur");
    if (!begin || !duration || !number(fields.step, "step", std::numeric_limits<std::int32_t>::max(), span.step))
      return;
    if (span.computes() && (!number(fields.chunk, "model_chunk", kMostChunks, span.chunk) ||
                            !number(fields.microbatch, "mb_id", kMostMicrobatches, span.microbatch))) {
      return;
    }
    if (!number(fields.position, "seq_id", kMostMicrobatches * kMostChunks, span.position)) return;
    span.begin = *begin;
    span.end = *begin + *duration;
    spans.push_back(span);
  }

  void fact(std::string_view, std::string_view) override {}

  std::vector<RankSpan> spans;
  std::map<Thread, ThreadRank> threads;
  std::int64_t others = 0;

 private:
  void name_thread(Thread thread, std::string_view name) {
    const auto pipeline = rank_behind(name, "PP rank ");
    if (!pipeline) return;
    threads[thread] = {*pipeline, rank_behind(name, "TP rank ").value_or(0)};
  }

  std::optional<Nanoseconds> time(std::string_view token, const char* field) {
    const std::optional<Nanoseconds> value = nanoseconds_of_micros(token);
    const bool duration = std::string_view(field) == "dur";
    if (!value) {
      wrong("P007", field, std::string("\"") + field + "\" must be a number of microseconds");
    } else if (*value > (duration ? kLongestDuration : kLatestSpan) || *value < (duration ? 0 : -kLongestDuration)) {
      wrong("P004", field, duration ? "no span takes less than nothing or longer than 52 days" : "no such time");
      return std::nullopt;
    }
    return value;
  }

  bool number(std::string_view token, const char* field, std::int64_t below, std::int64_t& into) {
    const std::optional<std::int64_t> value = whole_number(token);
    if (value && *value >= 0 && *value < below) {
      into = *value;
      return true;
    }
    wrong(token.empty() ? "P006" : "P004", std::string("args/") + field,
          token.empty()
              ? std::string("a span of this kind needs \"") + field + "\" in its args"
              : std::string("\"") + field + "\" must be a whole number from 0, below " + std::to_string(below));
    return false;
  }

  void wrong(const char* code, const std::string& field, std::string message) {
    problems_.add_at_pointer(code, "/" + std::to_string(index_) + "/" + field, std::move(message),
                             "spans are as StragglerAnalysis writes them");
  }

  ProblemList& problems_;
  std::size_t index_ = 0;
};

class SpanRun {
 public:
  SpanRun(std::string file, SpanTraceReader& read) : file_(std::move(file)), read_(read) {}

  ImportedRun run(int replica) {
    const std::vector<std::int64_t> processes = find_replicas();
    if (replica < 0 || static_cast<std::size_t>(replica) >= processes.size()) {
      throw InputError(Diagnostic{
          "C003", "--replica",
          "there is no replica " + std::to_string(replica) + "; the trace has " + std::to_string(processes.size()),
          "they are counted from 0"});
    }
    process_ = processes[static_cast<std::size_t>(replica)];
    find_ranks();
    sort_spans();
    keep_whole_steps();
    for (auto& [step, spans] : steps_) {
      run_.iterations.push_back({"step " + std::to_string(step), observe(spans)});
    }
    add_notes(replica, processes);
    drop_warm_up(run_);
    return std::move(run_);
  }

 private:
  using OpKey = std::tuple<std::int32_t, OpKind, std::int32_t, std::int32_t>;  // device, kind, stage, microbatch

  struct PlacedSpan {
    RankSpan span;
    std::int32_t device = 0;
  };

  // Processes with ops, in the order of their numbers; without those of threads that have no rank.
  std::vector<std::int64_t> find_replicas() {
    std::set<std::int64_t> found;
    std::int64_t nameless = 0;
    for (const RankSpan& span : read_.spans) {
      const auto thread = read_.threads.find(span.thread);
      if (thread == read_.threads.end()) {
        ++nameless;
      } else if (span.computes()) {
        found.insert(span.thread.first);
      }
    }
    if (found.empty()) {
      throw InputError(Diagnostic{"D004", file_,
                                  "no forward-compute or backward-compute span is of a thread whose name has its rank",
                                  "thread_name events are like \"PP rank 0, TP rank 0, compute\""});
    }
    lose("spans of threads without a rank in their name", nameless);
    return {found.begin(), found.end()};
  }

  void find_ranks() {
    std::set<std::int32_t> present;
    tensor_ = std::numeric_limits<std::int32_t>::max();
    for (const RankSpan& span : read_.spans) {
      const auto thread = read_.threads.find(span.thread);
      if (thread == read_.threads.end() || span.thread.first != process_ || !span.computes()) continue;
      present.insert(thread->second.pipeline);
      tensor_ = std::min(tensor_, thread->second.tensor);
    }
    run_.devices = *present.rbegin() + 1;
    for (std::int32_t rank = 0; rank < run_.devices; ++rank) {
      if (present.contains(rank)) continue;
      throw InputError(Diagnostic{"D005", file_,
                                  "the trace has no op of pipeline rank " + std::to_string(rank) +
                                      ", but one of rank " + std::to_string(run_.devices - 1),
                                  "give the trace of all ranks"});
    }
  }

  void sort_spans() {
    std::int64_t chunks = 0;
    for (const RankSpan& span : read_.spans) {
      const auto thread = read_.threads.find(span.thread);
      if (thread == read_.threads.end()) continue;
      if (span.computes()) {
        workers_.add({span.thread.first, thread->second.pipeline,
                      span.kind == SpanKind::kForward ? OpKind::kForward : OpKind::kBackward},
                     span.step, span.end - span.begin);
      }
      if (span.thread.first != process_ || thread->second.tensor != tensor_) continue;
      chunks = std::max(chunks, span.chunk + 1);
      steps_[span.step].push_back({span, thread->second.pipeline});
    }
    chunks_ = static_cast<std::int32_t>(chunks);
  }

  [[nodiscard]] Op op_of(const PlacedSpan& placed) const {
    return {.kind = placed.span.kind == SpanKind::kForward ? OpKind::kForward : OpKind::kBackward,
            .stage = static_cast<std::int32_t>(placed.span.chunk) * run_.devices + placed.device,
            .microbatch = static_cast<std::int32_t>(placed.span.microbatch)};
  }

  [[nodiscard]] std::set<OpKey> ops_of(const std::vector<PlacedSpan>& spans) const {
    std::set<OpKey> ops;
    for (const PlacedSpan& placed : spans) {
      if (!placed.span.computes()) continue;
      const Op op = op_of(placed);
      if (ops.emplace(placed.device, op.kind, op.stage, op.microbatch).second) continue;
      throw InputError(Diagnostic{"V020", file_,
                                  "step " + std::to_string(placed.span.step) + " has the " +
                                      (op.kind == OpKind::kForward ? "forward" : "backward") + " of model_chunk " +
                                      std::to_string(placed.span.chunk) + ", mb_id " + std::to_string(op.microbatch) +
                                      " on rank " + std::to_string(placed.device) + " twice",
                                  "give a trace in which every op of a step is one span"});
    }
    return ops;
  }

  // Steps with every op that any step has.
  void keep_whole_steps() {
    std::set<OpKey> all;
    for (const auto& [step, spans] : steps_) all.merge(ops_of(spans));
    const std::size_t before = steps_.size();
    std::erase_if(steps_, [&](const auto& step) { return ops_of(step.second).size() != all.size(); });
    lose("iterations that are not whole", static_cast<std::int64_t>(before - steps_.size()));
    if (steps_.empty()) {
      throw InputError(
          Diagnostic{"D006", file_, "no step is whole: in each, some rank lacks an op", "record more steps"});
    }
  }

  Observation observe(std::vector<PlacedSpan>& spans) {
    Observation observation;
    std::sort(spans.begin(), spans.end(), [](const PlacedSpan& a, const PlacedSpan& b) {
      return std::tie(a.device, a.span.position, a.span.begin) < std::tie(b.device, b.span.position, b.span.begin);
    });
    for (const PlacedSpan& placed : spans) {
      if (!placed.span.computes()) continue;
      observation.ops.push_back({op_of(placed), {}, false, placed.device, placed.span.begin, placed.span.end});
    }
    add_transfers(spans, SpanKind::kForward, SpanKind::kForwardSend, SpanKind::kForwardRecv, observation);
    add_transfers(spans, SpanKind::kBackward, SpanKind::kBackwardSend, SpanKind::kBackwardRecv, observation);
    lose("ops that overlapped the next by up to a thousandth of it, and were trimmed",
         trim_overlaps(observation.ops, kSpanOverlap));
    return observation;
  }

  // Spans are sorted by device and position: the k-th send of a device is of its k-th op that sends.
  void add_transfers(const std::vector<PlacedSpan>& spans, SpanKind compute, SpanKind send, SpanKind receive,
                     Observation& observation) {
    const std::int32_t towards = compute == SpanKind::kForward ? 1 : -1;
    const std::int32_t last = compute == SpanKind::kForward ? run_.devices * chunks_ - 1 : 0;
    const std::int32_t first = compute == SpanKind::kForward ? 0 : run_.devices * chunks_ - 1;
    for (auto begin = spans.begin(); begin != spans.end();) {
      const std::int32_t device = begin->device;
      const auto end =
          std::find_if(begin, spans.end(), [&](const PlacedSpan& placed) { return placed.device != device; });
      std::vector<Op> makers;
      std::vector<Op> users;
      std::vector<const RankSpan*> sends;
      std::vector<const RankSpan*> receives;
      for (; begin != end; ++begin) {
        if (begin->span.kind == compute) {
          const Op op = op_of(*begin);
          if (op.stage != last) makers.push_back(op);
          if (op.stage != first) users.push_back(op);
        }
        if (begin->span.kind == send) sends.push_back(&begin->span);
        if (begin->span.kind == receive) receives.push_back(&begin->span);
      }
      for (std::size_t k = 0; k < std::min(makers.size(), sends.size()); ++k) {
        sent_[{makers[k].kind, makers[k].stage, makers[k].microbatch}] = {device, *sends[k]};
      }
      for (std::size_t k = 0; k < std::min(users.size(), receives.size()); ++k) {
        received_[{users[k].kind, users[k].stage - towards, users[k].microbatch}] = {device, *receives[k]};
      }
    }
    pair_transfers(observation);
  }

  void pair_transfers(Observation& observation) {
    for (const auto& [key, from] : sent_) {
      const auto to = received_.find(key);
      if (to == received_.end()) {
        lose("transfers seen at one end only", 1);
        continue;
      }
      ObservedTransfer transfer;
      transfer.op = {.kind = std::get<0>(key), .stage = std::get<1>(key), .microbatch = std::get<2>(key)};
      transfer.from_device = from.first;
      transfer.to_device = to->second.first;
      transfer.begin = std::max(from.second.begin, to->second.second.begin);
      transfer.end = std::max(transfer.begin, to->second.second.end);
      observation.transfers.push_back(transfer);
      received_.erase(to);
    }
    lose("transfers seen at one end only", static_cast<std::int64_t>(received_.size()));
    sent_.clear();
    received_.clear();
  }

  void lose(const std::string& what, std::int64_t count) {
    if (count <= 0) return;
    const auto known =
        std::find_if(run_.losses.begin(), run_.losses.end(), [&](const LossItem& item) { return item.what == what; });
    if (known == run_.losses.end()) {
      run_.losses.push_back({what, count});
    } else {
      known->count += count;
    }
  }

  void add_notes(int replica, const std::vector<std::int64_t>& processes) {
    run_.method = "op spans of StragglerAnalysis";
    run_.on_gpu = true;
    run_.clocks.method = "by the trace's writer";
    if (processes.size() > 1) {
      run_.notes.push_back("replica " + std::to_string(replica) + " of " + std::to_string(processes.size()) +
                           " data-parallel pipelines; --replica N reads another");
    }
    if (read_.others > 0) {
      run_.notes.push_back(counted(read_.others, "span") +
                           " of gradient and parameter collectives, optimizer and others: outside of the pipeline");
    }
    for (std::string& line : workers_.notes(processes)) run_.notes.push_back(std::move(line));
  }

  std::string file_;
  SpanTraceReader& read_;
  std::int64_t process_ = 0;
  std::int32_t tensor_ = 0;
  std::int32_t chunks_ = 0;
  std::map<std::int64_t, std::vector<PlacedSpan>> steps_;
  std::map<std::tuple<OpKind, std::int32_t, std::int32_t>, std::pair<std::int32_t, RankSpan>> sent_;
  std::map<std::tuple<OpKind, std::int32_t, std::int32_t>, std::pair<std::int32_t, RankSpan>> received_;
  WorkerTimes workers_;
  ImportedRun run_;
};

}  // namespace

bool is_span_trace(std::string_view text) {
  return text.find("\"forward-compute\"") != std::string_view::npos &&
         text.find("\"backward-compute\"") != std::string_view::npos &&
         text.find("\"mb_id\"") != std::string_view::npos;
}

ImportedRun read_span_trace(std::vector<RunText> files, const RunReaderOptions& options) {
  RunText& file = files.front();
  ProblemList problems(file.file);
  SpanTraceReader reader(problems);
  (void)walk_kineto(std::move(file.text), problems, reader);
  problems.throw_if_any();
  return SpanRun(file.file, reader).run(options.replica);
}

}  // namespace debubble
