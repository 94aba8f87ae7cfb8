#include "formats/importers/recovery/nsys_rank.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "formats/files/sqlite_file.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/text.hpp"
#include "sim/core/error.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kThreadPart = 0xFFFFFF;  // of a globalTid; the rest is the process
constexpr Nanoseconds kLatestOfNsys = Nanoseconds{1} << 61;
constexpr const char* kExport = "is this an export of Nsight Systems? nsys export --type sqlite report.nsys-rep";
constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kLaunches = "CUPTI_ACTIVITY_KIND_RUNTIME";

bool plausible(Nanoseconds begin, Nanoseconds end) {
  return begin > -kLatestOfNsys && begin < kLatestOfNsys && end >= begin && end < kLatestOfNsys &&
         end - begin <= kLongestDuration;
}

class NsysRanks {
 public:
  NsysRanks(std::string_view image, const std::string& file) : file_(image, file) {}

  std::vector<RankEvents> read(bool several) {
    require_ranges();
    read_ranges();
    if (by_process_.empty()) {
      throw InputError(Diagnostic{
          "D004", file_.name(), "no NVTX range says anything of a pipeline",
          "name the ops: torch.cuda.nvtx.range(\"PP:0F3\") around the forward of microbatch 3 on stage 0, \"PP:0B3\" "
          "around its backward, or record under torch.autograd.profiler.emit_nvtx()"});
    }
    if (several && by_process_.size() > 1) {
      throw InputError(Diagnostic{"D005", file_.name(),
                                  "it is of " + std::to_string(by_process_.size()) +
                                      " processes, and other files are given: nothing says their "
                                      "ranks",
                                  "record one file per rank: nsys profile -o report.rank%q{RANK} python ..."});
    }
    read_kernels();
    return in_order();
  }

 private:
  void require_ranges() const {
    ProblemList problems(file_.name());
    if (!file_.has_table("NVTX_EVENTS")) {
      problems.add("P006", file_.name(), "the database has no table NVTX_EVENTS", kExport);
    } else {
      for (const char* column : {"start", "end", "eventType", "globalTid"}) {
        if (file_.has_column("NVTX_EVENTS", column)) continue;
        problems.add("P006", file_.name() + "#NVTX_EVENTS", std::string("the table has no column ") + column, kExport);
      }
    }
    problems.throw_if_any();
  }

  // 59: push/pop, 60: start/end. The text is in the row, or in the table of strings.
  [[nodiscard]] SqliteQuery ranges() const {
    const bool ids = file_.has_column("NVTX_EVENTS", "textId") && file_.has_column("StringIds", "value");
    const std::string own = file_.has_column("NVTX_EVENTS", "text") ? "text" : "NULL";
    const std::string text = ids ? "COALESCE(" + own + ", (SELECT value FROM StringIds WHERE id = textId))" : own;
    return file_.query("SELECT start, end, " + text +
                       ", globalTid FROM NVTX_EVENTS WHERE eventType IN (59, 60) AND start IS NOT NULL AND end IS NOT "
                       "NULL ORDER BY start, end DESC");
  }

  void read_ranges() {
    SqliteQuery rows = ranges();
    std::map<std::int64_t, std::uint32_t> threads;
    while (rows.next()) {
      const Nanoseconds begin = rows.number(0);
      const Nanoseconds end = rows.number(1);
      const std::string_view text = rows.text(2);
      const PipelineName name = parse_pipeline_name(text);
      const RangeMeaning meaning = meaning_of(text);
      const bool named = name.kind != PipelineName::Kind::kNone;
      const bool op = !named && meaning.kind == RangeMeaning::Kind::kNone && text.starts_with("aten::");
      if (!named && !op && meaning.kind == RangeMeaning::Kind::kNone) continue;
      const std::int64_t thread_id = rows.number(3);
      RankEvents& events = by_process_[thread_id & ~kThreadPart];
      if (!plausible(begin, end)) {
        ++events.losses["ranges that end before they begin"];
        continue;
      }
      const auto thread = threads.try_emplace(thread_id, static_cast<std::uint32_t>(threads.size())).first->second;
      add(events, text, name, meaning, begin, end, thread);
    }
    std::erase_if(by_process_,
                  [](const auto& entry) { return entry.second.named.empty() && entry.second.ranges.empty(); });
  }

  static void add(RankEvents& events, std::string_view text, const PipelineName& name, const RangeMeaning& meaning,
                  Nanoseconds begin, Nanoseconds end, std::uint32_t thread) {
    if (name.kind == PipelineName::Kind::kOther) {
      ++events.losses["PP: ranges that are neither op nor transfer"];
    } else if (name.kind != PipelineName::Kind::kNone) {
      PipelineEvent event;
      event.name = name;
      event.begin = begin;
      event.end = end;
      event.lane = thread;
      events.named.push_back(event);
    } else if (meaning.kind == RangeMeaning::Kind::kNone) {
      events.ops.push_back({autograd_word(name_in(text)), begin, end, sequence_in(text)});
    } else if (meaning.kind == RangeMeaning::Kind::kIteration) {
      events.steps.push_back({std::string(iteration_name(text)), begin, end});
    } else {
      if (meaning.kind == RangeMeaning::Kind::kNode) events.nodes.push_back(autograd_word(node_in(name_in(text))));
      events.ranges.push_back({meaning, begin, end, sequence_in(text)});
    }
  }

  // "aten::mm" of "aten::mm, seq = 7, op_id = 9".
  static std::string_view name_in(std::string_view text) { return text.substr(0, text.find(", ")); }

  // Ids of launches are unique in a process only.
  void read_kernels() {
    const bool can = file_.has_column(kKernels, "correlationId") && file_.has_column(kKernels, "start") &&
                     file_.has_column(kKernels, "end") && file_.has_column(kLaunches, "correlationId") &&
                     file_.has_column(kLaunches, "start") && file_.has_column(kLaunches, "globalTid");
    if (!can) return;
    const bool tells = file_.has_column(kKernels, "globalPid");
    if (!tells && by_process_.size() > 1) return;
    std::map<std::pair<std::int64_t, std::int64_t>, Nanoseconds> launches;
    SqliteQuery calls = file_.query(std::string("SELECT start, correlationId, globalTid FROM ") + kLaunches +
                                    " WHERE correlationId > 0 AND start IS NOT NULL");
    while (calls.next())
      launches.try_emplace({tells ? calls.number(2) & ~kThreadPart : 0, calls.number(1)}, calls.number(0));
    std::string name = "NULL";
    for (const char* column : {"shortName", "demangledName"}) {
      if (file_.has_column(kKernels, column) && file_.has_column("StringIds", "value")) name = column;
    }
    SqliteQuery rows = file_.query(
        "SELECT start, end, correlationId, " + std::string(tells ? "globalPid" : "0") + ", " +
        (name == "NULL" ? name : "(SELECT value FROM StringIds WHERE id = " + name + ")") + ", " +
        (file_.has_column(kKernels, "deviceId") ? "deviceId" : "0") + " FROM " + kKernels + " WHERE start IS NOT NULL");
    while (rows.next()) add_kernel(rows, tells, launches);
  }

  void add_kernel(const SqliteQuery& rows, bool tells,
                  const std::map<std::pair<std::int64_t, std::int64_t>, Nanoseconds>& launches) {
    const std::int64_t process = tells ? rows.number(3) & ~kThreadPart : 0;
    const auto found = tells ? by_process_.find(process) : by_process_.begin();
    if (found == by_process_.end()) return;
    RankEvents& events = found->second;
    LaunchedWork work;
    work.begin = rows.number(0);
    work.end = rows.number(1);
    const auto launch = launches.find({process, rows.number(2)});
    if (launch == launches.end() || !plausible(work.begin, work.end)) {
      ++events.losses["kernels without their launch"];
      return;
    }
    work.launched = launch->second;
    work.kind = kernel_kind(rows.text(4));
    events.work.push_back(work);
    const std::int64_t device = rows.number(5);
    if (device >= 0 && device <= kMostRanksOfRun) devices_[found->first].insert(device);
  }

  std::vector<RankEvents> in_order() {
    std::set<std::int64_t> gpus;
    for (const auto& [process, used] : devices_) gpus.insert(*used.begin());
    const bool by_gpu = by_process_.size() > 1 && gpus.size() == by_process_.size();
    std::vector<RankEvents> ranks;
    for (auto& [process, events] : by_process_) {
      if (by_process_.size() == 1) {
        events.rank = rank_in_file_name(file_.name());
      } else {
        events.rank = by_gpu ? *devices_.at(process).begin() : static_cast<std::int64_t>(ranks.size());
      }
      events.rank_by_name = by_process_.size() == 1 && events.rank.has_value();
      events.rank_by_process = by_process_.size() > 1;
      events.file = file_.name();
      if (by_process_.size() > 1)
        events.file += " (process " + std::to_string(process / (kThreadPart + 1) % (kThreadPart + 1)) + ")";
      read_target(events);
      sort_events(events);
      ranks.push_back(std::move(events));
    }
    return ranks;
  }

  void read_target(RankEvents& events) const {
    if (file_.has_column("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")) {
      SqliteQuery start = file_.query("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1");
      if (start.next()) events.base = start.number(0);
    }
    if (file_.has_column("TARGET_INFO_GPU", "name")) {
      SqliteQuery gpu = file_.query("SELECT name FROM TARGET_INFO_GPU LIMIT 1");
      if (gpu.next() && !first_bad_utf8(gpu.text(0))) events.device = std::string(gpu.text(0));
    }
  }

  SqliteFile file_;
  std::map<std::int64_t, RankEvents> by_process_;
  std::map<std::int64_t, std::set<std::int64_t>> devices_;  // by process
};

}  // namespace

bool is_sqlite(std::string_view image) { return image.starts_with(std::string_view("SQLite format 3\0", 16)); }

std::vector<RankEvents> read_nsys_ranks(std::string_view image, const std::string& file, bool several) {
  return NsysRanks(image, file).read(several);
}

}  // namespace debubble
