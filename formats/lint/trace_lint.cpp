#include "formats/lint/trace_lint.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "formats/importers/kineto_json.hpp"
#include "formats/importers/kineto_times.hpp"
#include "formats/lint/trace_marks.hpp"
#include "formats/problems/problem_list.hpp"
#include "formats/text/micros.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

using nlohmann::json;
using trace_lint::ArrowChecker;
using trace_lint::FindingList;
using trace_lint::Mark;
using trace_lint::name_in_quotes;
using trace_lint::TrackChecker;

bool is_json_text(std::string_view value) { return value.size() >= 2 && value.front() == '"'; }

bool is_32_bits(std::string_view value) {
  const auto number = is_json_text(value) ? std::nullopt : whole_number(value);
  return number && *number >= 0 && *number <= std::numeric_limits<std::uint32_t>::max();
}

// More than a double holds: 1695835542514261.123
bool exceeds_double(std::string_view number) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  constexpr std::int64_t kDigits = 17;
  return std::count_if(number.begin(), number.end(), is_digit) > kDigits;
}

class LintVisitor : public KinetoVisitor {
 public:
  LintVisitor(TraceLint& lint, FindingList& findings)
      : lint_(lint), findings_(findings), tracks_(findings), arrows_(findings) {}

  [[nodiscard]] bool whole_args() const override { return true; }
  void fact(std::string_view /*key*/, std::string_view /*value*/) override {}

  bool no_event(std::size_t index) override {
    ++lint_.events;
    findings_.add("event", index, "an event must be an object");
    return true;
  }

  void event(std::size_t index, const KinetoFields& fields) override {
    ++lint_.events;
    const char phase = fields.ph.size() == 3 && is_json_text(fields.ph) ? fields.ph[1] : '\0';
    constexpr std::string_view kRead = "XBEbensftiIRCMP";
    if (phase == '\0' || kRead.find(phase) == std::string_view::npos) {
      return findings_.add(
          "phase", index,
          fields.ph.empty() ? "no phase (\"ph\")" : "no viewer reads the phase " + value_in_quotes(fields.ph));
    }
    if (fields.name.empty() && phase != 'E' && phase != 'e')
      findings_.add("name", index, "no name, or one that is no text");
    if (!fields.colour.empty()) findings_.remark("ignored", index, "\"cname\": Perfetto colours by the name");
    if (!check_process(index, fields, phase)) return;
    if (phase == 'M') return metadata(index, fields);
    const auto at = time(index, "ts", fields.ts);
    if (!at) return;
    check_order(index, *at);
    if (phase == 'C') return counter(index, fields);
    if (phase == 'b' || phase == 'e') return async(index, fields, phase, *at);
    if (phase == 'X' || phase == 'B' || phase == 'E') return slice(index, fields, phase, *at);
    if (phase == 's' || phase == 't' || phase == 'f') return arrow(index, fields, phase, *at);
  }

  void finish() {
    tracks_.check();
    arrows_.check();
    lint_.tracks = tracks_.tracks();
    if (!findings_.strict()) return;
    for (const auto& [pid, event] : processes_) {
      if (!names_.contains({pid, ""})) findings_.add("unnamed", event, "process " + pid + " has no name");
    }
    for (const auto& [thread, event] : threads_) {
      if (names_.contains(thread)) continue;
      findings_.add("unnamed", event, "thread " + thread.second + " of process " + thread.first + " has no name");
    }
  }

 private:
  using Thread = std::pair<std::string, std::string>;  // pid and tid, without quotes

  static std::string value_in_quotes(std::string_view raw) { return name_in_quotes(plain_value(raw)); }

  // Ids that no viewer could take for those of a thread. Counters and metadata may have no thread.
  bool check_process(std::size_t index, const KinetoFields& fields, char phase) {
    const bool on_thread = std::string_view("XBEstf").find(phase) != std::string_view::npos;
    for (const auto& [key, value] : {std::pair{"pid", fields.pid}, std::pair{"tid", fields.tid}}) {
      if (value.empty()) {
        const bool needed = key == std::string_view("pid") || on_thread;
        if (needed) {
          findings_.add("ids", index, std::string("no \"") + key + "\"");
          return false;
        }
      } else if (is_json_text(value)) {
        findings_.remark("text-id", index, std::string("\"") + key + "\" is text, " + value_in_quotes(value));
      } else if (!is_32_bits(value)) {
        findings_.add("ids", index, std::string("\"") + key + "\" is not a whole number of 32 bits, at least 0");
        return false;
      }
    }
    return true;
  }

  std::optional<Nanoseconds> time(std::size_t index, const char* key, std::string_view value) {
    const std::string name = std::string("\"") + key + "\"";
    if (value.empty()) {
      findings_.add("time", index, "no " + name);
      return std::nullopt;
    }
    const std::string number = plain_value(value);  // viewers read numbers that are text
    const auto time = nanoseconds_of_micros(number);
    if (!time || *time < 0) {
      findings_.add("time", index, name + (time ? " is below 0" : " is not a time in microseconds"));
      return std::nullopt;
    }
    if (is_json_text(value)) findings_.remark("text-id", index, name + " is text");
    if (exceeds_double(number)) findings_.remark("digits", index, name + " has more digits than viewers keep");
    return time;
  }

  void check_order(std::size_t index, Nanoseconds at) {
    if (at < latest_) findings_.remark("order", index, "begins before the event above it");
    latest_ = std::max(latest_, at);
  }

  std::uint32_t thread_of(std::size_t index, const KinetoFields& fields) {
    const Thread thread{plain_value(fields.pid), plain_value(fields.tid)};
    if (threads_.try_emplace(thread, index).second) {
      processes_.try_emplace(thread.first, index);
      if (thread.second == "0" && thread.first != "0") {
        findings_.remark("thread-0", index,
                         "Perfetto takes thread 0 of process " + thread.first + " for thread " + thread.first);
      }
      const auto [other, is_new] = process_of_.try_emplace(thread.second, thread.first);
      if (!is_new && other->second != thread.first) {
        findings_.remark("shared-id", index,
                         "thread " + thread.second + " is one of process " + other->second + ", too");
      }
    }
    return tracks_.thread(fields.pid, fields.tid);
  }

  void slice(std::size_t index, const KinetoFields& fields, char phase, Nanoseconds at) {
    Mark mark{at, at, thread_of(index, fields), Mark::Kind::kComplete, index, fields.name};
    if (phase == 'X') {
      const auto duration = time(index, "dur", fields.dur);
      if (!duration) return;
      mark.end = at + *duration;
    } else {
      mark.kind = phase == 'B' ? Mark::Kind::kBegin : Mark::Kind::kEnd;
    }
    lint_.slices += phase == 'E' ? 0 : 1;
    tracks_.add(mark);
  }

  void async(std::size_t index, const KinetoFields& fields, char phase, Nanoseconds at) {
    std::string id(fields.id.empty() ? fields.id2 : fields.id);
    if (id.empty()) return findings_.add("async", index, "no \"id\" that tells it from others of its category");
    if (id.find("\"local\"") != std::string::npos) id += fields.pid;
    id += fields.scope;
    const auto kind = phase == 'b' ? Mark::Kind::kBegin : Mark::Kind::kEnd;
    tracks_.add({at, at, tracks_.async(fields.cat, id), kind, index, fields.name});
    lint_.slices += phase == 'b' ? 1 : 0;
  }

  void arrow(std::size_t index, const KinetoFields& fields, char phase, Nanoseconds at) {
    if (fields.id.empty()) return findings_.add("arrow", index, "no \"id\"");
    if (is_json_text(fields.id)) findings_.remark("text-id", index, "\"id\" is text, which is read as hexadecimal");
    const bool to_next = phase == 'f' && fields.bind != "\"e\"";
    tracks_.add({at, at, thread_of(index, fields), to_next ? Mark::Kind::kArrowToNext : Mark::Kind::kArrow, index, {}});
    arrows_.add(phase, plain_value(fields.id), fields.cat, fields.name, at, index);
    lint_.arrows += phase == 's' ? 1 : 0;
  }

  void counter(std::size_t index, const KinetoFields& fields) {
    ++lint_.counters;
    const json args = json::parse(fields.args, nullptr, false);
    if (!args.is_object() || args.empty()) return findings_.add("counter", index, "a counter without values");
    for (const auto& [key, value] : args.items()) {
      const bool number = value.is_number() || (value.is_string() && nanoseconds_of_micros(value.get<std::string>()));
      if (!number) findings_.add("counter", index, "the value of " + name_in_quotes(key) + " is not a number");
    }
  }

  void metadata(std::size_t index, const KinetoFields& fields) {
    const bool is_name = fields.name == "process_name" || fields.name == "thread_name";
    const bool is_index = fields.name == "process_sort_index" || fields.name == "thread_sort_index";
    if (!is_name && !is_index) {
      return findings_.remark("ignored", index, "Perfetto does not read the metadata " + name_in_quotes(fields.name));
    }
    const json args = json::parse(fields.args, nullptr, false);
    const json value = args.is_object() ? args.value(is_name ? "name" : "sort_index", json()) : json();
    if (is_name ? !value.is_string() : !value.is_number_integer()) {
      return findings_.add("metadata", index, name_in_quotes(fields.name) + " has no value");
    }
    if (!is_name) return;
    const bool of_process = fields.name == "process_name";
    const auto [named, is_new] =
        names_.try_emplace({plain_value(fields.pid), of_process ? "" : plain_value(fields.tid)}, value);
    if (!is_new && named->second != value) {
      findings_.add("metadata", index,
                    "another name for " + name_in_quotes(named->second.get<std::string>()) + ": " +
                        name_in_quotes(value.get<std::string>()));
    }
  }

  TraceLint& lint_;
  FindingList& findings_;
  TrackChecker tracks_;
  ArrowChecker arrows_;
  Nanoseconds latest_ = 0;
  std::map<Thread, std::size_t> threads_;          // with slices: the first event
  std::map<std::string, std::size_t> processes_;   // with slices: the first event
  std::map<std::string, std::string> process_of_;  // of a thread id: the first process that has it
  std::map<Thread, json> names_;                   // of a process: with an empty thread
};

// The array form may end anywhere: viewers take what is there. False when it has its end, or is of the object form.
bool close_array(std::string& text) {
  constexpr const char* kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  std::size_t last = text.find_last_not_of(kBlanks);
  if (first == std::string::npos || text[first] != '[' || text[last] == ']') return false;
  if (text[last] == ',') text[last] = ' ';
  text += ']';
  return true;
}

}  // namespace

std::int64_t TraceLint::total() const {
  std::int64_t sum = 0;
  for (const auto& [rule, count] : by_rule) sum += count;
  return sum;
}

TraceLint lint_trace(std::string text, const std::string& name, const TraceLintOptions& options) {
  TraceLint lint;
  lint.file = name;
  FindingList findings(lint, options);
  const bool open_ended = close_array(text);
  try {
    require_json(text, name);
  } catch (const InputError&) {
    if (open_ended) text.pop_back();
    require_json(text, name);  // with the file's own length
    throw;
  }
  if (text[text.find_first_not_of(" \t\r\n")] == '[') findings.set_path("/");
  ProblemList problems(name);
  LintVisitor visitor(lint, findings);
  const auto views = walk_kineto(std::move(text), problems, visitor);
  if (open_ended) findings.add_whole("array-end", "the array has no end (\"]\"): not every reader takes that");
  visitor.finish();
  return lint;
}

const std::vector<TraceRule>& trace_rules() {
  static const std::vector<TraceRule> rules{
      {"event", false, "something in the list of events is no object"},
      {"phase", false, "ph is missing, or no viewer reads it: S T p F N O D v and others of the old format"},
      {"name", false, "a slice, counter, arrow or instant without a name"},
      {"ids", false, "pid or tid is missing or not a whole number of 32 bits: Perfetto cuts it to another thread's"},
      {"time", false, "ts or dur is missing, no number, or below 0: the event is dropped"},
      {"nesting", false, "a slice begins within another of its track and ends after it, or precedes the one around it"},
      {"begin-end", false, "an E without its B, a B without its E, or an E with another name"},
      {"async", false, "the same of b and e, which belong together by category and id"},
      {"arrow", false,
       "an arrow with one end only, two beginnings, an end before its beginning, or no slice to bind to"},
      {"counter", false, "a counter without values, or with one that is no number"},
      {"metadata", false, "a name or sort index without a value, or a second, other name"},
      {"array-end", false, "the array form without its ]"},
      {"order", true, "an event begins before the one above it"},
      {"text-id", true, "a pid, tid, id or time that is text: read, but ids of arrows as hexadecimal"},
      {"thread-0", true,
       "thread 0 of a process that is not 0: Perfetto takes it for the thread numbered like the process"},
      {"shared-id", true, "one tid in two processes: some readers keep threads by their id alone"},
      {"unnamed", true, "a process or thread with slices and without a name"},
      {"digits", true, "a time with more digits than a double holds (17)"},
      {"ignored", true, "cname, or metadata that Perfetto does not read"},
  };
  return rules;
}

}  // namespace debubble
