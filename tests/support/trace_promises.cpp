#include "tests/support/trace_promises.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

namespace debubble::testing {
namespace {

using nlohmann::json;

// "" where there is no such text.
std::string text_of(const json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_of(const json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : 0;
}

// What traces of ours promise beyond what any viewer needs.
class OwnPromises {
 public:
  explicit OwnPromises(std::string_view text) : text_(text) {}

  std::vector<std::string> run() {
    const json trace = json::parse(text_, nullptr, false);
    if (!trace.is_object()) return {"the trace is not in the object form"};
    if (!trace.value("traceEvents", json()).is_array()) return {"there is no array traceEvents"};
    for (const auto& [key, value] : trace.items()) {
      if (key != "metadata" && key != "otherData" && key != "traceEvents") problems_.push_back("unwanted key " + key);
    }
    check_facts(trace, "metadata");
    check_facts(trace, "otherData");
    check_digits("\"ts\":");
    check_digits("\"dur\":");
    for (const json& event : trace["traceEvents"]) {
      if (event.is_object()) check_event(event);
      ++number_;
    }
    for (const std::string& owner : with_slices_) {
      if (!placed_.contains(owner)) problems_.push_back(owner + " has no sort index");
      if (!named_.contains(owner)) problems_.push_back(owner + " has no name");
    }
    for (const std::string& id : open_arrows_) problems_.push_back("arrow " + id + " has no end");
    return std::move(problems_);
  }

 private:
  void report(const std::string& problem) { problems_.push_back("event " + std::to_string(number_) + ": " + problem); }

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
    const std::string phase = text_of(event, "ph");
    if (phase.size() != 1 || std::string_view("XCsfM").find(phase) == std::string_view::npos) {
      return report("phase \"" + phase + "\" is not one of X C s f M");
    }
    if (phase == "M") return check_metadata(event);
    started_ = true;
    if (!event.contains("pid")) return report("no pid");
    const double at = number_of(event, "ts");
    if (at < latest_) report("begins before the event above it");
    latest_ = std::max(latest_, at);
    if (phase == "C") return check_counter(event);
    if (phase == "X") return check_slice(event);
    check_arrow(event, phase == "s");
  }

  // An arrow of one beginning and one end, in this order, each within a slice or at its end.
  void check_arrow(const json& event, bool begins) {
    const std::string id = event.value("id", json()).dump();
    if (begins ? !open_arrows_.insert(id).second : open_arrows_.erase(id) == 0)
      report("arrow " + id + (begins ? " begins again" : " has no beginning"));
    if (!begins && text_of(event, "bp") != "e") report("the arrow's end does not bind to the enclosing slice");
    const auto busy = busy_until_.find(event.value("tid", json()).dump());
    if (busy == busy_until_.end() || busy->second < std::llround(number_of(event, "ts") * 1000))
      report("no slice of its thread is open for arrow " + id);
  }

  // A lane is one exclusive resource, so no slice is within another.
  void check_slice(const json& event) {
    const std::string thread = event.value("tid", json()).dump();
    with_slices_.insert("thread " + thread);
    with_slices_.insert("process " + event.value("pid", json()).dump());
    const auto begin = std::llround(number_of(event, "ts") * 1000);
    const auto end = begin + std::llround(number_of(event, "dur") * 1000);
    std::int64_t& busy = busy_until_[thread];
    if (begin < busy && end > begin) report(text_of(event, "name") + " is within another slice of its thread");
    busy = std::max<std::int64_t>(busy, end);
    check_slice_args(event);
  }

  // Each category has its own names and facts. "extra work" is put into bubbles when the run is over: nothing waits
  // for it and it waits for nothing, so it says only what it is.
  void check_slice_args(const json& event) {
    const std::string category = text_of(event, "cat");
    const std::string name = text_of(event, "name");
    const json args = event.value("args", json::object());
    if (category == "extra work") {
      if (name.find(" of stage ") == std::string::npos)
        report("the name \"" + name + "\" does not say whose work it is");
      return require_integers(args, {"stage", "part", "step"});
    }
    if (category == "idle") {
      require_integers(args, {"idle_ns"});
      return require_texts(args, {"before", "source"});
    }
    if (category == "critical path") return require_texts(args, {"kind", "source"});
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

  // A counter is one set of keys per process and name; units stand in the keys.
  void check_counter(const json& event) {
    const json args = event.value("args", json());
    std::set<std::string> keys;
    for (const auto& [key, value] : args.items()) {
      keys.insert(key);
      if (value.is_number() && value.get<double>() < 0) report("counter " + key + " is below 0");
      if (!key.ends_with(" MiB")) report("counter " + key + " names no unit");
    }
    const auto [known, is_new] = counters_.try_emplace(event["pid"].dump() + text_of(event, "name"), keys);
    if (!is_new && known->second != keys) report("the counter has other keys than before");
  }

  void check_metadata(const json& event) {
    if (started_) report("metadata after other events");
    const std::string name = text_of(event, "name");
    const bool of_process = name.starts_with("process_");
    const std::string owner =
        of_process ? "process " + event["pid"].dump() : "thread " + event.value("tid", json()).dump();
    if (!(name.ends_with("_sort_index") ? placed_ : named_).insert(owner).second)
      report("a second " + name + " for " + owner);
  }

  std::string_view text_;
  std::vector<std::string> problems_;
  std::size_t number_ = 0;
  bool started_ = false;                                   // an event other than metadata has been seen
  std::map<std::string, std::int64_t> busy_until_;         // by thread, in ns
  std::map<std::string, std::set<std::string>> counters_;  // the keys, by process and name
  std::set<std::string> with_slices_;                      // "process 3", "thread 301"
  std::set<std::string> placed_;                           // the same, those with a sort index
  std::set<std::string> named_;                            // the same, those with a name
  std::set<std::string> open_arrows_;
  double latest_ = 0;
};

}  // namespace

std::vector<std::string> broken_promises(std::string_view text) { return OwnPromises(text).run(); }

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
