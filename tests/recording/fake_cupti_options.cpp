#include "tests/recording/fake_cupti_options.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace debubble::testing {

namespace {

void set_flag(FakeCuptiOptions& options, const std::string& word) {
  if (word == "cut") {
    options.cut = true;
  } else if (word == "lose-work") {
    options.lose_work = true;
  } else if (word == "hoard") {
    options.hoard = true;
  } else if (word == "late") {
    options.late = true;
  } else if (word == "ends-at-exit") {
    options.ends_at_exit = true;
  } else if (word == "no-dump") {
    options.no_dump = true;
  } else if (word == "forced-last") {
    options.forced_last = true;
  } else if (word == "gpu-first") {
    options.gpu_first = true;
  } else if (word == "devices-missed") {
    options.devices_missed = true;
  } else if (word == "shifted") {
    options.shifted = true;
  } else if (word == "spill") {
    options.spill = true;
  } else {
    std::fprintf(stderr, "FAKE_CUPTI: unknown word %s\n", word.c_str());
    std::abort();
  }
}

void set_value(FakeCuptiOptions& options, const std::string& key, const std::string& value) {
  const std::uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
  if (key == "version") {
    options.version = static_cast<std::uint32_t>(number);
  } else if (key == "subscribe") {
    options.subscribe = static_cast<std::int32_t>(number);
    if (const std::size_t colon = value.find(':'); colon != std::string::npos) {
      options.other_tool = value.substr(colon + 1);
    }
  } else if (key == "refuse") {
    options.refuse.insert(static_cast<std::uint32_t>(number));
  } else if (key == "enable") {
    options.enable = static_cast<std::int32_t>(number);
  } else if (key == "drop") {
    options.drop = number;
  } else if (key == "timeless") {
    options.timeless = number;
  } else if (key == "impossible") {
    options.impossible = number;
  } else if (key == "foreign") {
    options.foreign = number;
  } else if (key == "buffer") {
    options.buffer = number;
  } else {
    set_flag(options, key + "=");
  }
}

}  // namespace

FakeCuptiOptions read_fake_cupti_options() {
  FakeCuptiOptions options;
  const char* const text = std::getenv("FAKE_CUPTI");
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      set_flag(options, word);
    } else {
      set_value(options, word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return options;
}

}  // namespace debubble::testing
