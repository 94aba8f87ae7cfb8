#include "schedules/catalog.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "schedules/asynchronous/pipedream.hpp"
#include "schedules/asynchronous/pipedream_2bw.hpp"
#include "schedules/asynchronous/pipelined_backprop.hpp"
#include "schedules/asynchronous/pipemare.hpp"
#include "schedules/asynchronous/spectrain.hpp"
#include "schedules/asynchronous/xpipe.hpp"
#include "schedules/common/request.hpp"
#include "schedules/optimal.hpp"
#include "schedules/synchronous/bitpipe.hpp"
#include "schedules/synchronous/bpipe.hpp"
#include "schedules/synchronous/breadth_first.hpp"
#include "schedules/synchronous/chimera.hpp"
#include "schedules/synchronous/dapple.hpp"
#include "schedules/synchronous/depth_first.hpp"
#include "schedules/synchronous/gems.hpp"
#include "schedules/synchronous/gpipe.hpp"
#include "schedules/synchronous/hanayo.hpp"
#include "schedules/synchronous/interleaved.hpp"
#include "schedules/synchronous/naive.hpp"
#include "schedules/synchronous/one_f_one_b.hpp"
#include "schedules/synchronous/seq1f1b.hpp"
#include "schedules/synchronous/terapipe.hpp"
#include "schedules/synchronous/wavelet.hpp"
#include "schedules/transforms/catalog.hpp"
#include "schedules/zero_bubble/dualpipe.hpp"
#include "schedules/zero_bubble/dualpipe_v.hpp"
#include "schedules/zero_bubble/gis.hpp"
#include "schedules/zero_bubble/interleaved_zb.hpp"
#include "schedules/zero_bubble/pipeoffload.hpp"
#include "schedules/zero_bubble/v_half.hpp"
#include "schedules/zero_bubble/v_min.hpp"
#include "schedules/zero_bubble/zb_auto.hpp"
#include "schedules/zero_bubble/zb_h1.hpp"
#include "schedules/zero_bubble/zb_h2.hpp"
#include "schedules/zero_bubble/zb_v.hpp"
#include "schedules/zero_bubble/zb_v_auto.hpp"
#include "sim/core/error.hpp"
#include "sim/core/suggest.hpp"

namespace debubble {

namespace {

void check_schedule_sizes(const ScheduleEntry& entry, const ScheduleRequest& request) {
  if (request.devices < 1) {
    fail("S003", "--devices", "a pipeline needs at least 1 device; got " + std::to_string(request.devices),
         "use -p 1 or more");
  }
  if (request.microbatches < 1) {
    fail("S004", "--microbatches",
         "an iteration needs at least 1 microbatch; got " + std::to_string(request.microbatches), "use -m 1 or more");
  }
  if (request.chunks < 0) {
    fail("S005", "--chunks", "a device needs at least 1 stage; got " + std::to_string(request.chunks),
         "use -v 1 or more");
  }
  const int chunks = request.chunks == 0 ? entry.default_chunks : request.chunks;
  if (static_cast<double>(request.devices) * request.microbatches * chunks > kMostCells) {
    fail("S015", "--microbatches", "stages x microbatches are beyond 20 million",
         "simulate fewer microbatches: the steady state repeats");
  }
}

void check_schedule_params(const ScheduleEntry& entry, const ScheduleRequest& request) {
  std::vector<std::string> known;
  for (const ParamSpec& spec : entry.params) known.push_back(spec.name);
  for (const auto& [name, value] : request.params) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string help = entry.name + " takes no parameters";
    if (!known.empty()) {
      help = entry.name + " takes:";
      for (const std::string& candidate : known) help += " " + candidate;
      if (const std::string guess = closest_name(name, known); !guess.empty()) help = "did you mean " + guess + "?";
    }
    fail("S002", "--param " + name, entry.name + " has no parameter \"" + name + "\"", help);
  }
}

// Schedules as frameworks call them, and not we: in small letters, without hyphens.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFrameworkSpellings{{
    {"interleaved1f1b", "interleaved"},           // PyTorch and torchtitan
    {"interleavedzerobubble", "interleaved-zb"},  // PyTorch and torchtitan
    {"zbvzerobubble", "zb-v"},                    // PyTorch and torchtitan
    {"loopedbfs", "breadth-first"},               // PyTorch and torchtitan
    {"pipedreamflush", "1f1b"},                   // the paper whose schedule it is
}};

// "1f1b" of "Schedule1F1B", "dualpipev" of "DualPipeV".
std::string plain_schedule_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  constexpr std::string_view kPrefix = "schedule";  // of PyTorch's classes
  return plain.starts_with(kPrefix) ? plain.substr(kPrefix.size()) : plain;
}

// Names of papers and frameworks that are no name of one schedule here.
std::string other_name_help(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kOthers{{
      {"zerobubble", "the zero-bubble schedules are zb-h1, zb-h2, zb-auto, zb-v and interleaved-zb"},
      {"zb", "the zero-bubble schedules are zb-h1, zb-h2, zb-auto, zb-v and interleaved-zb"},
      {"zb1p", "write --schedule zb-auto --param memory_limit=1p"},
      {"zb2p", "write --schedule zb-auto --param memory_limit=2p"},
      {"vpp", "write --schedule interleaved"},
      {"flexibleinterleaved1f1b", "write --schedule interleaved"},
      {"afab", "write --schedule gpipe"},
      {"fthenb", "write --schedule gpipe"},
      {"pipedreamflush", "write --schedule 1f1b"},
      {"seqpipe", "write --schedule interleaved --param rounding=mindspore"},
      {"seqsmartvpp", "write --schedule interleaved --param rounding=mindspore --param warmup=short"},
      {"zerobubblev", "write --schedule dualpipe-v --param order=mindspore"},
  }};
  const std::string plain = plain_schedule_name(name);
  for (const auto& [other, help] : kOthers) {
    if (plain == other) return std::string(help);
  }
  return "";
}

std::string unknown_name_help(std::string_view name, const std::string& guess, bool takes_file) {
  const std::string text(name);
  if (std::string help = other_name_help(name); !help.empty()) return help;
  if (find_transform(name) != nullptr) return text + " is a transform: --transform " + text;
  if (const std::size_t colon = text.find(':'); colon != std::string::npos && colon > 0 && colon + 1 < text.size()) {
    if (const ScheduleEntry* entry = find_schedule(name.substr(0, colon))) {
      return "its parameters are given apart: --schedule " + entry->name + " --param " + text.substr(colon + 1);
    }
  }
  if (!guess.empty()) return "did you mean " + guess + "?";
  return "see `debubble list schedules`" + std::string(takes_file ? "; a file ends in .csv or .json" : "");
}

}  // namespace

std::span<const ScheduleEntry> schedule_catalog() {
  static const std::array entries{
      // synchronous
      gpipe_entry(),
      one_f_one_b_entry(),
      interleaved_entry(),
      chimera_entry(),
      naive_entry(),
      dapple_entry(),
      breadth_first_entry(),
      depth_first_entry(),
      gems_entry(),
      hanayo_entry(),
      bitpipe_entry(),
      terapipe_entry(),
      seq1f1b_entry(),
      bpipe_entry(),
      wavelet_entry(),
      // zero bubble
      zb_h1_entry(),
      zb_h2_entry(),
      zb_auto_entry(),
      zb_v_entry(),
      zb_v_auto_entry(),
      v_half_entry(),
      v_min_entry(),
      interleaved_zb_entry(),
      dualpipe_entry(),
      dualpipe_v_entry(),
      gis_entry(),
      pipeoffload_entry(),
      optimal_entry(),
      // asynchronous
      pipedream_entry(),
      pipedream_2bw_entry(),
      pipemare_entry(),
      spectrain_entry(),
      xpipe_entry(),
      pipelined_backprop_entry(),
  };
  return entries;
}

bool has_param(const ScheduleEntry& entry, std::string_view name) {
  return std::any_of(entry.params.begin(), entry.params.end(),
                     [&](const ParamSpec& param) { return param.name == name; });
}

const ScheduleEntry* find_schedule(std::string_view name) {
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (entry.name == name) return &entry;
  }
  const std::string plain = plain_schedule_name(name);
  if (plain.empty()) return nullptr;
  for (const ScheduleEntry& entry : schedule_catalog()) {
    if (plain_schedule_name(entry.name) == plain) return &entry;
  }
  for (const auto& [spelled, own] : kFrameworkSpellings) {
    if (spelled == plain) return find_schedule(own);
  }
  return nullptr;
}

const ScheduleEntry& known_schedule(std::string_view name, std::string_view place) {
  if (const ScheduleEntry* entry = find_schedule(name)) return *entry;
  std::vector<std::string> names;
  for (const ScheduleEntry& row : schedule_catalog()) names.push_back(row.name);
  const bool takes_file = place.starts_with("--schedule");
  fail("S001", std::string(place), "no schedule is called \"" + std::string(name) + "\"",
       unknown_name_help(name, closest_name(name, names), takes_file));
}

void check_request(const ScheduleEntry& entry, const ScheduleRequest& request) {
  check_schedule_sizes(entry, request);
  check_schedule_params(entry, request);
}

Schedule build_schedule(std::string_view name, const ScheduleRequest& request) {
  const ScheduleEntry& entry = known_schedule(name, "--schedule");
  check_request(entry, request);
  return entry.build(request);
}

std::string chunks_flag(const std::string& schedule, int chunks) {
  const ScheduleEntry* const entry = find_schedule(schedule);
  const bool usual = entry == nullptr || entry->default_chunks == 1;
  return chunks > 1 || (chunks == 1 && !usual) ? " -v " + std::to_string(chunks) : "";
}

}  // namespace debubble
