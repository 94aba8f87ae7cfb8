#include "scenario/check_scenario.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <memory>
#include <set>
#include <utility>

#include "formats/text/quantities.hpp"
#include "formats/text/shell.hpp"
#include "scenario/job/model_profile.hpp"
#include "scenario/request/checks.hpp"
#include "scenario/request/profile_files.hpp"
#include "scenario/request/transform_spec.hpp"
#include "scenario/request/uniform_times.hpp"
#include "sim/core/error.hpp"
#include "sim/core/split.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

[[noreturn]] void fail(std::string code, std::string place, std::string message, std::string help) {
  throw InputError(Diagnostic{std::move(code), std::move(place), std::move(message), std::move(help)});
}

// The index of `value` in `names`; an unknown one is refused with the list or a suggestion.
template <std::size_t N>
std::size_t one_of(const std::array<std::string, N>& names, const std::string& value, const std::string& code,
                   const std::string& place) {
  for (std::size_t k = 0; k < N; ++k) {
    if (names[k] == value) return k;
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  const std::string guess = closest_name(value, names);
  fail(code, place, "\"" + value + "\" is not one of: " + all,
       guess.empty() ? "write " + place + " " + names[0] : "did you mean " + guess + "?");
}

std::map<std::string, std::string> parse_params(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> params;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      fail("C006", "--param", "\"" + text + "\" is not KEY=VALUE", "write it like --param group=8");
    }
    if (!params.emplace(text.substr(0, equals), text.substr(equals + 1)).second) {
      fail("C007", "--param", "\"" + text.substr(0, equals) + "\" is given twice", "give each parameter once");
    }
  }
  return params;
}

double parse_share(const std::string& text) {
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc{} || end != text.data() + text.size() || !(share >= 0 && share <= 1)) {
    fail("C008", "--w-share", "the share of an activation that stays for W lies between 0 and 1; got \"" + text + "\"",
         "write it like --w-share 0.5");
  }
  return share;
}

void check_combination(const ScenarioFlags& flags) {
  if (!flags.profile.empty() && !flags.times.empty()) {
    fail("C009", "--times", "--times and --profile both say what the stages cost", "give one of them");
  }
  const std::string& model = flags.transformer.model;
  if (!model.empty() && (!flags.profile.empty() || !flags.times.empty())) {
    const std::string other = flags.profile.empty() ? "--times" : "--profile";
    fail("F010", "--model", "--model and " + other + " both say what the stages cost", "give one of them");
  }
  if (flags.profile.empty() && model.empty() && !flags.partition.empty()) {
    fail("C004", "--partition", "there are no layers to partition without a profile", "add --profile FILE");
  }
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

}  // namespace

void add_scenario_flags(CLI::App& verb, ScenarioFlags& flags, bool several) {
  auto* schedule = verb.add_option(
      several ? "--schedules,--schedule" : "--schedule", flags.schedules,
      several ? "names joined by commas, or all (default)" : "by name, or a .csv or .json file (default: 1f1b)");
  schedule->type_name(several ? "NAME,FILE," : "NAME|FILE");
  if (several) {
    schedule->delimiter(',');
  } else {
    schedule->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  const std::string run = "Run";
  verb.add_option("-p,--devices", flags.devices, "devices in the pipeline (default: 4)")->group(run)->type_name("P");
  verb.add_option("-m,--microbatches", flags.microbatches, "microbatches per iteration (default: 8)")
      ->group(run)
      ->type_name("M");
  verb.add_option("-v,--chunks", flags.chunks, "stages per device (default: the schedule's own)")
      ->group(run)
      ->type_name("V");
  verb.add_option("--param", flags.params, "of the schedule; see `debubble list schedules`")
      ->group(run)
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--transform", flags.transforms, "in this order; see `debubble list transforms`")
      ->group(run)
      ->type_name("NAME[:KEY=VALUE,]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  const std::string costs = "Costs";
  verb.add_option("--times", flags.times, "ms per device share: f=1,i=1,w=1 or f=1,b=2")
      ->group(costs)
      ->type_name("LIST");
  verb.add_option("--w-share", flags.weight_share, "activation kept from I to W, 0..1 (default: 1)")
      ->group(costs)
      ->type_name("SHARE");
  verb.add_option("--profile", flags.profile, "layer times; several: sizes of one model")
      ->group(costs)
      ->type_name("FILE|FOLDER")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--partition", flags.partition, "layers per stage: a,b,c, auto, even, a layout")
      ->group(costs)
      ->type_name("LIST");
  const std::string network = "Network";
  verb.add_option("--comm", flags.comm, "latency per hop; bare: ms (default: profile's, 0)")
      ->group(network)
      ->type_name("TIME");
  verb.add_option("--bandwidth", flags.bandwidth, "per link, e.g. 25GB/s (default: profile's, none)")
      ->group(network)
      ->type_name("RATE");
  verb.add_option("--host-bandwidth", flags.host_bandwidth, "for offloading (default: topology's or 25GB/s)")
      ->group(network)
      ->type_name("RATE");
  verb.add_option("--p2p", flags.p2p, "overlapped (default), blocking or coupled")->group(network)->type_name("MODE");
  add_transformer_flags(verb, flags.transformer);
  add_cluster_flags(verb, flags.cluster);
  add_step_flags(verb, flags.step);
  add_memory_flags(verb, flags.memory);
  add_variation_flags(verb, flags.variation);
}

std::string repeated_flags(const ScenarioFlags& flags) {
  FlagLine line;
  for (const std::string& param : flags.params) line.add("--param", param);
  for (const std::string& transform : flags.transforms) line.add("--transform", transform);
  line.add("--times", flags.times);
  line.add("--w-share", flags.weight_share);
  for (const std::string& profile : flags.profile) line.add("--profile", profile);
  line.add("--comm", flags.comm);
  line.add("--bandwidth", flags.bandwidth);
  line.add("--host-bandwidth", flags.host_bandwidth);
  if (flags.p2p != "overlapped") line.add("--p2p", flags.p2p);
  for (const std::string& part : {repeated_transformer_flags(flags.transformer), repeated_cluster_flags(flags.cluster),
                                  repeated_step_flags(flags.step), repeated_memory_flags(flags.memory),
                                  repeated_variation_flags(flags.variation)}) {
    line.add_part(part);
  }
  return line.text();
}

Scenario check_scenario(const ScenarioFlags& flags) {
  Scenario scenario;
  scenario.schedules = flags.schedules;
  scenario.devices = flags.devices;
  scenario.microbatches = flags.microbatches;
  const std::array<std::string, 3> modes{"overlapped", "blocking", "coupled"};
  run_all({
      [&] { check_combination(flags); },
      [&] { scenario.cluster = check_cluster(flags.cluster); },
      [&] { scenario.params = parse_params(flags.params); },
      [&] { scenario.transforms = parse_transforms(flags.transforms); },
      [&] {
        if (flags.chunks && *flags.chunks < 1) {
          fail("S005", "--chunks", "a device needs at least 1 stage; got " + std::to_string(*flags.chunks),
               "use -v 1 or more");
        }
        scenario.chunks = flags.chunks.value_or(0);
      },
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
        if (flags.bandwidth.empty()) return;
        scenario.bandwidth = parse_bandwidth(flags.bandwidth, "--bandwidth");
        if (!flags.profile.empty() || !flags.transformer.model.empty()) return;
        fail("C067", "--bandwidth", "without a profile transfers have no size, so a bandwidth would change nothing",
             "use --comm for the time of a hop, or add --profile FILE");
      },
      [&] {
        if (flags.host_bandwidth.empty()) return;
        scenario.host_bandwidth = parse_bandwidth(flags.host_bandwidth, "--host-bandwidth");
        if (!flags.profile.empty() || !flags.transformer.model.empty()) return;
        fail("C067", "--host-bandwidth", "without a profile activations have no size, so it would change nothing",
             "use --times copy=1 for the time of a copy, or add --profile FILE");
      },
      [&] { scenario.p2p = static_cast<P2p>(one_of(modes, flags.p2p, "C002", "--p2p")); },
      [&] {
        if (flags.profile.empty()) return;
        ChosenProfile chosen = read_profiles(flags.profile, flags.transformer);
        scenario.profile = std::move(chosen.profile);
        scenario.profile_size = std::move(chosen.size);
        scenario.profile_family = std::move(chosen.family);
      },
      [&] { scenario.transformer = check_transformer(flags.transformer, !flags.profile.empty()); },
      [&] { scenario.step = check_step(flags.step); },
      [&] { scenario.memory = check_memory(flags.memory); },
      [&] { scenario.variation = check_variation(flags.variation); },
  });
  if (!flags.partition.empty()) scenario.partition = parse_partition_choice(flags.partition);
  set_modelled_profile(scenario);
  return scenario;
}

}  // namespace debubble
