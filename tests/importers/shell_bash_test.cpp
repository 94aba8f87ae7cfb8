// What scripts do: bash and our reader must agree, call by call and word by word.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "formats/shell/evaluator.hpp"
#include "formats/shell/parser.hpp"
#include "tests/support/test.hpp"

namespace debubble {
namespace {

namespace fs = std::filesystem;

using Calls = std::vector<std::vector<std::string>>;

constexpr const char* kRecorder = R"sh(#!/bin/bash
[[ $1 == -u ]] && shift
printf '%s\0' "$@" $'\x1e' >> "$RECORD"
)sh";

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::vector<std::pair<std::string, std::string>> shell_snippets() {
  std::vector<std::pair<std::string, std::string>> all;
  std::istringstream lines(content_of(DEBUBBLE_SHELL_SNIPPETS));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("### ")) {
      all.emplace_back(line.substr(4), "");
    } else if (!all.empty()) {
      all.back().second += line + "\n";
    }
  }
  return all;
}

Calls calls_in_bash(const std::string& script, const fs::path& folder) {
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "run");
  for (const char* name : {"python", "python3"}) {
    write_text(folder / "bin" / name, kRecorder);
    fs::permissions(folder / "bin" / name, fs::perms::owner_all);
  }
  write_text(folder / "script.sh", script);
  write_text(folder / "record", "");
  const std::string command = "cd " + (folder / "run").string() + " && env -i PATH=" + (folder / "bin").string() +
                              ":/usr/bin:/bin HOME=/h LC_ALL=C RECORD=" + (folder / "record").string() +
                              " timeout 30 bash ../script.sh > /dev/null 2>&1 < /dev/null";
  (void)std::system(command.c_str());
  Calls calls;
  std::vector<std::string> words;
  std::string word;
  for (const char c : content_of(folder / "record")) {
    if (c != '\0') {
      word += c;
    } else if (word == "\x1e") {
      calls.push_back(std::exchange(words, {}));
      word.clear();
    } else {
      words.push_back(std::exchange(word, {}));
    }
  }
  return calls;
}

Calls calls_followed(const std::string& script) {
  shell::Given given;
  given.whole_environment = true;
  given.arguments_given = true;
  given.path = "../script.sh";
  given.folder = "/somewhere/run";
  given.variables["HOME"] = "/h";
  const shell::Evaluation found = shell::evaluate_script(script, given);
  Calls calls;
  for (const shell::Launch& launch : found.launches) {
    calls.push_back({launch.program});
    calls.back().insert(calls.back().end(), launch.arguments.begin(), launch.arguments.end());
    CHECK(launch.conditions.empty());
  }
  return calls;
}

}  // namespace

TEST_CASE("a script's words are those of bash") {
  const fs::path root = fs::temp_directory_path() / ("debubble-shell-" + std::to_string(::getpid()));
  std::size_t count = 0;
  for (const auto& snippet : shell_snippets()) {
    const std::string& script = snippet.second;
    CAPTURE(snippet.first);
    const fs::path folder = root / std::to_string(count++);
    const Calls truth = calls_in_bash(script, folder);
    CHECK(!truth.empty());
    Calls ours;
    try {
      ours = calls_followed(script);
    } catch (const shell::SyntaxError& error) {
      CAPTURE(std::string(error.what()));
      CHECK(false);
    }
    const std::size_t most = std::max(truth.size(), ours.size());
    for (std::size_t k = 0; k < most; ++k) {
      const auto joined = [&](const Calls& calls) {
        if (k >= calls.size()) return std::string("(no call)");
        std::string text;
        for (const std::string& word : calls[k]) text += "[" + word + "] ";
        return text;
      };
      CHECK(joined(ours) == joined(truth));
    }
  }
  CHECK(count >= 101);
  fs::remove_all(root);
}

}  // namespace debubble
