// Every rule of the lint can fail: a correct trace, bent in one place, gives exactly that problem.
#include "tests/support/trace_lint.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

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

TEST_CASE("the lint finds nothing in a correct trace") { CHECK(trace_lint_problems_of(trace(good_events())) == ""); }

TEST_CASE("the lint wants the object form with its three keys") {
  CHECK(trace_lint_problems_of("{\"traceEvents\":[") == "the trace is not JSON");
  CHECK(trace_lint_problems_of("[]") == "the trace is not in the object form");
  CHECK(trace_lint_problems_of(replaced(trace({}), "\"metadata\"", "\"displayTimeUnit\"")) ==
        "unwanted key displayTimeUnit; metadata is missing or not an object");
  CHECK(trace_lint_problems_of(replaced(trace({}), "\"otherData\":{", "\"otherData\":[],\"metadata\":{")) ==
        "otherData is missing or not an object");
  CHECK(trace_lint_problems_of(replaced(trace({}), "\"tool\"", "\"fool\"")) == "metadata lacks tool");
  CHECK(trace_lint_problems_of(replaced(trace({}), "\"tool\":\"t\"", "\"tool\":[]")) == "metadata is not flat at tool");
  CHECK(trace_lint_problems_of(replaced(trace({}), "[\n]", "{}")) == "traceEvents is missing or not an array");
}

TEST_CASE("the lint wants known phases, names and processes") {
  CHECK(with(9, "7") == "event 9: not an object");
  for (const char* phase : {"B", "E", "i", "b", "e", "S", "T", "p", "F", "N", "O", "D", "t", "v", "", "XX"}) {
    CHECK(with(9, std::string(R"({"name":"x","pid":0,"tid":1,"ts":9.000,"ph":")") + phase + "\"}") ==
          std::string("event 9: phase \"") + phase + "\" is not one of X C s f M");
  }
  CHECK(bent(8, R"("ph":"C")", R"("ph":7)") == "event 8: phase \"\" is not one of X C s f M");
  CHECK(bent(8, R"("name":"memory")", R"("name":"")") == "event 8: no name");
  CHECK(bent(8, R"("name":"memory",)", "") == "event 8: no name");
  for (const char* pid : {"-1", "\"0\"", "0.5", "4294967296"}) {
    CHECK(bent(8, R"("pid":0)", std::string("\"pid\":") + pid) ==
          "event 8: pid is not an integer of 32 bits, at least 0");
  }
  CHECK(bent(4, R"("ph")", R"("cname":"good","ph")") == "event 4: cname is read by nobody");
}

TEST_CASE("the lint wants times that are present, exact and not negative") {
  CHECK(bent(8, R"("ts":3.000,)", "") == "event 8: ts is missing");
  CHECK(bent(4, R"("dur":2.000,)", "") == "event 4: dur is missing; event 5: the arrow has no slice to stand on");
  CHECK(bent(8, "3.000", "3") == "\"ts\":3 is not microseconds with three decimals");
  CHECK(bent(8, "3.000", "3.00") == "\"ts\":3.00 is not microseconds with three decimals");
  CHECK(bent(8, "3.000", "3.0e0") == "\"ts\":3.0e0 is not microseconds with three decimals");
  CHECK(bent(4, "2.000", "2.0000") == "\"dur\":2.0000 is not microseconds with three decimals");
  CHECK(bent(8, "3.000", "\"3.000\"") ==
        "\"ts\":\"3.000\" is not microseconds with three decimals; event 8: ts is not a number of at least 0");
  CHECK(bent(4, R"("ts":0.000)", R"("ts":-1.000)").starts_with("event 4: ts is not a number of at least 0"));
  CHECK(bent(6, R"("dur":2.000)", R"("dur":-2.000)").starts_with("event 6: dur is not a number of at least 0"));
}

TEST_CASE("the lint wants thread ids that Perfetto keeps apart") {
  for (const char* tid : {"0", "-1", "\"1\"", "1.5", "4294967296"}) {
    CHECK(bent(5, R"("tid":1)", std::string("\"tid\":") + tid)
              .starts_with("event 5: tid is not an integer of 32 bits, at least 1"));
  }
  CHECK(bent(5, R"(,"tid":1)", "").starts_with("event 5: tid is not an integer of 32 bits, at least 1"));
  CHECK(bent(5, R"("pid":0)", R"("pid":3)").starts_with("event 5: tid 1 is also a thread of process 0"));
}

TEST_CASE("the lint wants slices that nest and do not share a lane") {
  CHECK(bent(4, R"("dur":2.000)", R"("dur":2.001)") ==
        "event 6: PP:1F0 does not nest: an earlier slice of its thread ends in its middle");
  CHECK(bent(4, R"("dur":2.000)", R"("dur":9.000)") ==
        "event 6: PP:1F0 is within another slice of its thread: a lane is one resource");
  CHECK(bent(6, R"("dur":2.000)", R"("dur":0.000)") == "event 7: the arrow has no slice to stand on");
}

TEST_CASE("the lint wants events in order of time, parents first") {
  CHECK(bent(8, "3.000", "1.999") == "event 8: out of order: sort by (ts, -dur)");
  std::vector<std::string> events = good_events();
  std::swap(events[6], events[7]);
  CHECK(trace_lint_problems_of(trace(events)) ==
        "event 6: the arrow has no slice to stand on; event 7: out of order: sort by (ts, -dur)");
}

TEST_CASE("the lint wants slices that say what they are") {
  CHECK(bent(4, R"("cat":"compute")", R"("cat":"computation")") == "event 4: category \"computation\" of a slice");
  CHECK(bent(4, R"("cat":"compute",)", "") == "event 4: category \"\" of a slice");
  CHECK(bent(4, R"("cat":"compute")", R"("cat":"transfer")") == "event 4: args lack the integer bytes");
  CHECK(bent(4, "PP:0F0", "0F0") == "event 4: the name \"0F0\" does not begin with PP:");
  for (const char* key : {"stage", "microbatch", "wait_ns"}) {
    CHECK(bent(4, std::string("\"") + key + "\"", "\"x\"") == std::string("event 4: args lack the integer ") + key);
  }
  for (const char* key : {"kind", "waited_for", "source"}) {
    CHECK(bent(4, std::string("\"") + key + "\"", "\"x\"") == std::string("event 4: args lack the text ") + key);
  }
  CHECK(bent(4, "ready_us", "ready") == "event 4: args lack the number ready_us");
}

TEST_CASE("the lint wants arrows whose two ends bind and match") {
  CHECK(bent(5, "1.000", "2.000").starts_with("event 5: the arrow has no slice to stand on"));  // at its end: too late
  CHECK(bent(7, R"("tid":1)", R"("tid":2)") == "event 7: the arrow has no slice to stand on");
  CHECK(bent(7, R"(,"bp":"e")", "") == "event 7: the arrow's end does not bind to the enclosing slice (bp: e)");
  CHECK(bent(5, R"("id":1)", R"("id":"1")")
            .starts_with("event 5: the id is not an integer (strings are read as hexadecimal)"));
  CHECK(bent(7, "activation", "gradient") == "event 7: the two ends of arrow 1 differ in name or category");
  CHECK(bent(7, R"("cat":"transfer")", R"("cat":"x")") ==
        "event 7: the two ends of arrow 1 differ in name or category");
  CHECK(without(7) == "arrow 1 has 1 beginnings and 0 ends");
  CHECK(without(5) == "event 6: arrow 1 ends before it begins; arrow 1 has 0 beginnings and 1 ends");
  CHECK(with(5, good_events()[5]) == "arrow 1 has 2 beginnings and 1 ends");
}

TEST_CASE("the lint wants counters of numbers with a unit and steady keys") {
  CHECK(bent(8, R"({"total MiB":1.5})", "{}") == "event 8: a counter without values");
  CHECK(bent(8, R"("args":{"total MiB":1.5})", R"("args":3)") == "event 8: a counter without values");
  CHECK(bent(8, "1.5", "\"1.5\"") == "event 8: counter total MiB is not a number of at least 0");
  CHECK(bent(8, "1.5", "-1") == "event 8: counter total MiB is not a number of at least 0");
  CHECK(bent(8, "total MiB", "total") == "event 8: counter total names no unit");
  CHECK(with(9, R"({"name":"memory","ph":"C","pid":0,"ts":3.000,"args":{"other MiB":1}})") ==
        "event 9: the counter has other keys than before");
}

TEST_CASE("the lint wants names and places for all processes and threads, first of all") {
  CHECK(without(0) == "process 0 has no name");
  CHECK(without(1) == "process 0 has no sort index");
  CHECK(without(2) == "thread 1 has no name");
  CHECK(without(3) == "thread 1 has no sort index");
  CHECK(with(4, good_events()[2]) == "event 4: a second thread_name for thread 1");
  CHECK(with(9, R"({"name":"process_name","ph":"M","pid":1,"args":{"name":"late"}})") ==
        "event 9: metadata after other events");
  CHECK(bent(0, "process_name", "process_labels") ==
        "event 0: process_labels is read by nobody; process 0 has no name");
  CHECK(bent(0, "\"device 0\"", "7") == "event 0: process_name has no value");
  CHECK(bent(1, R"("sort_index":0)", R"("sort_index":"0")") == "event 1: process_sort_index has no value");
}

TEST_CASE("every event of a correct trace is needed or checked") {
  for (std::size_t i = 0; i < good_events().size() - 1; ++i) CHECK(without(i) != "");
}

TEST_CASE("a trace that cannot be read is an error") {
  CHECK_THROWS_AS((void)testing::read_plain_or_gzip("/no/such/file"), std::runtime_error);
}

}  // namespace
}  // namespace debubble
