#include "profiler/cupti/process_facts.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>

namespace debubble {

namespace {

std::string command_of_process() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string command{std::istreambuf_iterator<char>(in), {}};
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

}  // namespace

std::string rank_of_process() {
  for (const char* const variable : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* const text = std::getenv(variable);
    if (text == nullptr || *text == '\0') continue;
    std::string rank(text);
    const bool digits = std::all_of(rank.begin(), rank.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits && rank.size() <= 9) return rank;
  }
  return "";
}

std::string record_file_name() {
  const std::string rank = rank_of_process();
  return (rank.empty() ? std::string() : "rank" + rank + "-") + "pid" + std::to_string(getpid()) + ".dbrec";
}

std::vector<std::pair<std::string, std::string>> process_facts() {
  std::vector<std::pair<std::string, std::string>> facts = {{"pid", std::to_string(getpid())},
                                                            {"command", command_of_process()}};
  if (const std::string rank = rank_of_process(); !rank.empty()) facts.emplace_back("rank", rank);
  facts.emplace_back("date", date_now());
  return facts;
}

}  // namespace debubble
