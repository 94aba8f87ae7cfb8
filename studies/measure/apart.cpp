#include "studies/measure/apart.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/core/exit_status.hpp"
#include "studies/measure/program.hpp"

namespace debubble {

namespace {

// Diagnostics travel as their fields, each ended by a zero byte.
void send(int descriptor, const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& one : diagnostics) {
    for (const std::string* field : {&one.code, &one.place, &one.message, &one.help}) text += *field + '\0';
  }
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + sent, text.size() - sent);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

std::string receive(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(descriptor, buffer.data(), buffer.size())) != 0;) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<Diagnostic> diagnostics_in(const std::string& text) {
  std::vector<Diagnostic> found;
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    fields.push_back(text.substr(begin, end - begin));
    begin = end + 1;
    if (fields.size() == 4) {
      found.push_back({fields[0], fields[1], fields[2], fields[3]});
      fields.clear();
    }
  }
  return found;
}

[[noreturn]] void work_as_child(const std::function<void()>& work, int descriptor) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody would wait for the result any more
  int status = kExitOk;
  try {
    work();
  } catch (const UnavailableError& error) {
    send(descriptor, {error.diagnostic()});
    status = kExitUnavailable;
  } catch (const InputError& error) {
    send(descriptor, error.diagnostics());
    status = kExitUsage;
  } catch (const std::exception& error) {
    send(descriptor, {{"", "", error.what(), ""}});
    status = kExitInternal;
  }
  std::fflush(nullptr);
  ::_exit(status);  // the parent's exit handlers and buffers are not ours
}

}  // namespace

std::optional<Diagnostic> run_apart(const std::function<void()>& work) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no further process can be started");
  if (child == 0) {
    ::close(ends[0]);
    work_as_child(work, ends[1]);
  }
  ::close(ends[1]);
  std::vector<Diagnostic> problems = diagnostics_in(receive(ends[0]));
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const ProgramEnd end{0, WTERMSIG(status), false};
    return Diagnostic{"U043", "", "the measurement " + to_string(end),
                      "the driver or the GPU failed; `debubble doctor --gpu` looks closer"};
  }
  const int code = WEXITSTATUS(status);
  if (code == kExitUnavailable && !problems.empty()) return problems.front();
  if (code == kExitUsage && !problems.empty()) throw InputError(std::move(problems));
  if (code != kExitOk) throw std::runtime_error(problems.empty() ? "the measurement failed" : problems.front().message);
  return std::nullopt;
}

}  // namespace debubble
