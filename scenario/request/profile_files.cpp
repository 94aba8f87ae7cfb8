#include "scenario/request/profile_files.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "cost_models/sizes/profile_at.hpp"
#include "cost_models/transformer/profile_waves.hpp"
#include "formats/files/installed.hpp"
#include "formats/files/read_file.hpp"
#include "formats/profile/profile_json.hpp"
#include "scenario/request/checks.hpp"
#include "sim/core/error.hpp"

namespace debubble {
namespace {

namespace fs = std::filesystem;

// The files of a folder in the order of their names; a file is itself.
std::vector<std::string> files_at(const std::string& given) {
  const std::string path = path_or_shipped(given);
  std::error_code error;
  if (!fs::is_directory(path, error)) return {given};
  std::set<std::string> files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json" && !entry->is_directory()) files.insert(entry->path().string());
  }
  if (error) {
    throw InputError(
        Diagnostic{"C005", "--profile", "cannot read the folder " + path, "check the path and its permissions"});
  }
  if (files.empty()) {
    throw InputError(
        Diagnostic{"P016", "--profile", "the folder " + path + " holds no .json files",
                   "`debubble profile --sweep microbatch=1,2,4 -o " + path + "` writes one for each size"});
  }
  return {files.begin(), files.end()};
}

std::vector<NamedProfile> read_all(const std::vector<std::string>& paths) {
  std::vector<NamedProfile> profiles;
  Checks checks;
  for (const std::string& path : paths) {
    checks.run([&] {
      for (const std::string& file : files_at(path)) {
        checks.run([&] {
          profiles.push_back({file, as_of_equal_ranks(read_profile(read_file(file, "--profile"), file))});
        });
      }
    });
  }
  checks.finish();
  return profiles;
}

std::string number_list(const std::set<std::int64_t>& numbers) {
  std::string text;
  std::size_t left = numbers.size();
  for (const std::int64_t number : numbers) {
    text += std::to_string(number) + (--left == 0 ? "" : left == 1 ? " and " : ", ");
  }
  return text;
}

// One of the two sizes: as the flag says, or what all files agree on.
class SizeChoice {
 public:
  SizeChoice(const char* flag, std::optional<std::int64_t> given, const char* what, std::vector<Diagnostic>& found)
      : flag_(flag), given_(given), what_(what), found_(found) {}

  void add(std::int64_t measured) { measured_.insert(measured); }

  [[nodiscard]] std::int64_t choose() {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (given_ && (*given_ < 1 || *given_ > kMost)) {
      complain("L025", std::string("from 1 to 2147483647 ") + what_ + " are possible; got " + std::to_string(*given_),
               std::string("measured: ") + number_list(measured_));
    } else if (given_) {
      return *given_;
    } else if (measured_.size() > 1) {
      complain("L024", std::string("which size is meant? The profiles are of ") + number_list(measured_) + " " + what_,
               std::string("add ") + flag_ + " " + std::to_string(*measured_.begin()) + ", or any other number");
    }
    return *measured_.begin();
  }

  void complain(const char* code, std::string message, std::string help) {
    found_.push_back({code, flag_, std::move(message), std::move(help)});
  }

 private:
  const char* flag_;
  std::optional<std::int64_t> given_;
  const char* what_;
  std::vector<Diagnostic>& found_;
  std::set<std::int64_t> measured_;
};

RunSize chosen_size(const std::vector<NamedProfile>& profiles, const TransformerFlags& flags) {
  std::vector<Diagnostic> found;
  SizeChoice microbatch(flags.microbatch_flag, flags.microbatch_size, "samples", found);
  SizeChoice sequence(flags.sequence_flag, flags.sequence, "tokens", found);
  bool no_microbatch = false;
  bool no_sequence = false;
  for (const NamedProfile& one : profiles) {
    microbatch.add(one.profile.microbatch_size);
    sequence.add(one.profile.sequence_length);
    no_microbatch = no_microbatch || one.profile.microbatch_size < 1;
    no_sequence = no_sequence || one.profile.sequence_length < 1;
  }
  if (flags.microbatch_size && no_microbatch) {
    microbatch.complain("L020", "the profile's \"microbatch_size\" is null: no other size follows from it",
                        "write the number of samples into " + profiles.front().name);
  }
  if (flags.sequence && no_sequence) {
    sequence.complain("L025",
                      "the profile's \"sequence_length\" is null: the model has no sequences, or their length "
                      "is not known",
                      std::string("leave ") + flags.sequence_flag + " out, or write the number of tokens into " +
                          profiles.front().name);
  }
  if (!found.empty()) throw InputError(std::move(found));
  const RunSize size{microbatch.choose(), sequence.choose()};
  if (!found.empty()) throw InputError(std::move(found));
  return size;
}

void explain_sizes(const TransformerFlags& flags, const RunSize& size, std::vector<Assumption>& assumptions) {
  if (flags.microbatch_size) {
    assumptions.push_back({std::string(assumption_key::kMicrobatch),
                           std::to_string(size.microbatch) + (size.microbatch == 1 ? " sample" : " samples"),
                           Source::kGiven});
  }
  if (flags.sequence) {
    assumptions.push_back({"sample", std::to_string(size.sequence) + " tokens", Source::kGiven});
  }
}

}  // namespace

ChosenProfile read_profiles(const std::vector<std::string>& paths, const TransformerFlags& flags) {
  ProfileFamily family{read_all(paths), {}};
  const std::vector<NamedProfile>& profiles = family.profiles;
  const bool asked = flags.microbatch_size || flags.sequence;
  if (profiles.size() == 1 && !asked) return {profiles.front().profile, {}, nullptr};
  check_one_model(profiles);
  const RunSize size = chosen_size(profiles, flags);
  const Hardware* hardware = hardware_of_device(profiles.front().profile.origin.device);
  if (hardware != nullptr) family.waves = profile_waves(profiles.front().profile, *hardware);
  try {
    ChosenProfile chosen{profile_at(profiles, size, family.waves), {}, nullptr};
    explain_sizes(flags, size, chosen.size);
    if (hardware != nullptr && chosen.profile.derived && chosen.profile.derived->by_waves) {
      chosen.size.push_back({"waves", "of the tiles and multiprocessors of " + hardware->name, Source::kModelled});
    }
    if (profiles.size() > 1) chosen.family = std::make_shared<const ProfileFamily>(std::move(family));
    return chosen;
  } catch (const InputError& error) {
    std::vector<Diagnostic> problems = error.diagnostics();
    for (Diagnostic& problem : problems) {
      if (problem.place.empty()) problem.place = "--profile";
    }
    throw InputError(std::move(problems));
  }
}

}  // namespace debubble
