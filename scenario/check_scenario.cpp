#include "scenario/check_scenario.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "scenario/job/measured_slow.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/request/catalog_names.hpp"
#include "scenario/request/checks.hpp"
#include "scenario/request/flag_row.hpp"
#include "scenario/request/profile_files.hpp"
#include "scenario/request/transform_spec.hpp"
#include "scenario/request/uniform_times.hpp"
#include "schedules/catalog.hpp"
#include "sim/core/error.hpp"
#include "sim/core/keyed_list.hpp"
#include "sim/core/numbers.hpp"
#include "sim/core/quantities.hpp"
#include "sim/core/split.hpp"

namespace debubble {

namespace {

std::map<std::string, std::string> parse_params(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> params;
  const KeyedForm form{.place = "--param",
                       .example = "write it like --param group=8",
                       .once = "give each parameter once",
                       .values_needed = true};
  read_keyed_list(texts, form, [&](const std::string& key, const std::string& value) { params[key] = value; });
  return params;
}

double parse_share(const std::string& text) {
  const std::optional<double> share = number_of(text);
  if (!share || *share < 0 || *share > 1) {
    fail("C012", "--w-share", "the share of an activation that stays for W lies between 0 and 1; got \"" + text + "\"",
         "write it like --w-share 0.5");
  }
  return *share;
}

// The keys that --times names; parse_times has checked its form.
std::set<std::string> given_times(const std::string& text) {
  std::set<std::string> keys;
  for (std::string& item : split(text)) {
    std::erase(item, ' ');
    keys.insert(item.substr(0, item.find('=')));
  }
  return keys;
}

Flag schedule_row(ScenarioFlags& flags, bool several) {
  Flag row = FlagGroup()("--schedule,--schedules", "NAME|FILE", "schedule name, .csv or .json file", &flags.schedules,
                         schedule_names, Default{"1f1b"}, FlagMark::kOfSchedule, FlagMark::kNotRepeated);
  if (!several) return row;
  row.name = "--schedules";
  row.alias = "--schedule";
  row.type = "NAME,FILE,";
  row.help = "schedules, joined by commas";
  row.default_text = "all";
  row.count = FlagCount::kList;
  return row;
}

FlagRows run_rows(ScenarioFlags& flags) {
  const FlagGroup row("Run");
  return {
      row("-p,--devices,--pp", "P", "devices in the pipeline", &flags.devices, Default{"4"}, FlagMark::kNotRepeated),
      row("-m,--microbatches", "M", "microbatches per iteration", &flags.microbatches, Default{"8"},
          FlagMark::kOfSchedule, FlagMark::kNotRepeated),
      row("-v,--chunks", "V", "stages per device", &flags.chunks, Default{"the schedule's own"}, FlagMark::kOfSchedule,
          FlagMark::kNotRepeated),
      row("--param", "KEY=VALUE", "schedule parameter; see `explain schedule NAME`", &flags.params, FlagCount::kAll,
          FlagForm::kKeyed, FlagMark::kOfSchedule),
      row("--transform", "NAME[:KEY=VALUE,]", "transforms, in this order; see `list transforms`", &flags.transforms,
          transform_names, FlagCount::kAll, FlagForm::kCommas, FlagMark::kOfSchedule),
  };
}

Flag global_batch_row(ScenarioFlags& flags) {
  return FlagGroup("Run")("--global-batch,--gbs", "N", "samples per step of all replicas, instead of -m",
                          &flags.global_batch, FlagMark::kNotRepeated,
                          excludes({"--microbatches"}, "both say how many microbatches a step has"));
}

FlagRows cost_rows(ScenarioFlags& flags) {
  const FlagGroup row("Costs");
  return {
      row("--times", "LIST", "ms per device share: f=1,i=1,w=1 or f=1,b=2", &flags.times, FlagForm::kCommas,
          excludes({"--profile"}, "both say what the stages cost")),
      row("--w-share", FlagUnit::kShare, "activations kept from I to W, 0..1", &flags.weight_share, Default{"1"}),
      row("--profile", "FILE|FOLDER", "profile of layer times; several: sizes of one model", &flags.profile,
          FlagCount::kAll),
      row("--partition", "LIST", "layers per stage: a,b,c, auto, even, memory, ...", &flags.partition,
          FlagForm::kCommas, FlagMark::kNotRepeated,
          needs({"--profile", "--model"}, "there are no layers to partition without a profile or a model",
                "add --profile FILE or --model NAME")),
  };
}

// Whole numbers only: a batch that leaves samples over is nobody's.
void set_microbatches(const ScenarioFlags& flags, Scenario& scenario) {
  if (!flags.global_batch) return;
  const std::int64_t batch = *flags.global_batch;
  const std::int64_t data = scenario.cluster.sizes.data;
  const std::int64_t samples = scenario.profile ? std::max<std::int64_t>(1, scenario.profile->microbatch_size) : 1;
  const std::int64_t all = data * samples;  // samples of one microbatch of all replicas
  if (batch < 1 || batch % all != 0 || batch / all > std::numeric_limits<int>::max()) {
    const std::int64_t nearest = std::max<std::int64_t>(1, std::min<std::int64_t>(batch / all, 1'000'000)) * all;
    fail("C001", "--global-batch",
         std::to_string(batch) + " samples are not a whole number of microbatches: " + std::to_string(data) +
             (data == 1 ? " replica of " : " replicas of ") + std::to_string(samples) +
             (samples == 1 ? " sample each take " : " samples each take ") + std::to_string(all) + " at a time",
         "nearest: --global-batch " + std::to_string(nearest));
  }
  scenario.microbatches = static_cast<int>(batch / all);
}

FlagRows network_rows(ScenarioFlags& flags) {
  const FlagGroup row("Network");
  return {
      row("--comm", FlagUnit::kDuration, "latency per hop; bare: ms", &flags.comm, Default{"profile's, 0"}),
      row("--bandwidth", FlagUnit::kBandwidth, "link bandwidth: 25GB/s", &flags.bandwidth, Default{"profile's, none"},
          needs({"--profile", "--model"},
                "without a profile transfers have no size, so a bandwidth would change nothing",
                "use --comm for the time of a hop, or add --profile FILE")),
      row("--host-bandwidth", FlagUnit::kBandwidth, "offloading bandwidth", &flags.host_bandwidth,
          Default{"topology's, 25GB/s"},
          needs({"--profile", "--model"}, "without a profile activations have no size, so it would change nothing",
                "use --times copy=1 for the time of a copy, or add --profile FILE")),
      row("--p2p", "MODE", "how sends meet compute (auto: the framework's)", &flags.p2p,
          OneOf{"auto|overlapped|blocking|coupled|late|rendezvous|joined"}, Preset{"auto"}),
  };
}

}  // namespace

FlagRows flag_rows(ScenarioFlags& flags, ScenarioVerb verb) {
  FlagRows rows{schedule_row(flags, verb == ScenarioVerb::kSeveralSchedules || verb == ScenarioVerb::kPlan)};
  add_rows(rows, run_rows(flags));
  if (verb != ScenarioVerb::kPlan && verb != ScenarioVerb::kLive) rows.push_back(global_batch_row(flags));
  add_rows(rows, cost_rows(flags));
  add_rows(rows, network_rows(flags));
  if (verb != ScenarioVerb::kLive) add_rows(rows, flag_rows(flags.transformer));
  add_rows(rows, flag_rows(flags.cluster));
  add_rows(rows, flag_rows(flags.step));
  add_rows(rows, flag_rows(flags.memory));
  add_rows(rows, flag_rows(flags.variation));
  return rows;
}

std::string repeated_flags(const ScenarioFlags& flags) {
  ScenarioFlags copy = flags;
  return flag_line(flag_rows(copy));
}

void check_schedule_flags(const ScenarioFlags& flags, Scenario& scenario) {
  scenario.schedules = flags.schedules;
  for (std::string& name : scenario.schedules) {
    if (const ScheduleEntry* entry = find_schedule(name)) name = entry->name;  // as it is spelled here
  }
  if (!flags.global_batch) scenario.microbatches = flags.microbatches;  // else set_microbatches has said
  run_all({[&] { scenario.params = parse_params(flags.params); },
           [&] { scenario.transforms = parse_transforms(flags.transforms); },
           [&] {
             if (flags.chunks && *flags.chunks < 1) {
               fail("S005", "--chunks", "a device needs at least 1 stage; got " + std::to_string(*flags.chunks),
                    "use -v 1 or more");
             }
             scenario.chunks = flags.chunks.value_or(0);
           }});
}

Scenario check_scenario(const ScenarioFlags& flags) {
  Scenario scenario;
  scenario.devices = flags.devices;
  scenario.own_schedules = flags.own_schedules;
  ScenarioFlags copy = flags;
  const FlagRows rows = flag_rows(copy);
  Checks checks = run_each({
      [&] { refuse_excluded(rows); },
      [&] { scenario.cluster = check_cluster(flags.cluster); },
      [&] { check_schedule_flags(flags, scenario); },
      [&] {
        if (flags.times.empty()) return;
        scenario.times = parse_times(flags.times, "--times");
        scenario.times_given = given_times(flags.times);
      },
      [&] {  // after --times, which makes a new UniformTimes
        scenario.weight_share_given = !flags.weight_share.empty();
        if (scenario.weight_share_given) scenario.times.weight_share = parse_share(flags.weight_share);
      },
      [&] {
        if (!flags.comm.empty()) scenario.comm = parse_duration(flags.comm, "--comm", BareNumber::kToyUnits);
      },
      [&] {
        if (!flags.bandwidth.empty()) scenario.bandwidth = parse_bandwidth(flags.bandwidth, "--bandwidth");
      },
      [&] {
        if (flags.host_bandwidth.empty()) return;
        scenario.host_bandwidth = parse_bandwidth(flags.host_bandwidth, "--host-bandwidth");
      },
      [&] {
        const auto word = word_index(rows, "--p2p");
        if (word > 0) scenario.p2p = static_cast<P2p>(word - 1);
        scenario.framework = flags.framework;
      },
      [&] {
        if (flags.profile.empty()) return;
        ChosenProfile chosen = read_profiles(flags.profile, flags.transformer);
        scenario.profile = std::move(chosen.profile);
        scenario.profile_size = std::move(chosen.size);
        scenario.profile_family = std::move(chosen.family);
      },
      [&] { scenario.transformer = check_transformer(flags.transformer); },
      [&] { scenario.step = check_step(flags.step); },
      [&] { scenario.memory = check_memory(flags.memory); },
      [&] { scenario.variation = check_variation(flags.variation); },
  });
  for (Diagnostic& unmet : unmet_needs(rows)) {
    if (!checks.found_at(unmet.place)) checks.add(std::move(unmet));  // else its value is wrong: that comes first
  }
  checks.finish();
  if (!flags.partition.empty()) scenario.partition = parse_cut_rule(flags.partition);
  set_modelled_profile(scenario);
  set_microbatches(flags, scenario);
  if (!flags.variation.equal_ranks && !flags.profile.empty()) add_rank_speeds(scenario, flags.profile.front());
  read_measured_slow(scenario);
  return scenario;
}

}  // namespace debubble
