// What every row of the catalog tells about itself, and that no published schedule is missing.
#include "schedules/catalog.hpp"
#include "tests/support/test.hpp"

using namespace debubble;

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
