#include "studies/whatif/whatif_flags.hpp"

#include <algorithm>
#include <utility>

#include "scenario/request/checks.hpp"
#include "scenario/request/flag_row.hpp"
#include "sim/core/error.hpp"
#include "sim/core/quantities.hpp"
#include "studies/parallel.hpp"

namespace debubble {

namespace {

constexpr int kMostSeeds = 1'000'000;

std::string slow_label(const SlowItem& item) {
  const std::string name = item.what == SlowItem::What::kDevice  ? "device"
                           : item.what == SlowItem::What::kStage ? "stage"
                                                                 : "replica";
  constexpr const char* kAsLong = " times as long";
  const std::string as_in = item.file.empty() ? "" : ", as in " + item.file;
  if (item.list) return name + "s take " + item.text.substr(item.text.find('=') + 1) + kAsLong + as_in;
  const std::string factor = plain(item.factors.front());
  const std::string first = std::to_string(item.first);
  if (item.first == item.last) return name + " " + first + " takes " + factor + kAsLong;
  return name + "s " + first + " to " + std::to_string(item.last) + " take " + factor + kAsLong;
}

void add_variation_changes(const VariationScenario& variation, std::vector<NamedChange>& changes) {
  for (const SlowItem& item : variation.slow) {
    if (item.of_profile) continue;  // of the base: it was measured
    if (std::all_of(item.factors.begin(), item.factors.end(), [](double factor) { return factor == 1; })) {
      fail("O024", "--slow", slow_label(item) + ": that changes nothing", "give a factor other than 1");
    }
    NamedChange change{slow_label(item), {}};
    change.changes.slow = {item};
    changes.push_back(std::move(change));
  }
  const std::string seed = ", seed " + std::to_string(variation.seed);
  if (variation.factors.kind != FactorSource::Kind::kNone) {
    NamedChange change{"microbatches differ: " + variation.factors.text + (variation.factors.random() ? seed : ""), {}};
    change.changes.factors = variation.factors;
    changes.push_back(std::move(change));
  }
  if (variation.jitter == 0) return;
  NamedChange change{"jitter lognormal:" + plain(variation.jitter) + " of every op" + seed, {}};
  change.changes.jitter = variation.jitter;
  changes.push_back(std::move(change));
}

void add_link_changes(std::vector<LinkChange> links, std::vector<NamedChange>& changes) {
  for (LinkChange& link : links) {
    NamedChange change{to_string(link), {}};
    change.changes.links = {std::move(link)};
    changes.push_back(std::move(change));
  }
}

void add_link_scale(const std::string& text, const char* flag, double LinkChange::*what,
                    std::vector<NamedChange>& changes) {
  if (text.empty()) return;
  LinkChange change;
  change.*what = parse_scale(text, flag);
  add_link_changes({change}, changes);
}

void add_overlap(const std::string& text, std::vector<NamedChange>& changes) {
  if (text.empty()) return;
  NamedChange change{text == "on" ? "communication that overlaps with compute" : "communication that holds compute",
                     {}};
  change.changes.overlap = text == "on";
  changes.push_back(std::move(change));
}

void check_counts(const WhatIfFlags& flags, WhatIfQuestion& question, bool random) {
  if (flags.seeds) {
    if (*flags.seeds < 1 || *flags.seeds > kMostSeeds) {
      fail("C012", "--seeds", std::to_string(*flags.seeds) + " seeds cannot be run",
           "from 1 to " + std::to_string(kMostSeeds));
    }
    if (!random) {
      fail("C004", "--seeds", "every seed gives the same run: nothing is drawn",
           "add --jitter lognormal:0.05 or --factors lognormal:0.3");
    }
    question.seeds = *flags.seeds;
  }
  if (!flags.threads) return;
  if (*flags.threads < 1 || *flags.threads > kMostThreads) {
    fail("C012", "--threads", std::to_string(*flags.threads) + " threads cannot be used",
         "from 1 to " + std::to_string(kMostThreads) + "; without it one per core");
  }
  question.threads = *flags.threads;
}

}  // namespace

FlagRows flag_rows(WhatIfFlags& flags) {
  const FlagGroup change("Change");
  const FlagGroup question("Question");
  return {
      change("--to", "FLAGS|FILE.toml", "the same run with other flags: '--tp 4 -m 16'", &flags.to),
      change("--link", "LINK:CHANGE", "link 3-4:x0.5 (bandwidth), 3-4:latency=x2 or =50us", &flags.links,
             FlagCount::kAll),
      change("--fail", "link LINK", "a failed link that carries no traffic: link 3-4", &flags.fail, FlagCount::kPairs),
      change("--latency,--latency-scale", "xF", "factor on all latencies: x2, x0", &flags.latency, FlagUnit::kFactor),
      change("--bandwidth-scale", "xF", "factor on all link bandwidths: x2", &flags.bandwidth_scale, FlagUnit::kFactor),
      change("--overlap", OneOf{"on|off"}, "communication overlaps compute: on or off", &flags.overlap),
      change("--base", "BASE", "base run: plain (default), or varied like the other", &flags.base,
             OneOf{"plain|varied"}, Preset{"plain"}),
      question("--seeds", "N", "random seeds to run, for p50, p95, p99", &flags.seeds),
      question("--threads", "N", "threads for the seeds", &flags.threads, Default{"all cores"}),
      question("--sensitivity", "derivatives of the step time, and what helps most", &flags.sensitivity),
  };
}

WhatIfQuestion check_whatif(const WhatIfFlags& flags, const Scenario& scenario) {
  WhatIfQuestion question;
  question.base = scenario;
  question.sensitivity = flags.sensitivity;
  Checks checks;
  WhatIfFlags copy = flags;
  const FlagRows rows = flag_rows(copy);
  for (Diagnostic& unknown : unknown_words(rows)) checks.add(std::move(unknown));
  if (flags.base != "varied") {
    add_variation_changes(scenario.variation, question.changes);
    question.base.variation = {};
    std::copy_if(scenario.variation.slow.begin(), scenario.variation.slow.end(),
                 std::back_inserter(question.base.variation.slow),
                 [](const SlowItem& item) { return item.of_profile; });
    question.base.variation.seed = scenario.variation.seed;
  }
  checks.run([&] { add_link_changes(parse_links(flags.links), question.changes); });
  checks.run([&] { add_link_changes(parse_failures(flags.fail), question.changes); });
  checks.run([&] { add_link_scale(flags.latency, "--latency", &LinkChange::latency, question.changes); });
  checks.run(
      [&] { add_link_scale(flags.bandwidth_scale, "--bandwidth-scale", &LinkChange::bandwidth, question.changes); });
  checks.run([&] { add_overlap(flags.overlap, question.changes); });
  checks.run([&] { check_counts(flags, question, scenario.variation.random()); });
  if (checks.found_none() && question.changes.empty() && flags.to.empty() && question.seeds == 0 &&
      !question.sensitivity) {
    checks.add({"C061", "debubble whatif", "nothing is changed and nothing is asked",
                "add --to '--recompute full', --slow device=3:1.25, --link 3-4:x0.5 or --sensitivity"});
  }
  checks.finish();
  return question;
}

}  // namespace debubble
