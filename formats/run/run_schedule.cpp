// "schedule" of a run file or schedule file: rows in the words of PyTorch's table, and the numbers around them. What
// few schedules have (slices, copies, asynchrony, ...) is in run_schedule_features.cpp.
#include <limits>
#include <utility>

#include "formats/run/run_parts.hpp"
#include "schedules/exchange/compute_table_cells.hpp"
#include "sim/rows/check.hpp"

namespace debubble {
namespace {

constexpr std::int64_t kMostNumber = std::numeric_limits<std::int32_t>::max() - 1;
constexpr const char* kCounted = "counts are whole numbers, from 1 on";
constexpr IntegerRule kDeviceCount{"devices", 1, kMostNumber, kCounted};
constexpr IntegerRule kStages{"stages", 1, kMostNumber, kCounted};
constexpr IntegerRule kMicrobatchCount{"microbatches", 1, kMostNumber, kCounted};
constexpr IntegerRule kPieces{"pieces of a microbatch", 1, kMostNumber, "1 where microbatches are not halved"};
constexpr IntegerRule kDeviceNumber{"devices, numbered from 0", 0, kMostNumber, "it says which device holds the stage"};
constexpr IntegerRule kReplicaNumber{"replicas, numbered from 0", 0, kMostNumber, "it says whose microbatch it is"};

class ScheduleReader {
 public:
  ScheduleReader(const JsonValue& value, ProblemList& problems)
      : reader_(value, "/schedule", problems), problems_(problems) {}

  Schedule read() {
    if (!reader_.is_object()) return {};
    schedule_.name = reader_.text("name");
    schedule_.devices = count("devices", kDeviceCount);
    schedule_.stages = count("stages", kStages);
    schedule_.chunks = count("chunks", kStages);
    schedule_.microbatches = count("microbatches", kMicrobatchCount);
    schedule_.pieces = count("pieces", kPieces);
    read_params();
    schedule_.notes = read_texts(reader_, "notes", problems_);
    read_rows();
    read_placement();
    read_schedule_features(reader_, schedule_, problems_);
    reader_.finish();
    if (sound_ && problems_.empty()) check();
    return std::move(schedule_);
  }

 private:
  int count(std::string_view key, const IntegerRule& rule) { return static_cast<int>(reader_.integer(key, rule)); }

  void read_params() {
    const JsonValue* value = reader_.member("params", false);
    if (value == nullptr) return;
    JsonObjectReader params(*value, reader_.pointer_to("params"), problems_);
    if (!params.is_object()) return;
    for (const JsonValue& param : value->children) {
      schedule_.params.emplace_back(param.key, params.optional_text(param.key));
    }
  }

  void read_rows() {
    const std::vector<JsonValue>* rows = read_items(reader_, "rows", true, problems_);
    if (rows == nullptr) return;
    for (std::size_t k = 0; k < rows->size(); ++k) {
      const std::string pointer = reader_.pointer_to("rows/" + std::to_string(k));
      schedule_.rows.emplace_back();
      if ((*rows)[k].kind == JsonValue::Kind::kString) {
        read_row((*rows)[k].text, pointer, schedule_.rows.back());
      } else {
        problems_.add_at_pointer("P007", pointer, "a row must be a string; got " + describe((*rows)[k]),
                                 "write its cells like \"0F0,0F1,0B0,0B1\"");
      }
      ops_ += schedule_.rows.back().size();
    }
  }

  void read_row(std::string_view text, const std::string& pointer, std::vector<Op>& row) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t comma = text.find(',');
      const Cell cell = read_cell(text.substr(0, comma), CellWords::kNative);
      const std::string where = "cell " + std::to_string(number) + ": ";
      if (!cell.fault.code.empty()) {
        problems_.add_at_pointer(cell.fault.code, pointer, where + cell.fault.message, cell.fault.help);
      } else if (cell.count == 0) {
        problems_.add_at_pointer("T024", pointer, where + "it is empty", "leave idle cells out: times say who idles");
      }
      row.insert(row.end(), cell.ops.begin(), cell.ops.begin() + cell.count);
      if (comma == std::string_view::npos) return;
      text.remove_prefix(comma + 1);
    }
  }

  // Each microbatch's ops are on the devices of its replica. Nothing here may be larger than the rows justify.
  void read_placement() {
    const std::vector<JsonValue>* replicas = read_items(reader_, "placement", true, problems_);
    if (replicas == nullptr) return;
    std::vector<std::int32_t> devices;
    for (std::size_t k = 0; k < replicas->size(); ++k) {
      const std::string pointer = reader_.pointer_to("placement/" + std::to_string(k));
      const auto stages = static_cast<std::size_t>(schedule_.stages);
      const auto row = integers_of((*replicas)[k], pointer, kDeviceNumber, stages, problems_);
      for (const std::int64_t device : row) devices.push_back(static_cast<std::int32_t>(device));
    }
    if (devices.size() != replicas->size() * static_cast<std::size_t>(schedule_.stages)) return;
    const int count = static_cast<int>(replicas->size());
    schedule_.placement = Placement(count, schedule_.stages, std::move(devices));
    sound_ = read_replicas(count);
  }

  bool read_replicas(int replicas) {
    const std::int64_t pieces = std::int64_t{schedule_.microbatches} * schedule_.pieces;
    if (pieces > static_cast<std::int64_t>(ops_)) {
      report_count(problems_, reader_.pointer_to("rows"), ops_, static_cast<std::size_t>(pieces),
                   "at least one op for each piece of a microbatch");
      return false;
    }
    if (replicas == 1 && reader_.member("replica_of", false) == nullptr) {
      schedule_.replica_of.assign(static_cast<std::size_t>(pieces), 0);
      return true;
    }
    const auto list = read_integers(reader_, "replica_of", kReplicaNumber, static_cast<std::size_t>(pieces), problems_);
    for (const std::int64_t replica : list) schedule_.replica_of.push_back(static_cast<std::int32_t>(replica));
    return !list.empty();
  }

  void check() {
    for (const ScheduleProblem& problem : find_problems(schedule_)) {
      const std::string row = problem.device < 0 ? "" : "/rows/" + std::to_string(problem.device);
      problems_.add_at_pointer(problem.code, reader_.pointer() + row, problem.message,
                               problem.help.empty() ? "docs/run.schema.json describes a schedule" : problem.help);
    }
  }

  JsonObjectReader reader_;
  ProblemList& problems_;
  Schedule schedule_;
  std::size_t ops_ = 0;
  bool sound_ = false;
};

}  // namespace

Schedule read_run_schedule(const JsonValue& value, ProblemList& problems) {
  return ScheduleReader(value, problems).read();
}

}  // namespace debubble
