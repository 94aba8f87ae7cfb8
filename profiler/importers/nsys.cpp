#include "profiler/importers/nsys.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "formats/problems/problem_list.hpp"
#include "profiler/importers/nsys_tables.hpp"
#include "profiler/records/copy_names.hpp"
#include "profiler/records/range_text.hpp"
#include "sim/core/words.hpp"

namespace debubble {
namespace {

constexpr std::array kWorkTables = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                                    "CUPTI_ACTIVITY_KIND_MEMSET"};
constexpr const char* kRecord = "record with: nsys profile --trace=cuda,nvtx ...";

std::uint32_t small(std::int64_t value) {
  return value < 0 || value > std::numeric_limits<std::uint32_t>::max() ? 0 : static_cast<std::uint32_t>(value);
}

// The rows of one process, merged by time.
class NsysReplay {
 public:
  NsysReplay(const NsysTables& tables, RecordSink& sink)
      : sink_(sink), ranges_(tables.ranges()), work_(tables.work()), memory_(tables.memory()) {}

  void run() {
    bool ranges = ranges_.next();
    bool work = work_.next();
    bool memory = memory_ && memory_->next();
    while (ranges || work || memory) {
      constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
      const Nanoseconds range_time = ranges ? ranges_.number(0) : kNever;
      const Nanoseconds work_time = work ? work_.number(work_.is_null(0) ? 5 : 0) : kNever;
      const Nanoseconds memory_time = memory ? memory_->number(0) : kNever;
      if (ranges && range_time <= work_time && range_time <= memory_time) {
        push();
        ranges = ranges_.next();
      } else if (work && work_time <= memory_time) {
        pop_before(work_time);
        give_work();
        work = work_.next();
      } else {
        pop_before(memory_time);
        sink_.on(MemoryRecord{0, small(memory_->number(1)), memory_time, static_cast<std::uint64_t>(memory_->number(2)),
                              memory_->number(3)});
        memory = memory_->next();
      }
    }
    pop_before(std::numeric_limits<Nanoseconds>::max());
    while (!ends_.empty()) pop(*ends_.begin());
  }

  [[nodiscard]] std::int64_t overlaps() const { return overlaps_; }
  [[nodiscard]] std::int64_t unlinked() const { return unlinked_; }
  [[nodiscard]] std::uint64_t pushed() const { return pushed_; }

 private:
  struct Open {
    std::uint64_t range;
    Nanoseconds end;
  };
  using End = std::pair<Nanoseconds, std::uint32_t>;  // of a thread's innermost range

  void pop(End end) {
    std::vector<Open>& stack = threads_[end.second];
    sink_.on(RangePop{end.second, stack.back().end});
    stack.pop_back();
    ends_.erase(end);
    if (!stack.empty()) ends_.emplace(stack.back().end, end.second);
  }

  void pop_before(Nanoseconds time) {
    while (!ends_.empty() && ends_.begin()->first < time) pop(*ends_.begin());
  }

  void push() {
    const Nanoseconds begin = ranges_.number(0);
    Nanoseconds end = std::max(begin, ranges_.number(1));
    const std::uint32_t thread = small(ranges_.number(3) & kThreadBits);
    pop_before(begin);
    std::vector<Open>& stack = threads_[thread];
    while (!stack.empty() && stack.back().end == begin) pop({begin, thread});
    if (!stack.empty()) {
      const bool endless = ranges_.number(1) == std::numeric_limits<Nanoseconds>::max();
      if (end > stack.back().end && !endless) ++overlaps_;
      end = std::min(end, stack.back().end);
      ends_.erase({stack.back().end, thread});
    }
    const RangeText text = parse_range_text(ranges_.text(2));
    sink_.on(RangePush{++pushed_, thread, begin, text.name, text.sequence, 0, text.sizes});
    stack.push_back({pushed_, end});
    ends_.emplace(end, thread);
  }

  void give_work() {
    const std::uint32_t correlation = small(work_.number(3));
    if (work_.is_null(0)) {
      ++unlinked_;
    } else if (correlation != last_launch_ || work_.number(0) != last_start_) {
      launch(correlation);
    }
    KernelRecord record;
    const std::int64_t kind = work_.number(4);
    record.work = kind == 0 ? GpuWork::kKernel : kind == 2 ? GpuWork::kSet : GpuWork::kCopy;
    record.correlation = correlation;
    record.begin = work_.number(5);
    record.end = work_.number(6);
    if (record.end <= record.begin) record.begin = record.end = 0;
    record.device = small(work_.number(7));
    record.context = small(work_.number(8));
    record.stream = small(work_.number(9));
    record.graph_node = static_cast<std::uint64_t>(work_.number(10));
    record.bytes = std::max<Bytes>(0, work_.number(11));
    record.name = kind == 2 ? "set" : work_.text(13);
    if (kind == 1) {
      const std::int64_t copy = work_.number(12);
      record.name = copy_name(copy);
      if (copy == kPeerCopyKind) record.work = GpuWork::kPeerCopy;
    }
    sink_.on(record);
  }

  void launch(std::uint32_t correlation) {
    last_launch_ = correlation;
    last_start_ = work_.number(0);
    const std::uint32_t thread = small(work_.number(2) & kThreadBits);
    const auto stack = threads_.find(thread);
    if (stack != threads_.end() && !stack->second.empty()) {
      sink_.on(LinkRecord{correlation, stack->second.back().range});
    } else {
      ++unlinked_;
    }
    sink_.on(LaunchRecord{correlation, thread, last_start_, std::max(last_start_, work_.number(1))});
  }

  RecordSink& sink_;
  SqliteQuery ranges_;
  SqliteQuery work_;
  std::optional<SqliteQuery> memory_;
  std::map<std::uint32_t, std::vector<Open>> threads_;
  std::set<End> ends_;
  std::uint64_t pushed_ = 0;
  std::int64_t overlaps_ = 0;
  std::int64_t unlinked_ = 0;
  std::uint32_t last_launch_ = 0;
  Nanoseconds last_start_ = -1;
};

void give_facts(const SqliteFile& file, RecordSink& sink) {
  if (file.has_column("TARGET_INFO_GPU", "id") && file.has_column("TARGET_INFO_GPU", "name")) {
    SqliteQuery gpus = file.query("SELECT id, name FROM TARGET_INFO_GPU ORDER BY id");
    while (gpus.next()) {
      sink.on(FactRecord{"device." + std::to_string(gpus.number(0)) + ".name", gpus.text(1)});
    }
  }
  if (file.has_column("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")) {
    SqliteQuery start = file.query(
        "SELECT strftime('%Y-%m-%d', utcEpochNs / 1000000000, 'unixepoch') FROM TARGET_INFO_SESSION_START_TIME LIMIT "
        "1");
    if (start.next() && !start.is_null(0)) sink.on(FactRecord{"date", start.text(0)});
  }
}

}  // namespace

NsysExport::NsysExport(const SqliteFile& file) : file_(file) {
  check_tables();
  find_processes();
  if (file.has_table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE")) {
    SqliteQuery count = file.query("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
    if (count.next()) graphs_ = count.number(0);
  }
}

void NsysExport::check_tables() const {
  ProblemList problems(file_.name());
  const auto need = [&](const std::string& table, std::initializer_list<const char*> columns, const char* what) {
    if (!file_.has_table(table)) {
      problems.add("P006", file_.name(), "the export has no table " + table + ": " + what, kRecord);
      return;
    }
    for (const char* column : columns) {
      if (file_.has_column(table, column)) continue;
      problems.add("P006", file_.name() + "#" + table, std::string("the table has no column ") + column,
                   "is this an export of Nsight Systems? nsys export --type sqlite report.nsys-rep");
    }
  };
  need("NVTX_EVENTS", {"start", "end", "eventType", "globalTid"}, "without ranges nobody knows what a kernel is for");
  need("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "correlationId", "globalTid"}, "it joins kernels to threads");
  bool any = false;
  for (const char* table : kWorkTables) {
    if (!file_.has_table(table)) continue;
    any = true;
    need(table, {"start", "end", "correlationId"}, "");
  }
  if (!any) problems.add("A003", file_.name(), "the export has no GPU work: no kernels, copies or memsets", kRecord);
  problems.throw_if_any();
  if (!file_.query("SELECT 1 FROM NVTX_EVENTS WHERE eventType IN (59, 60) LIMIT 1").next()) {
    throw InputError(Diagnostic{"D004", file_.name(),
                                "the export has no NVTX ranges: nobody knows what a kernel is for",
                                "PyTorch: wrap the steps in torch.autograd.profiler.emit_nvtx(record_shapes=True)"});
  }
}

void NsysExport::find_processes() {
  std::set<std::int64_t> found;
  bool all_tell = true;
  bool any_work = false;
  for (const char* table : kWorkTables) {
    if (!file_.has_table(table)) continue;
    const std::string name(table);
    any_work |= file_.query("SELECT 1 FROM " + name + " LIMIT 1").next();
    if (!file_.has_column(name, "globalPid")) {
      all_tell = false;
      continue;
    }
    SqliteQuery rows = file_.query("SELECT DISTINCT globalPid FROM " + name);
    while (rows.next()) found.insert(rows.number(0) & ~kThreadBits);
  }
  if (!any_work) {
    throw InputError(
        Diagnostic{"A003", file_.name(), "the export has no GPU work: no kernels, copies or memsets", kRecord});
  }
  processes_.assign(found.begin(), found.end());
  if (!all_tell || processes_.empty()) processes_ = {0};
}

void NsysExport::replay(std::int64_t process, RecordSink& sink) {
  give_facts(file_, sink);
  NsysReplay replay(NsysTables(file_, process), sink);
  replay.run();
  // The table of graphs is of all processes.
  if (graphs_ > 0 && process == processes_.front()) {
    sink.on(LossRecord{"CUDA graphs recorded as a whole", graphs_});
  }
  if (!noted_.insert(process).second) return;
  overlaps_ += replay.overlaps();
  unlinked_ += replay.unlinked();
}

std::vector<std::string> NsysExport::notes() const {
  std::vector<std::string> notes;
  const auto note = [&](std::int64_t count, const std::string& noun, const std::string& rest) {
    if (count > 0) notes.push_back(counted(count, noun) + " " + rest);
  };
  note(unlinked_, "GPU event", "without a launch in the export, or launched outside of any range: not linked");
  note(overlaps_, "range", "overlapping without nesting: cut off where the range around it ends");
  return notes;
}

}  // namespace debubble
