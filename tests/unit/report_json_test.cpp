#include "formats/exporters/report_json.hpp"

#include <nlohmann/json.hpp>

#include "formats/exporters/report_csv.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test.hpp"
#include "tests/unit/tools_support.hpp"

using namespace debubble;
using debubble::test::small_report;
using debubble::testing::source_directory;
using Parsed = nlohmann::ordered_json;

namespace {

const ToolFacts kTool{"9.9.9", "debubble simulate"};

Report deadlocked_report() {
  Report report;
  report.schedule = {"a.csv", 2, 2, 1, 1, 1, {}};
  report.deadlock = Deadlock{{{0, 3, {OpKind::kBackward, false, 0, 1}, {OpKind::kBackward, false, 1, 1}},
                              {1, 0, {OpKind::kForward, false, 1, 0}, {OpKind::kForward, false, 0, 0}}}};
  report.findings = {DeadlockFound{}};
  return report;
}

// The keys of an object must be those that the schema lists for it, in both directions, but for `absent`, which must
// be missing: those of another kind of run.
using Keys = std::set<std::string>;

void check_keys(const Parsed& value, const Parsed& schema, const std::string& where, const Keys& absent = {}) {
  CAPTURE(where);
  for (const auto& item : value.items()) {
    const std::string key = item.key();
    const Parsed& inner = item.value();
    CAPTURE(key);
    REQUIRE(schema.at("properties").contains(key));
    const Parsed& rule = schema.at("properties").at(key);
    if (inner.is_object() && rule.contains("properties")) check_keys(inner, rule, where + "/" + key, absent);
    if (inner.is_array() && !inner.empty() && inner[0].is_object()) {
      check_keys(inner[0], rule.at("items"), where + "/" + key, absent);
    }
  }
  for (const auto& item : schema.at("properties").items()) {
    const std::string key = item.key();
    CAPTURE(key);
    CHECK(value.contains(key) != absent.contains(key));
  }
}

// A report with every part that only some runs have.
Report full_report() {
  Report report = small_report();
  report.findings = {ScheduleNote{"x"}};
  report.copies = 6;
  report.devices[0].peak_host_memory = kMebibyte;
  report.stream.emplace();
  report.stream->versions = "stashed";
  report.stream->stages.resize(2);
  report.extra_work.emplace();
  report.extra_work->devices.resize(2);
  report.inside_collectives = 1;
  report.cluster.emplace();
  report.step.emplace();
  report.step->parts.resize(1);
  report.memory_fit.emplace();
  report.step_range.emplace();
  report.step_range->kinds.resize(1);
  return report;
}

}  // namespace

TEST_CASE("a report is printed with exactly these bytes") {
  Report report = small_report();
  report.schedule.params = {{"group", "4"}};
  report.devices.resize(1);
  report.devices[0].peak_memory_op = {};
  report.findings = {ScheduleNote{"say \"hi\""}};
  CHECK(report_json(report, kTool) == contents_of(source_directory() + "/tests/unit/report.json"));
}

TEST_CASE("a deadlock has its cycle and none of the numbers") {
  const Parsed json = Parsed::parse(report_json(deadlocked_report(), kTool));
  CHECK(json.at("deadlock").dump() == R"({"cycle":[{"device":0,"position":3,"op":"0B1","waits_for":"1B1"},)"
                                      R"({"device":1,"position":0,"op":"1F0","waits_for":"0F0"}]})");
  CHECK_FALSE(json.contains("makespan_ns"));
  CHECK_FALSE(json.contains("devices"));
  CHECK(json.at("findings").at(0).at("code") == "X010");
  CHECK_FALSE(Parsed::parse(report_json(small_report(), kTool)).contains("deadlock"));
}

TEST_CASE("what is not a finite number is null") {
  Report report = small_report();
  report.bubble_ratio = std::numeric_limits<double>::quiet_NaN();
  report.bubble_over_ideal = std::numeric_limits<double>::infinity();
  report.samples_per_second = std::numeric_limits<double>::infinity();
  const Parsed json = Parsed::parse(report_json(report, kTool));
  CHECK(json.at("bubble_ratio").is_null());
  CHECK(json.at("bubble_over_ideal").is_null());
  CHECK(json.at("throughput_samples_per_s").is_null());
}

TEST_CASE("reals come back as the same double and text stays valid UTF-8") {
  Report report = small_report();
  report.bubble_ratio = 0.1 + 0.2;
  report.samples_per_second = 1234567.0625;
  const Parsed json = Parsed::parse(report_json(report, {"1", "debubble \xff"}));
  CHECK(json.at("bubble_ratio").get<double>() == 0.1 + 0.2);
  CHECK(json.at("throughput_samples_per_s").get<double>() == 1234567.0625);
  CHECK(json.at("command_line") == "debubble \ufffd");
}

TEST_CASE("several runs are wrapped in one object") {
  const std::vector<Report> reports = {small_report(), deadlocked_report()};
  ScheduleNeeds needs;
  needs.split_backward = true;
  needs.frameworks = "Megatron-LM";
  const Parsed json = Parsed::parse(reports_json(reports, std::vector<ScheduleNeeds>{needs, {}}, kTool));
  CHECK(json.size() == 2);
  CHECK(json.at("schema_version") == 1);
  REQUIRE(json.at("runs").size() == 2);
  Parsed first = json.at("runs").at(0);
  CHECK(first.at("needs").at("split_backward") == true);
  CHECK(first.at("needs").at("asynchronous") == false);
  CHECK(first.at("needs").at("frameworks") == "Megatron-LM");
  first.erase("needs");
  CHECK(first == Parsed::parse(report_json(reports[0], kTool)));
  CHECK(json.at("runs").at(1) == Parsed::parse(report_json(reports[1], kTool)));
}

TEST_CASE("the published schema and the writer know the same keys") {
  const Parsed schema = Parsed::parse(contents_of(source_directory() + "/docs/report.schema.json"));
  const Parsed& run = schema.at("definitions").at("run");
  Report flushing = full_report();  // more microbatches help where there is a flush
  flushing.stream.reset();
  const Parsed helped = Parsed::parse(report_json(flushing, kTool, std::pair{16, 0.125}));
  CHECK(helped.at("limit").at("more_microbatches").at("microbatches") == 16);
  const Parsed full = Parsed::parse(report_json(full_report(), kTool, std::pair{16, 0.125}));
  check_keys(full, run, "", {"config", "deadlock", "needs", "beside_fastest"});
  CHECK(full.at("limit").at("what") == "fill_and_drain");
  CHECK(full.at("limit").at("share_of") == "idle");
  const Parsed compared =
      Parsed::parse(reports_json(std::vector<Report>{full_report()}, std::vector<ScheduleNeeds>{{}}, kTool,
                                 std::vector<std::optional<BesideFastest>>{BesideFastest{0.01, 0.02}}));
  CHECK(compared.at("runs").at(0).at("beside_fastest").at("told_apart") == false);
  check_keys(compared.at("runs").at(0), run, "/runs/0", {"config", "deadlock"});
  CHECK(compared.at("runs").at(0).at("limit").at("more_microbatches").is_null());
  Report plain = small_report();
  plain.findings = full_report().findings;
  check_keys(Parsed::parse(report_json(plain, kTool)), run, "",
             {"config", "deadlock", "needs", "stream", "extra_work", "copies", "peak_host_bytes", "cluster", "step",
              "memory_fit", "inside_collectives_ns", "step_range", "beside_fastest"});
  const Parsed& rule = run.at("properties").at("deadlock");
  check_keys(Parsed::parse(report_json(deadlocked_report(), kTool)).at("deadlock"), rule, "/deadlock");
}

TEST_CASE("the limit has the numbers of its text, and null where one means nothing") {
  Limit limit;
  limit.kind = Limit::Kind::kDevice;
  limit.share = 0.95;
  limit.device = 3;
  limit.least_busy_device = 0;
  limit.least_share = 0.5;
  limit.uneven_work = true;
  CHECK(Parsed::parse(limit_json(limit).text()) == Parsed({{"what", "device"},
                                                           {"share", 0.95},
                                                           {"share_of", "step"},
                                                           {"device", 3},
                                                           {"least_busy_device", 0},
                                                           {"least_share", 0.5},
                                                           {"uneven_work", nullptr},
                                                           {"cause", nullptr},
                                                           {"more_microbatches", nullptr}}));
  Limit gaps;
  gaps.kind = Limit::Kind::kDependency;
  gaps.share = 0.75;
  CHECK(Parsed::parse(limit_json(gaps).text()) == Parsed({{"what", "dependency"},
                                                          {"share", 0.75},
                                                          {"share_of", "idle"},
                                                          {"device", nullptr},
                                                          {"least_busy_device", nullptr},
                                                          {"least_share", nullptr},
                                                          {"uneven_work", false},
                                                          {"cause", nullptr},
                                                          {"more_microbatches", nullptr}}));
}

TEST_CASE("a steady period that the run does not show is null in JSON, empty in CSV, and still within the schema") {
  Report report = small_report();
  report.steady_period.reset();
  const Parsed json = Parsed::parse(report_json(report, kTool));
  CHECK(json.at("steady_period_ns").is_null());
  const std::string csv = runs_csv(std::vector<Report>{report});
  CHECK(contains(csv, "1f1b,,2,2,2,1,1,9000000,9000000,,6000000,"));
}
