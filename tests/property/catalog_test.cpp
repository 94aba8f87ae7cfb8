// Every row of the catalog, with many parameters: complete, free of deadlock, and in agreement with the rules.
#include "schedules/catalog.hpp"

#include <regex>

#include "sim/rows/check.hpp"
#include "tests/support/catalog_requests.hpp"
#include "tests/support/engine_run.hpp"
#include "tests/support/random_case.hpp"
#include "tests/support/schedule_shape.hpp"
#include "tests/support/test.hpp"

using namespace debubble;
using namespace debubble::testing;

namespace {

// The first of the row's schedules with which something is wrong, and what; "" when there is none. At most `most` of
// them are looked at.
template <typename Check>
std::string first_failure(const ScheduleEntry& entry, std::size_t most, const Check& check) {
  std::uint64_t seed = 0;
  for (const Schedule& schedule : schedules_of(entry, most)) {
    const std::string problem = check(schedule, seed++);
    if (!problem.empty()) return describe(schedule) + ": " + problem;
  }
  return "";
}

// Copies run beside compute, so the engine refuses them where transfers hold the compute lanes.
std::vector<P2p> modes_of(const Schedule& schedule) {
  if (!schedule.copies.empty()) return {P2p::kOverlapped};
  return {kEveryP2p.begin(), kEveryP2p.end()};
}

std::string deadlock_problem(const Schedule& schedule) {
  for (const ScheduleProblem& problem : find_problems(schedule)) return problem.message;
  if (const auto deadlock = find_deadlock(schedule)) return to_string(*deadlock);
  for (const P2p p2p : modes_of(schedule)) {
    const bool meets = p2p == P2p::kCoupled || p2p == P2p::kRendezvous;
    if (!meets && std::holds_alternative<Deadlock>(lower(schedule, p2p))) return "deadlocks, " + name_of(p2p);
  }
  return "";
}

std::string agreement_problem(const Schedule& schedule, std::uint64_t seed) {
  Dice dice(seed);
  StageCosts costs = random_costs(schedule.stages, dice);
  // The reference does not know of weight versions, which have tests of their own; weightless, they cost nothing.
  for (StageCost& stage : costs.stages) stage.weights = schedule.asynchrony ? 0 : stage.weights;
  const HopFigures link = random_link(dice);
  for (const P2p p2p : modes_of(schedule)) {
    const std::string problem = disagreement(schedule, costs, link, p2p);
    if (!problem.empty()) return problem + ", " + name_of(p2p) + ", seed " + std::to_string(seed);
  }
  return "";
}

constexpr std::size_t kMany = 120;
constexpr std::size_t kSome = 30;

}  // namespace

TEST_CASE("every catalog row runs every microbatch forward once and completely backward once on every stage") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CHECK_MESSAGE(schedules_of(entry, kMany).size() > 20, entry.name);
    CHECK_EQ(first_failure(entry, kMany, [](const Schedule& s, std::uint64_t) { return shape_problem(s); }), "");
  }
}

TEST_CASE("no catalog row has problems or deadlocks, with overlapped or blocking transfers") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CHECK_EQ(first_failure(entry, kMany, [](const Schedule& s, std::uint64_t) { return deadlock_problem(s); }), "");
  }
}

TEST_CASE("every catalog row agrees with the reference simulator in every mode") {
  for (const ScheduleEntry& entry : schedule_catalog()) CHECK_EQ(first_failure(entry, kSome, agreement_problem), "");
}

TEST_CASE("1F1B does not deadlock even where each exchange waits for both ends") {
  for (const Schedule& schedule : schedules_of(*find_schedule("1f1b"))) {
    CAPTURE(describe(schedule));
    REQUIRE(std::holds_alternative<Program>(lower(schedule, P2p::kCoupled)));
  }
}

TEST_CASE("building a schedule twice gives the same rows") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const auto once = schedules_of(entry, kSome);
    const auto again = schedules_of(entry, kSome);
    REQUIRE_EQ(once.size(), again.size());
    for (std::size_t i = 0; i < once.size(); ++i) {
      CAPTURE(describe(once[i]));
      REQUIRE(once[i].rows == again[i].rows);
      REQUIRE(once[i].copies == again[i].copies);
      REQUIRE(once[i].placement == again[i].placement);
    }
  }
}

// What every row of the catalog tells about itself, and that no published schedule is missing.

namespace {

const std::vector<std::string> kSynchronous{"gpipe",   "1f1b",          "interleaved", "chimera", "naive",
                                            "dapple",  "breadth-first", "depth-first", "gems",    "hanayo",
                                            "bitpipe", "terapipe",      "seq1f1b",     "bpipe",   "wavelet"};
const std::vector<std::string> kZeroBubble{"zb-h1",  "zb-h2",       "zb-auto",        "zb-v",     "zb-v-auto",
                                           "v-half", "v-min",       "interleaved-zb", "dualpipe", "dualpipe-v",
                                           "gis",    "pipeoffload", "optimal"};
const std::vector<std::string> kAsynchronous{"pipedream", "pipedream-2bw", "pipemare",
                                             "spectrain", "xpipe",         "pipelined-backprop"};

std::vector<std::string> names_of(ScheduleFamily family) {
  std::vector<std::string> names;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (entry.family == family) names.push_back(entry.name);
  }
  return names;
}

bool ends_like_a_sentence(const std::string& text) { return !text.empty() && text.back() == '.'; }

}  // namespace

TEST_CASE("the catalog holds every published schedule, family by family") {
  CHECK(names_of(ScheduleFamily::kSynchronous) == kSynchronous);
  CHECK(names_of(ScheduleFamily::kZeroBubble) == kZeroBubble);
  CHECK(names_of(ScheduleFamily::kAsynchronous) == kAsynchronous);
  CHECK(schedule_catalog().size() == 34);
}

TEST_CASE("every row says what it is, where it comes from, how certain it is and when to use it") {
  std::set<std::string> names;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK((entry.build != nullptr));
    CHECK_FALSE(entry.summary.empty());
    CHECK_FALSE(entry.citation.empty());
    CHECK_FALSE(entry.constraints.empty());
    CHECK_FALSE(entry.certainty_note.empty());
    CHECK(ends_like_a_sentence(entry.advice));
    CHECK(entry.default_chunks >= 1);
    CHECK(entry.chunk_step >= 0);
    for (const ParamSpec& param : entry.params) {
      CAPTURE(param.name);
      CHECK_FALSE(param.values.empty());
      CHECK_FALSE(param.default_value.empty());
      CHECK_FALSE(param.help.empty());
    }
  }
}

TEST_CASE("what a row says of its schedules is so") {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    CAPTURE(entry.name);
    const Schedule schedule = build_schedule(entry.name, {4, 8, 0, {}});
    CHECK(schedule.name == entry.name);
    CHECK(schedule.chunks == entry.default_chunks);
    CHECK(schedule.asynchrony.has_value() == (entry.family == ScheduleFamily::kAsynchronous));
    bool split = false;
    for (const auto& row : schedule.rows) {
      for (const Op& op : row) split = split || op.kind == OpKind::kWeightGrad;
    }
    CHECK(split == entry.splits_backward);
    const bool copies = schedule.placement.replicas() > 1 && !schedule.replicas_share_weights;
    CHECK(copies == (contains(entry.needs, "copies of the weights") && !schedule.asynchrony));
  }
}

// What the catalog refuses: every refusal can be mended, and advice that names values leads to a schedule.

namespace {

std::optional<Diagnostic> refusal_of(const ScheduleEntry& entry, const ScheduleRequest& request) {
  try {
    (void)build_schedule(entry.name, request);
  } catch (const InputError& error) {
    return error.diagnostics().at(0);
  }
  return std::nullopt;
}

// What one value of the advice names: a flag or a parameter, and every value for it.
struct Advice {
  std::string name;  // "-p", "-m", "-v" or the parameter's name
  std::vector<std::string> values;
};

// "nearest legal values: -m 4 or 8", "nearest legal value: --param waves=1", "legal values at p=8: 1, 2, 4" of the
// parameter that the place names, "smallest limit that works here: --param memory_limit=3"; nothing for other help.
std::optional<Advice> advice_of(const Diagnostic& problem) {
  static const std::regex flags(R"(.*: (-[pmv]) (\d+)(?: or (\d+))?)");
  static const std::regex params(R"(.*: --param (\w+)=([\w.,]+)(?: or (\w+))?)");
  static const std::regex list(R"(legal values[^:]*: (\d+(?:, \d+)*))");
  std::smatch found;
  if (std::regex_match(problem.help, found, flags) || std::regex_match(problem.help, found, params)) {
    Advice advice{found[1], {found[2]}};
    if (found[3].matched) advice.values.push_back(found[3]);
    return advice;
  }
  const std::string param = "--param ";
  if (!std::regex_match(problem.help, found, list) || problem.place.rfind(param, 0) != 0) return std::nullopt;
  Advice advice{problem.place.substr(param.size()), {}};
  const std::string values = found[1];
  static const std::regex number(R"(\d+)");
  for (auto it = std::sregex_iterator(values.begin(), values.end(), number); it != std::sregex_iterator(); ++it) {
    advice.values.push_back(it->str());
  }
  return advice;
}

ScheduleRequest advised(ScheduleRequest request, const std::string& name, const std::string& value) {
  if (name == "-p") {
    request.devices = std::stoi(value);
  } else if (name == "-m") {
    request.microbatches = std::stoi(value);
  } else if (name == "-v") {
    request.chunks = std::stoi(value);
  } else {
    request.params[name] = value;
  }
  return request;
}

// "" when every value that the advice names, and the advice that follows from it, ends in a schedule.
std::string bad_advice(const ScheduleEntry& entry, const ScheduleRequest& request, int patience, int& followed) {
  const auto problem = refusal_of(entry, request);
  if (!problem) return "";
  const auto advice = advice_of(*problem);
  if (!advice) return "";
  if (patience == 0) return describe(entry, request) + ": " + problem->code + ", and no end of advice";
  for (const std::string& value : advice->values) {
    const ScheduleRequest next = advised(request, advice->name, value);
    const auto again = refusal_of(entry, next);
    ++followed;
    const bool same_fault = again && again->code == problem->code && again->place == problem->place;
    if (same_fault && advice_of(*again)) {  // without advice it is another fault of the same family
      return describe(entry, request) + ": the advice \"" + problem->help + "\" is refused too: " + again->message;
    }
    if (auto text = bad_advice(entry, next, patience - 1, followed); !text.empty()) return text;
  }
  return "";
}

}  // namespace

TEST_CASE("the nearest legal values that a refusal names are legal") {
  int followed = 0;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    const auto requests = requests_for(entry);
    constexpr std::size_t kEnough = 250;
    for (std::size_t i = 0; i < std::min(requests.size(), kEnough); ++i) {
      const std::string problem = bad_advice(entry, requests[i], 4, followed);
      CHECK_EQ(problem, "");
      if (!problem.empty()) break;
    }
  }
  CHECK(followed > 200);
}

TEST_CASE("advice is read as it is written") {
  const auto values = [](const std::string& place, const std::string& help) {
    const auto advice = advice_of({"S000", place, "", help});
    return advice ? advice->name + ":" + std::to_string(advice->values.size()) + ":" + advice->values.back() : "";
  };
  CHECK(values("--devices", "nearest legal values: -p 2 or 4") == "-p:2:4");
  CHECK(values("--microbatches", "nearest legal values at p=4: -m 8") == "-m:1:8");
  CHECK(values("--param group", "nearest legal value: --param group=4") == "group:1:4");
  CHECK(values("--param pairs", "legal values at p=8: 1, 2, 4") == "pairs:3:4");
  CHECK(values("--devices", "use -p 2 or more") == "");
}
