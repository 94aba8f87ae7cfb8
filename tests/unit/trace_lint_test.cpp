// Every rule of both lints can fail, that of traces of ours and that of anybody's: a correct trace, bent in one place,
// gives exactly that finding.
#include "tests/support/trace_lint.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats/lint/trace_lint.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

constexpr const char* kFacts =
    R"({"tool":"t","version":"1","command_line":"","schedule":"s","devices":1,"stages":1,"microbatches":1,)"
    R"("makespan_ns":1,"bubble_ratio":0,"bubble_over_ideal":0,"source":"modelled"})";

constexpr const char* kArgs =
    R"("args":{"stage":0,"microbatch":0,"kind":"forward","ready_us":0,"waited_for":"start","wait_ns":0,"source":"modelled"})";

// Events 0..3 name things, 4 and 6 are slices, 5 and 7 an arrow between them, 8 a counter.
std::vector<std::string> good_events() {
  const std::string args = kArgs;
  return {R"({"name":"process_name","ph":"M","pid":0,"args":{"name":"device 0"}})",
          R"({"name":"process_sort_index","ph":"M","pid":0,"args":{"sort_index":0}})",
          R"({"name":"thread_name","ph":"M","pid":0,"tid":1,"args":{"name":"compute"}})",
          R"({"name":"thread_sort_index","ph":"M","pid":0,"tid":1,"args":{"sort_index":1}})",
          R"({"name":"PP:0F0","cat":"compute","ph":"X","pid":0,"tid":1,"ts":0.000,"dur":2.000,)" + args + "}",
          R"({"name":"activation","cat":"transfer","ph":"s","pid":0,"tid":1,"ts":1.000,"id":1})",
          R"({"name":"PP:1F0","cat":"compute","ph":"X","pid":0,"tid":1,"ts":2.000,"dur":2.000,)" + args + "}",
          R"({"name":"activation","cat":"transfer","ph":"f","pid":0,"tid":1,"ts":2.000,"id":1,"bp":"e"})",
          R"({"name":"memory","ph":"C","pid":0,"ts":3.000,"args":{"total MiB":1.5}})"};
}

std::string trace(const std::vector<std::string>& events) {
  std::string text = std::string(R"({"metadata":)") + kFacts + R"(,"otherData":)" + kFacts + R"(,"traceEvents":[)";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "\n" : ",\n") + events[i];
  return text + "\n]}";
}

std::string trace_lint_problems_of(const std::string& text) {
  std::string all;
  for (const std::string& problem : testing::lint_trace(text)) all += (all.empty() ? "" : "; ") + problem;
  return all;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// The problems after one replacement within one event.
std::string bent(std::size_t event, const std::string& from, const std::string& to) {
  std::vector<std::string> events = good_events();
  events[event] = replaced(events[event], from, to);
  return trace_lint_problems_of(trace(events));
}

std::string without(std::size_t event) {
  std::vector<std::string> events = good_events();
  events.erase(events.begin() + static_cast<std::ptrdiff_t>(event));
  return trace_lint_problems_of(trace(events));
}

std::string with(std::size_t before, const std::string& added) {
  std::vector<std::string> events = good_events();
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(before), added);
  return trace_lint_problems_of(trace(events));
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("the lint finds nothing in a correct trace") { CHECK(trace_lint_problems_of(trace(good_events())) == ""); }

TEST_CASE("traces of ours have the object form with its three keys") {
  CHECK(contains(trace_lint_problems_of("{\"traceEvents\":["), "the file ends in the middle"));
  CHECK(trace_lint_problems_of("[]") == "the trace is not in the object form");
  CHECK(trace_lint_problems_of(replaced(trace({}), "\"metadata\"", "\"displayTimeUnit\"")) ==
        "unwanted key displayTimeUnit; metadata is missing or not an object");
  CHECK(trace_lint_problems_of(replaced(trace({}), "\"otherData\":{", "\"otherData\":[],\"metadata\":{")) ==
        "otherData is missing or not an object");
  CHECK(trace_lint_problems_of(replaced(trace({}), "\"tool\"", "\"fool\"")) == "metadata lacks tool");
  CHECK(trace_lint_problems_of(replaced(trace({}), "\"tool\":\"t\"", "\"tool\":[]")) == "metadata is not flat at tool");
  CHECK(contains(trace_lint_problems_of(replaced(trace({}), "[\n]", "{}")), "there is no array \"traceEvents\""));
}

TEST_CASE("traces of ours have few phases, and times of three decimals") {
  CHECK(
      contains(with(9, R"({"name":"x","pid":0,"tid":1,"ts":9.000,"ph":"i"})"), "phase \"i\" is not one of X C s f M"));
  CHECK(bent(8, "3.000", "3") == "\"ts\":3 is not microseconds with three decimals");
  CHECK(bent(8, "3.000", "3.00") == "\"ts\":3.00 is not microseconds with three decimals");
  CHECK(bent(8, "3.000", "3.0e0") == "\"ts\":3.0e0 is not microseconds with three decimals");
  CHECK(bent(4, "2.000", "2.0000") == "\"dur\":2.0000 is not microseconds with three decimals");
}

TEST_CASE("slices of ours do not share a lane") {
  CHECK(contains(bent(4, R"("dur":2.000)", R"("dur":9.000)"), "event 6: PP:1F0 is within another slice of its thread"));
}

TEST_CASE("slices of ours say what they are") {
  CHECK(bent(4, R"("cat":"compute")", R"("cat":"computation")") == "event 4: category \"computation\" of a slice");
  CHECK(bent(4, R"("cat":"compute",)", "") == "event 4: category \"\" of a slice");
  CHECK(bent(4, R"("cat":"compute")", R"("cat":"transfer")") == "event 4: args lack the integer bytes");
  CHECK(bent(4, R"("cat":"compute")", R"("cat":"idle")") ==
        "event 4: args lack the integer idle_ns; event 4: args lack the text before");
  CHECK(bent(4, "PP:0F0", "0F0") == "event 4: the name \"0F0\" does not begin with PP:");
  for (const char* key : {"stage", "microbatch", "wait_ns"}) {
    CHECK(bent(4, std::string("\"") + key + "\"", "\"x\"") == std::string("event 4: args lack the integer ") + key);
  }
  for (const char* key : {"kind", "waited_for", "source"}) {
    CHECK(bent(4, std::string("\"") + key + "\"", "\"x\"") == std::string("event 4: args lack the text ") + key);
  }
  CHECK(bent(4, "ready_us", "ready") == "event 4: args lack the number ready_us");
}

TEST_CASE("counters of ours have units and steady keys, and names and places come first") {
  CHECK(bent(8, "1.5", "-1") == "event 8: counter total MiB is below 0");
  CHECK(bent(8, "total MiB", "total") == "event 8: counter total names no unit");
  CHECK(with(9, R"({"name":"memory","ph":"C","pid":0,"ts":3.000,"args":{"other MiB":1}})") ==
        "event 9: the counter has other keys than before");
  CHECK(without(1) == "process 0 has no sort index");
  CHECK(without(3) == "thread 1 has no sort index");
  CHECK(with(4, good_events()[3]) == "event 4: a second thread_sort_index for thread 1");
  CHECK(with(9, R"({"name":"process_name","ph":"M","pid":1,"args":{"name":"late"}})") ==
        "event 9: metadata after other events");
}

// From here on: what the product finds in anybody's trace. `rule #place: message`, joined by "; ".
std::string found(const std::vector<std::string>& events, bool strict = false) {
  std::string text = "[";
  for (std::size_t i = 0; i < events.size(); ++i) text += (i == 0 ? "\n" : ",\n") + events[i];
  std::string all;
  const TraceLint lint = lint_trace(text + "\n]", "t", {.strict = strict, .most_per_rule = 10});
  for (const TraceFinding& finding : lint.findings) {
    all += (all.empty() ? "" : "; ") + finding.rule + " " + finding.place.substr(1) + ": " + finding.message;
  }
  return all;
}

std::string event_of(const std::string& phase, const std::string& name, const std::string& ts,
                     const std::string& more = "") {
  return R"({"ph":")" + phase + R"(","name":")" + name + R"(","pid":1,"tid":2,"ts":)" + ts + (more.empty() ? "" : ",") +
         more + "}";
}

TEST_CASE("what all viewers read well has no findings") {
  CHECK(found({}) == "");
  CHECK(
      found({event_of("X", "a", "0", R"("dur":10)"), event_of("X", "b", "0", R"("dur":4)"),
             event_of("X", "c", "4", R"("dur":6)"), event_of("B", "d", "10"), event_of("B", "e", "11"),
             event_of("X", "in", "11", R"("dur":1)"), event_of("E", "e", "12"), R"({"ph":"E","pid":1,"tid":2,"ts":13})",
             event_of("i", "now", "5"), R"({"ph":"i","s":"g","name":"all","pid":1,"ts":5})",
             event_of("C", "c", "5", R"("args":{"x":1,"y":"2.5"})")}) == "");
  CHECK(found({event_of("b", "a", "0", R"("cat":"c","id":1)"), event_of("b", "in", "1", R"("cat":"c","id":1)"),
               event_of("b", "b", "1", R"("cat":"c","id":"0x2")"), event_of("e", "in", "3", R"("cat":"c","id":1)"),
               event_of("e", "a", "3", R"("cat":"c","id":1)"), event_of("e", "b", "9", R"("cat":"c","id":"0x2")"),
               event_of("b", "l", "1", R"("cat":"c","id2":{"local":"0x2"})"),
               event_of("e", "l", "2", R"("cat":"c","id2":{"local":"0x2"})")}) == "");
}

TEST_CASE("slices that begin within another and end after it are found, in whatever order they stand") {
  const std::string rule = "nesting #/1: \"b\" begins within \"a\" of its track and ends after it";
  CHECK(found({event_of("X", "a", "0", R"("dur":10)"), event_of("X", "b", "9.999", R"("dur":1)")}) == rule);
  CHECK(found({event_of("X", "a", "0", R"("dur":10)"), event_of("X", "b", "10", R"("dur":1)")}) == "");
  CHECK(found({event_of("X", "b", "9", R"("dur":2)"), event_of("X", "a", "0", R"("dur":10)")}) ==
        "nesting #/0: \"b\" begins within \"a\" of its track and ends after it");
  CHECK(found({event_of("X", "a", "0", R"("dur":1)"), event_of("X", "b", "0", R"("dur":2)")}) ==
        "nesting #/1: \"b\" begins with \"a\" and is longer, but comes after it");
  CHECK(found({event_of("B", "a", "0"), event_of("X", "b", "1", R"("dur":2)"), event_of("E", "a", "2")}) ==
        "nesting #/2: \"a\" ends within \"b\" of its track");
}

TEST_CASE("begins and ends are matched, on threads and off them") {
  CHECK(found({event_of("E", "a", "0")}) == "begin-end #/0: ends what has not begun");
  CHECK(found({event_of("B", "a", "0")}) == "begin-end #/0: \"a\" begins and never ends");
  CHECK(found({event_of("B", "a", "0"), event_of("E", "b", "1")}) == "begin-end #/1: ends \"b\", but \"a\" began last");
  CHECK(found({event_of("e", "a", "0", R"("cat":"c","id":1)")}) == "async #/0: ends what has not begun");
  CHECK(found({event_of("b", "a", "0", R"("cat":"c","id":1)"), event_of("e", "a", "1", R"("cat":"c","id":2)")}) ==
        "async #/0: \"a\" begins and never ends; async #/1: ends what has not begun");
  CHECK(found({event_of("b", "a", "0", R"("cat":"c")")}) ==
        "async #/0: no \"id\" that tells it from others of its category");
}

TEST_CASE("an arrow may end on a slice of no length, at its time and not after it") {
  const std::string slice = event_of("X", "a", "0", R"("dur":10)");
  const std::string begin = event_of("s", "f", "1", R"("cat":"c","id":7)");
  const std::string point = event_of("X", "Stream Wait Event", "20", R"("dur":0)");
  const std::string end = event_of("f", "f", "20", R"("cat":"c","id":7,"bp":"e")");
  CHECK(found({slice, begin, point, end}) == "");
  CHECK(found({slice, begin, end, point}) == "arrow #/2: no slice of its thread is open here to bind to");
  CHECK(found({slice, begin, point, replaced(end, R"("ts":20)", R"("ts":20.001)")}) ==
        "arrow #/3: no slice of its thread is open here to bind to");
}

TEST_CASE("arrows need both ends in their order, and a slice at each") {
  const std::string slice = event_of("X", "a", "0", R"("dur":10)");
  const std::string begin = event_of("s", "f", "1", R"("cat":"c","id":7)");
  const std::string end = event_of("f", "f", "2", R"("cat":"c","id":7,"bp":"e")");
  CHECK(found({slice, begin, end}) == "");
  CHECK(found({slice, begin}) == "arrow #/1: arrow \"7\" begins, but none of its id, name and category ends");
  CHECK(found({slice, end}) == "arrow #/1: arrow \"7\" ends, but none of its id, name and category begins");
  CHECK(found({slice, begin, begin, end}) == "arrow #/2: a second beginning of arrow \"7\"");
  CHECK(found({slice, begin, replaced(end, R"("ts":2)", R"("ts":0.5)")}) ==
        "arrow #/1: arrow \"7\" ends before it begins");
  CHECK(found({slice, begin, replaced(end, R"("ts":2)", R"("ts":10)")}) ==
        "arrow #/2: no slice of its thread is open here to bind to");
  const std::string to_next = replaced(end, R"(,"bp":"e")", "");
  CHECK(found({slice, begin, to_next, event_of("X", "b", "3", R"("dur":1)")}) == "");
  CHECK(contains(found({slice, begin, to_next}), "arrow #/2: no slice of its thread follows to bind to"));
  CHECK(contains(found({slice, replaced(begin, R"("cat":"c")", R"("cat":"d")"), end}), "arrow #/1"));
  CHECK(found({slice, replaced(begin, R"(,"id":7)", ""), slice}) == "arrow #/1: no \"id\"");
}

TEST_CASE("events without a phase, a name, ids or a time are found") {
  CHECK(found({"7"}) == "event #/0: an event must be an object");
  CHECK(found({R"({"name":"a"})"}) == "phase #/0: no phase (\"ph\")");
  CHECK(found({event_of("S", "a", "0")}) == "phase #/0: no viewer reads the phase \"S\"");
  CHECK(found({event_of("XX", "a", "0")}) == "phase #/0: no viewer reads the phase \"XX\"");
  CHECK(found({event_of("X", "", "0", R"("dur":1)")}) == "name #/0: no name, or one that is no text");
  CHECK(found({R"({"ph":"X","name":"a","tid":1,"ts":0,"dur":1})"}) == "ids #/0: no \"pid\"");
  CHECK(found({R"({"ph":"X","name":"a","pid":1,"ts":0,"dur":1})"}) == "ids #/0: no \"tid\"");
  for (const char* id : {"-1", "4294967296", "1.5", "null"}) {
    CHECK(found({std::string(R"({"ph":"X","name":"a","tid":1,"ts":0,"dur":1,"pid":)") + id + "}"}) ==
          "ids #/0: \"pid\" is not a whole number of 32 bits, at least 0");
  }
  CHECK(found({R"({"ph":"X","name":"a","pid":4294967295,"tid":1,"ts":0,"dur":1})"}) == "");
  CHECK(found({event_of("X", "a", "0")}) == "time #/0: no \"dur\"");
  CHECK(found({R"({"ph":"X","name":"a","pid":1,"tid":1,"dur":1})"}) == "time #/0: no \"ts\"");
  CHECK(found({event_of("X", "a", "-0.001", R"("dur":1)")}) == "time #/0: \"ts\" is below 0");
  CHECK(found({event_of("X", "a", "0", R"("dur":-1)")}) == "time #/0: \"dur\" is below 0");
  CHECK(found({event_of("X", "a", "true", R"("dur":1)")}) == "time #/0: \"ts\" is not a time in microseconds");
}

TEST_CASE("counters and metadata need values of their kind") {
  CHECK(found({event_of("C", "c", "0")}) == "counter #/0: a counter without values");
  CHECK(found({event_of("C", "c", "0", R"("args":{})")}) == "counter #/0: a counter without values");
  CHECK(found({event_of("C", "c", "0", R"("args":{"x":"y"})")}) == "counter #/0: the value of \"x\" is not a number");
  const std::string name = R"({"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}})";
  CHECK(found({name, name}) == "");
  CHECK(found({name, replaced(name, R"("a")", R"("b")")}) == "metadata #/1: another name for \"a\": \"b\"");
  CHECK(found({replaced(name, R"({"name":"a"})", "{}")}) == "metadata #/0: \"process_name\" has no value");
  CHECK(found({R"({"ph":"M","name":"thread_sort_index","pid":1,"tid":1,"args":{"sort_index":"x"}})"}) ==
        "metadata #/0: \"thread_sort_index\" has no value");
}

TEST_CASE("remarks are for --strict") {
  const auto remark = [](const std::vector<std::string>& events, const std::string& text) {
    CHECK(found(events) == "");
    CHECK(contains(found(events, true), text));
  };
  const std::string a = event_of("X", "a", "5", R"("dur":1)");
  remark({a}, "unnamed #/0: process 1 has no name; unnamed #/0: thread 2 of process 1 has no name");
  remark({a, event_of("X", "a", "4", R"("dur":1)")}, "order #/1: begins before the event above it");
  remark({replaced(a, R"("pid":1)", R"("pid":"Spans")")}, "text-id #/0: \"pid\" is text, \"Spans\"");
  remark({replaced(a, R"("ts":5)", R"("ts":"5")")}, "text-id #/0: \"ts\" is text");
  remark({replaced(a, R"("tid":2)", R"("tid":0)")}, "thread-0 #/0: Perfetto takes thread 0 of process 1 for thread 1");
  remark({a, replaced(a, R"("pid":1)", R"("pid":3)")}, "shared-id #/1: thread 2 is one of process 1, too");
  remark({event_of("X", "a", "1695835542514261.123", R"("dur":1)")}, "digits #/0: \"ts\" has more digits");
  remark({event_of("X", "a", "5", R"("dur":1,"cname":"good")")}, "ignored #/0: \"cname\"");
  remark({R"({"ph":"M","name":"process_labels","pid":1,"args":{"labels":"GPU"}})"},
         "ignored #/0: Perfetto does not read");
}

TEST_CASE("an array without its end is read, and told") {
  const std::string a = event_of("X", "a", "5", R"("dur":1)");
  for (const std::string& text : {"[" + a + ",\n", "[" + a, std::string(" [")}) {
    const TraceLint lint = lint_trace(text, "t");
    CHECK(lint.by_rule == std::map<std::string, std::int64_t>{{"array-end", 1}});
    CHECK(lint.events == (text.size() > 3 ? 1 : 0));
  }
  CHECK_THROWS_WITH_AS((void)lint_trace("[{\"ph\":", "t"), doctest::Contains("P001"), InputError);
  CHECK_THROWS_WITH_AS((void)lint_trace("[{\"ph\":", "t"), doctest::Contains("after byte 7"), InputError);
  CHECK_THROWS_WITH_AS((void)lint_trace("", "t"), doctest::Contains("P001"), InputError);
  CHECK_THROWS_WITH_AS((void)lint_trace("\xff", "t"), doctest::Contains("P002"), InputError);
  CHECK_THROWS_WITH_AS((void)lint_trace("{}", "t"), doctest::Contains("P010"), InputError);
  CHECK_THROWS_WITH_AS((void)lint_trace(R"([{"ph":"X","args":{"a":tru}}])", "t"), doctest::Contains("P001"),
                       InputError);
}

TEST_CASE("all findings are counted, and the first few of a rule kept, and long names are cut between characters") {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += (i == 0 ? "" : ",") + event_of("E", "a", std::to_string(i));
  const TraceLint lint = lint_trace(text + "]", "t");
  CHECK(lint.findings.size() == 10);
  CHECK(lint.total() == 1000);
  CHECK(lint.events == 1000);
  std::string name = "x";
  for (int i = 0; i < 100; ++i) name += "\u00e9";
  const std::string message = found({event_of("B", name, "0")});
  CHECK(message.size() < 100);
  CHECK(contains(message, "\u00e9...\""));
}

TEST_CASE("every rule of the list can be found") {
  std::set<std::string> names;
  for (const TraceRule& rule : trace_rules()) names.insert(rule.name);
  CHECK(names.size() == trace_rules().size());
  CHECK(names == std::set<std::string>{"event", "phase", "name", "ids", "time", "nesting", "begin-end", "async",
                                       "arrow", "counter", "metadata", "array-end", "order", "text-id", "thread-0",
                                       "shared-id", "unnamed", "digits", "ignored"});
}

TEST_CASE("a trace that cannot be read is an error") {
  CHECK_THROWS_AS((void)testing::read_plain_or_gzip("/no/such/file"), std::runtime_error);
}

}  // namespace
}  // namespace debubble
