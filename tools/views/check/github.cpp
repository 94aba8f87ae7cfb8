#include "tools/views/check/github.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "sim/core/error.hpp"
#include "tools/views/check/cases.hpp"
#include "tools/views/escape.hpp"

namespace debubble {
namespace {

namespace fs = std::filesystem;

// GitHub marks files by their path in the repository.
std::string path_in(const std::string& workspace, const std::string& file) {
  if (workspace.empty()) return file;
  std::error_code error;
  const fs::path absolute = fs::weakly_canonical(fs::absolute(file, error), error);
  const fs::path relative = absolute.lexically_relative(fs::weakly_canonical(workspace, error));
  if (error || relative.empty() || *relative.begin() == "..") return file;
  return relative.string();
}

const char* level(Outcome outcome) {
  if (outcome == Outcome::kSkipped) return "notice";
  return outcome == Outcome::kWarn ? "warning" : "error";
}

// All that is said about one scenario; the worst of it gives the level.
struct Annotation {
  const CheckCase* first = nullptr;
  Outcome worst = Outcome::kPass;
  std::string message;
};

std::vector<Annotation> group(const std::vector<CheckCase>& cases) {
  std::vector<Annotation> annotations;
  for (const CheckCase& one : cases) {
    if (one.outcome == Outcome::kPass) continue;
    const bool same = !annotations.empty() && !one.scenario.empty() && annotations.back().first->file == one.file &&
                      annotations.back().first->scenario == one.scenario;
    if (!same) annotations.push_back({&one, Outcome::kPass, ""});
    Annotation& annotation = annotations.back();
    if (one.outcome > annotation.worst) annotation.worst = one.outcome;
    annotation.message += (annotation.message.empty() ? "" : "\n") + one.message;
  }
  return annotations;
}

}  // namespace

std::string github_annotations(const CheckResult& result, const std::string& workspace) {
  const std::vector<CheckCase> cases = cases_of(result);
  std::string text;
  for (const Annotation& annotation : group(cases)) {
    const CheckCase& one = *annotation.first;
    const std::string title = "debubble: " + (one.scenario.empty() ? one.suite : one.scenario);
    text += fmt::format("::{} file={},line={},title={}::{}\n", level(annotation.worst),
                        github_property(path_in(workspace, one.file)), one.line, github_property(title),
                        github_message(annotation.message));
  }
  return text;
}

void append_step_summary(const std::string& file, const std::string& markdown) {
  const auto fail = [&](int error) {
    const char* reason = strerrordesc_np(error);
    throw InputError(Diagnostic{"C051", file,
                                std::string("cannot add to the job's summary: ") + (reason != nullptr ? reason : "?"),
                                "GITHUB_STEP_SUMMARY names this file; leave out --github elsewhere"});
  };
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(errno);
  const ssize_t written = ::write(descriptor, markdown.data(), markdown.size());
  const int error = written < 0 ? errno : ENOSPC;
  ::close(descriptor);
  if (written != static_cast<ssize_t>(markdown.size())) fail(error);
}

}  // namespace debubble
