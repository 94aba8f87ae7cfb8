#include "tests/support/trace_lint.hpp"

#include <zlib.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace debubble::testing {
namespace {

using nlohmann::json;

struct Slice {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct Lane {
  std::vector<Slice> open;
  bool has_slices = false;
  std::int64_t pid = 0;
};

struct Flow {
  int starts = 0;
  int ends = 0;
  std::string name;
  std::string category;
  std::int64_t start = 0;
};

bool is_unsigned_32(const json& value) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
}

// "" where there is no such text.
std::string text_of(const json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

// Exact as long as times stay below 2^53 ns, which is 104 days.
std::int64_t nanoseconds(const json& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

class Linter {
 public:
  explicit Linter(std::string_view text) : text_(text) {}

  std::vector<std::string> run() {
    const json trace = json::parse(text_, nullptr, false);
    if (trace.is_discarded()) {
      problems_.emplace_back("the trace is not JSON");
    } else if (!trace.is_object()) {
      problems_.emplace_back("the trace is not in the object form");
    } else {
      check_document(trace);
    }
    return std::move(problems_);
  }

 private:
  void report(const std::string& problem) { problems_.push_back("event " + std::to_string(number_) + ": " + problem); }

  void check_document(const json& trace) {
    for (const auto& [key, value] : trace.items()) {
      if (key != "metadata" && key != "otherData" && key != "traceEvents") problems_.push_back("unwanted key " + key);
    }
    check_facts(trace, "metadata");
    check_facts(trace, "otherData");
    check_digits("\"ts\":");
    check_digits("\"dur\":");
    const auto events = trace.find("traceEvents");
    if (events == trace.end() || !events->is_array()) {
      problems_.emplace_back("traceEvents is missing or not an array");
      return;
    }
    for (const json& event : *events) {
      check_event(event);
      ++number_;
    }
    check_flows_complete();
    check_names_complete();
  }

  void check_facts(const json& trace, const char* where) {
    const auto facts = trace.find(where);
    if (facts == trace.end() || !facts->is_object()) {
      problems_.push_back(std::string(where) + " is missing or not an object");
      return;
    }
    for (const char* key : {"tool", "version", "command_line", "schedule", "devices", "stages", "microbatches",
                            "makespan_ns", "bubble_ratio", "bubble_over_ideal", "source"}) {
      if (!facts->contains(key)) problems_.push_back(std::string(where) + " lacks " + key);
    }
    for (const auto& [key, value] : facts->items()) {
      if (value.is_structured()) problems_.push_back(std::string(where) + " is not flat at " + key);
    }
  }

  // Times are printed from whole nanoseconds: digits, a point, three digits. Read back as text, before any rounding.
  void check_digits(std::string_view key) {
    for (std::size_t at = text_.find(key); at != std::string_view::npos; at = text_.find(key, at)) {
      at += key.size();
      const std::size_t end = text_.find_first_of(",} \n", at);
      const std::string_view number = text_.substr(at, end - at);
      const std::size_t point = number.find('.');
      const bool exact = point != std::string_view::npos && point > 0 && number.size() == point + 4 &&
                         number.find_first_not_of("0123456789.-") == std::string_view::npos;
      if (!exact) {
        problems_.push_back(std::string(key) + std::string(number) + " is not microseconds with three decimals");
      }
    }
  }

  void check_event(const json& event) {
    if (!event.is_object()) return report("not an object");
    if (event.contains("cname")) report("cname is read by nobody");
    const std::string phase = text_of(event, "ph");
    if (phase.size() != 1 || std::string_view("XCsfM").find(phase) == std::string_view::npos) {
      return report("phase \"" + phase + "\" is not one of X C s f M");
    }
    const json name = event.value("name", json());
    if (!name.is_string() || name.get<std::string>().empty()) return report("no name");
    if (!is_unsigned_32(event.value("pid", json()))) return report("pid is not an integer of 32 bits, at least 0");
    if (phase == "M") return check_metadata(event);
    if (!check_order(event)) return;
    pids_.insert(event["pid"].get<std::int64_t>());
    if (phase == "C") return check_counter(event);
    if (!check_thread(event)) return;
    if (phase == "X") {
      check_slice(event);
    } else {
      check_flow(event, phase == "s");
    }
  }

  // Events in order of (ts, -dur). False when the times are not usable.
  bool check_order(const json& event) {
    started_ = true;
    for (const char* key : {"ts", "dur"}) {
      const auto time = event.find(key);
      if (time == event.end() && (std::string_view(key) == "ts" || event["ph"] == "X")) {
        report(std::string(key) + " is missing");
        return false;
      }
      if (time != event.end() && (!time->is_number() || time->get<double>() < 0)) {
        report(std::string(key) + " is not a number of at least 0");
        return false;
      }
    }
    const std::int64_t begin = nanoseconds(event["ts"]);
    const std::int64_t duration = event["ph"] == "X" ? nanoseconds(event["dur"]) : 0;
    if (std::pair(begin, -duration) < last_) report("out of order: sort by (ts, -dur)");
    last_ = {begin, -duration};
    return true;
  }

  bool check_thread(const json& event) {
    const json tid = event.value("tid", json());
    if (!is_unsigned_32(tid) || tid == 0) {
      report("tid is not an integer of 32 bits, at least 1");
      return false;
    }
    const auto pid = event["pid"].get<std::int64_t>();
    const auto [lane, is_new] = lanes_.try_emplace(tid.get<std::int64_t>());
    if (is_new) lane->second.pid = pid;
    if (lane->second.pid != pid) {
      report("tid " + tid.dump() + " is also a thread of process " + std::to_string(lane->second.pid));
      return false;
    }
    return true;
  }

  Lane& lane_of(const json& event) { return lanes_[event["tid"].get<std::int64_t>()]; }

  static void close_ended(Lane& lane, std::int64_t now) {
    while (!lane.open.empty() && lane.open.back().end <= now) lane.open.pop_back();
  }

  void check_slice(const json& event) {
    Lane& lane = lane_of(event);
    lane.has_slices = true;
    const Slice slice{nanoseconds(event["ts"]), nanoseconds(event["ts"]) + nanoseconds(event["dur"])};
    close_ended(lane, slice.begin);
    if (!lane.open.empty() && slice.end > lane.open.back().end) {
      report(event["name"].get<std::string>() + " does not nest: an earlier slice of its thread ends in its middle");
    } else if (!lane.open.empty() && slice.end > slice.begin) {
      report(event["name"].get<std::string>() + " is within another slice of its thread: a lane is one resource");
    }
    lane.open.push_back(slice);
    check_slice_args(event);
  }

  // Each category has its own names and facts. "extra work" is put into bubbles when the run is over: nothing waits
  // for it and it waits for nothing, so it says only what it is.
  void check_slice_args(const json& event) {
    const std::string category = text_of(event, "cat");
    const auto name = event["name"].get<std::string>();
    const json args = event.value("args", json::object());
    if (category == "extra work") {
      if (name.find(" of stage ") == std::string::npos)
        report("the name \"" + name + "\" does not say whose work it is");
      return require_integers(args, {"stage", "part", "step"});
    }
    if (category == "step") {  // a task of the training step: of a device, not of a stage and microbatch
      require_integers(args, {"bytes", "wait_ns"});
      return require_texts(args, {"kind", "waited_for", "source"});
    }
    if (category == "copy") {
      check_copy(name, args);
    } else if (category != "compute" && category != "transfer") {
      report("category \"" + category + "\" of a slice");
    }
    if (category != "copy" && !name.starts_with("PP:")) report("the name \"" + name + "\" does not begin with PP:");
    require_integers(args, {"stage", "microbatch", "wait_ns"});
    require_texts(args, {"kind", "waited_for", "source"});
    if (!args.contains("ready_us") || !args["ready_us"].is_number()) report("args lack the number ready_us");
    if (category == "transfer" || category == "copy") require_integers(args, {"bytes"});
  }

  // "OFFLOAD 0F1", "RELOAD 0F1": a copy is no pass over the model, so its name does not begin with PP:.
  void check_copy(const std::string& name, const json& args) {
    const std::string op = std::to_string(args.value("stage", -1)) + "F" +
                           std::to_string(args.value("piece", args.value("microbatch", -1)));
    if (name != "OFFLOAD " + op && name != "RELOAD " + op) {
      report("the name \"" + name + "\" of a copy is neither OFFLOAD nor RELOAD with its op " + op);
    }
    require_texts(args, {"kept_on"});
  }

  void require_integers(const json& args, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (!args.contains(key) || !args[key].is_number_integer()) report(std::string("args lack the integer ") + key);
    }
  }

  void require_texts(const json& args, std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      if (!args.contains(key) || !args[key].is_string()) report(std::string("args lack the text ") + key);
    }
  }

  // An arrow's end needs a slice that is open on its thread at its time and comes earlier in the file.
  void check_flow(const json& event, bool starts) {
    const std::int64_t now = nanoseconds(event["ts"]);
    Lane& lane = lane_of(event);
    close_ended(lane, now);
    if (lane.open.empty()) report("the arrow has no slice to stand on");
    if (!starts && text_of(event, "bp") != "e") report("the arrow's end does not bind to the enclosing slice (bp: e)");
    const json id = event.value("id", json());
    if (!id.is_number_unsigned()) return report("the id is not an integer (strings are read as hexadecimal)");
    const auto [found, is_new] = flows_.try_emplace(id.get<std::uint64_t>());
    Flow& flow = found->second;
    if (is_new) {
      flow.name = event["name"].get<std::string>();
      flow.category = text_of(event, "cat");
    }
    if (flow.name != event["name"].get<std::string>() || flow.category != text_of(event, "cat")) {
      report("the two ends of arrow " + id.dump() + " differ in name or category");
    }
    ++(starts ? flow.starts : flow.ends);
    if (starts) flow.start = now;
    if (!starts && flow.starts == 0) report("arrow " + id.dump() + " ends before it begins");
  }

  void check_flows_complete() {
    for (const auto& [id, flow] : flows_) {
      if (flow.starts != 1 || flow.ends != 1) {
        problems_.push_back("arrow " + std::to_string(id) + " has " + std::to_string(flow.starts) + " beginnings and " +
                            std::to_string(flow.ends) + " ends");
      }
    }
  }

  // A counter is one set of keys per process and name; units stand in the keys.
  void check_counter(const json& event) {
    const json args = event.value("args", json());
    if (!args.is_object() || args.empty()) return report("a counter without values");
    std::set<std::string> keys;
    for (const auto& [key, value] : args.items()) {
      keys.insert(key);
      if (!value.is_number() || value.get<double>() < 0) report("counter " + key + " is not a number of at least 0");
      if (!key.ends_with(" MiB")) report("counter " + key + " names no unit");
    }
    const std::string counter = event["pid"].dump() + event["name"].get<std::string>();
    const auto [known, is_new] = counters_.try_emplace(counter, keys);
    if (!is_new && known->second != keys) report("the counter has other keys than before");
  }

  void check_metadata(const json& event) {
    if (started_) report("metadata after other events");
    const auto name = event["name"].get<std::string>();
    const bool of_process = name == "process_name" || name == "process_sort_index";
    if (!of_process && name != "thread_name" && name != "thread_sort_index") return report(name + " is read by nobody");
    if (!of_process && !check_thread(event)) return;
    const json args = event.value("args", json::object());
    const bool is_name = name.ends_with("_name");
    const json value = args.is_object() ? args.value(is_name ? "name" : "sort_index", json()) : json();
    if (is_name ? !value.is_string() : !value.is_number_integer()) report(name + " has no value");
    const std::string owner = of_process ? "process " + event["pid"].dump() : "thread " + event["tid"].dump();
    if (!named_.insert(owner + (is_name ? " name" : " sort index")).second)
      report("a second " + name + " for " + owner);
  }

  void check_names_complete() {
    for (const std::int64_t pid : pids_) require_names("process " + std::to_string(pid));
    for (const auto& [tid, lane] : lanes_) {
      if (lane.has_slices) require_names("thread " + std::to_string(tid));
    }
  }

  void require_names(const std::string& owner) {
    for (const char* what : {" name", " sort index"}) {
      if (!named_.contains(owner + what)) problems_.push_back(owner + " has no" + what);
    }
  }

  std::string_view text_;
  std::vector<std::string> problems_;
  std::size_t number_ = 0;
  bool started_ = false;  // an event other than metadata has been seen
  std::pair<std::int64_t, std::int64_t> last_{0, std::numeric_limits<std::int64_t>::min()};
  std::set<std::int64_t> pids_;
  std::map<std::int64_t, Lane> lanes_;                     // by tid, over all processes
  std::map<std::uint64_t, Flow> flows_;                    // by id
  std::map<std::string, std::set<std::string>> counters_;  // the keys, by process and name
  std::set<std::string> named_;                            // "process 3 name", "thread 301 sort index", ...
};

}  // namespace

std::vector<std::string> lint_trace(std::string_view text) { return Linter(text).run(); }

std::string read_plain_or_gzip(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");  // reads plain files as they are
  if (file == nullptr) throw std::runtime_error("cannot open " + path);
  std::string text;
  std::array<char, std::size_t{1} << 16> buffer{};
  int count = 0;
  while ((count = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const int status = gzclose_r(file);
  if (count < 0 || status != Z_OK) throw std::runtime_error("cannot read " + path);
  return text;
}

}  // namespace debubble::testing
