// Every promise of our traces can be found broken: a correct trace, bent in one place, gives exactly that finding.
#include "tests/support/trace_promises.hpp"
#include "tests/support/test.hpp"

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

std::string promises_broken_by(const std::string& text) {
  std::string all;
  for (const std::string& problem : testing::broken_promises(text)) all += (all.empty() ? "" : "; ") + problem;
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
  return promises_broken_by(trace(events));
}

std::string without(std::size_t event) {
  std::vector<std::string> events = good_events();
  events.erase(events.begin() + static_cast<std::ptrdiff_t>(event));
  return promises_broken_by(trace(events));
}

std::string with(std::size_t before, const std::string& added) {
  std::vector<std::string> events = good_events();
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(before), added);
  return promises_broken_by(trace(events));
}

TEST_CASE("nothing is found in a correct trace") { CHECK(promises_broken_by(trace(good_events())) == ""); }

TEST_CASE("traces of ours have the object form with its three keys") {
  CHECK(promises_broken_by("[]") == "the trace is not in the object form");
  CHECK(promises_broken_by(replaced(trace({}), "\"metadata\"", "\"displayTimeUnit\"")) ==
        "unwanted key displayTimeUnit; metadata is missing or not an object");
  CHECK(promises_broken_by(replaced(trace({}), "\"otherData\":{", "\"otherData\":[],\"metadata\":{")) ==
        "otherData is missing or not an object");
  CHECK(promises_broken_by(replaced(trace({}), "\"tool\"", "\"fool\"")) == "metadata lacks tool");
  CHECK(promises_broken_by(replaced(trace({}), "\"tool\":\"t\"", "\"tool\":[]")) == "metadata is not flat at tool");
  CHECK(promises_broken_by(replaced(trace({}), "[\n]", "{}")) == "there is no array traceEvents");
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

TEST_CASE("events of ours come in order, and what has slices has a name") {
  CHECK(bent(8, "3.000", "1.999") == "event 8: begins before the event above it");
  CHECK(without(0) == "process 0 has no name");
  CHECK(without(2) == "thread 1 has no name");
  CHECK(with(4, good_events()[2]) == "event 4: a second thread_name for thread 1");
}

TEST_CASE("arrows of ours have two ends, a slice at each") {
  CHECK(without(5) == "event 6: arrow 1 has no beginning");
  CHECK(without(7) == "arrow 1 has no end");
  CHECK(with(6, good_events()[5]) == "event 6: arrow 1 begins again");
  CHECK(bent(7, R"(,"bp":"e")", "") == "event 7: the arrow's end does not bind to the enclosing slice");
  CHECK(bent(7, R"("tid":1)", R"("tid":2)") == "event 7: no slice of its thread is open for arrow 1");
  CHECK(bent(4, R"("dur":2.000)", R"("dur":0.999)") == "event 5: no slice of its thread is open for arrow 1");
}

TEST_CASE("a trace that cannot be read is an error") {
  CHECK_THROWS_AS((void)testing::read_plain_or_gzip("/no/such/file"), std::runtime_error);
}

}  // namespace
}  // namespace debubble
