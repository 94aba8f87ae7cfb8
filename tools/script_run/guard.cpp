#include "tools/script_run/guard.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/shell/launcher_words.hpp"
#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"
#include "tools/script_run/guard_process.hpp"

namespace debubble {
namespace {

// What a guarded run has in place of programs: harmless tools, and stand-ins that record how they are started and do
// nothing else. Where the guard keeps these, and what they write:
constexpr std::string_view kGuardFolder = "/run/debubble";
constexpr std::string_view kRecordFolder = "/run/debubble/records";

constexpr std::array<std::string_view, 44> kHarmlessTools{
    "cat",     "tee",   "basename", "dirname", "realpath", "readlink", "seq",   "wc",     "expr",  "bc",    "grep",
    "egrep",   "mkdir", "touch",    "rm",      "cp",       "mv",       "chmod", "ln",     "head",  "tail",  "tr",
    "cut",     "sed",   "sort",     "uniq",    "awk",      "paste",    "tac",   "rev",    "xargs", "env",   "nohup",
    "timeout", "nice",  "setsid",   "stdbuf",  "mktemp",   "ls",       "find",  "printf", "which", "rmdir", "shuf"};

// Beside the launchers that the reading knows: what runs a program, and what hands a script to other machines.
constexpr std::array<std::string_view, 13> kRecordedBeside{
    "python",     "python2",    "python3", "python3.8", "python3.9", "python3.10", "python3.11",
    "python3.12", "python3.13", "sbatch",  "ssh",       "pdsh",      "clush"};

constexpr std::array<std::string_view, 3> kIdlePrograms{"sleep", "clear", "sync"};

// Where a program prints what nobody here knows, a word stands for it: nothing at all would let an option of a launcher
// take the next one for its value.
// One file for each start: program, folder, count and arguments, count and (path, text) of the small files that it is
// given and that a launcher or DeepSpeed reads, then the environment.
constexpr const char* kRecording = R"bash(#!/usr/bin/bash -p
exec 2>/dev/null
paths=()
for word in "$@"; do
  path=${word#--deepspeed_config=}
  case $path in
    *.json | *.sh | *.slurm | *.sbatch)
      [ -f "$path" ] && [ ${#paths[@]} -lt 8 ] && [ "$(wc -c <"$path")" -le 100000 ] && paths+=("$path") ;;
  esac
done
name=/run/debubble/records/${EPOCHREALTIME//[!0-9]/}.$$
{
  printf '%s\0' "${0##*/}" "$PWD" $# "$@" ${#paths[@]}
  for path in "${paths[@]}"; do
    printf '%s\0' "$path" "$(<"$path")"
  done
  cat "/proc/$$/environ"
} >"$name.part" && mv "$name.part" "$name.start"
case "${0##*/} ${1-}" in
  python*' -'[cV]* | python*' --version' | python*' -' | python*' ') echo "UNKNOWN_OUTPUT_OF_${0##*/}" ;;
esac
exit 0
)bash";

constexpr const char* kMissing =
    "() { printf '%s\\0' '?' \"$PWD\" 2 \"$1\" \"${BASH_LINENO[0]}\" 0 "
    ">\"/run/debubble/records/${EPOCHREALTIME//[!0-9]/}.$BASHPID.start\"; "
    "printf 'bash: %s: command not found\\n' \"$1\" >&2; printf 'UNKNOWN_OUTPUT_OF_%s\\n' \"$1\"; return 127; }";

// Limits first, for all that follows. What the script leaves in the background gets a second to start something, and
// nothing of it runs while the records are handed on.
constexpr const char* kBehindLimits = R"bash(
(exec 9>&-; exec env "BASH_FUNC_command_not_found_handle%%=$missing" bash "$@")
status=$?
for ((turn = 0; turn < 20; ++turn)); do
  processes=(/proc/[0-9]*)
  [ ${#processes[@]} -le 2 ] && break
  /run/debubble/pause 0.05
done
kill -KILL -1 2>/dev/null
printf 'end\0%s\0' "$status" >&9
for name in /run/debubble/records/*.start; do
  [ -f "$name" ] && [ ! -L "$name" ] || continue
  printf '%s\0' "$(wc -c <"$name")" >&9
  cat "$name" >&9
done
)bash";

// Tools of the machine that only read and write what they are given.
std::span<const std::string_view> harmless_tools() { return kHarmlessTools; }

// Launchers and interpreters that are recorded instead.
std::vector<std::string_view> recorded_programs() {
  std::vector<std::string_view> names(kRecordedBeside.begin(), kRecordedBeside.end());
  for (const std::string_view launcher : shell::launcher_names()) {
    const bool harmless = std::find(kHarmlessTools.begin(), kHarmlessTools.end(), launcher) != kHarmlessTools.end();
    if (!harmless && launcher != "time") names.push_back(launcher);  // time is a word of bash
  }
  return names;
}

// Programs that only wait or draw: they do nothing and succeed.
std::span<const std::string_view> idle_programs() { return kIdlePrograms; }

// bash scripts. The last one runs `bash script arguments` of its own arguments, sets limits, and hands on over
// descriptor 9 what was recorded. `turn`: 0 or 1; what a script cannot count on (date, process ids) differs between
// two.
std::string recording_program() { return kRecording; }

// bash's function for what PATH does not have
std::string missing_handler() { return kMissing; }

std::string idle_program() { return "#!/usr/bin/bash -p\nexit 0\n"; }

std::string date_program(int turn) {
  const std::string now = turn == 0 ? "@1000000000" : "@1814401234";
  return "#!/usr/bin/bash -p\nexec /run/debubble/calendar -d " + now + " \"$@\"\n";
}

std::string starting_program(int turn) {
  // Scripts raise the number of open files, and end where they cannot.
  return "printf 'begin\\0' >&9\nulimit -Hn 65536 2>/dev/null; ulimit -Sn 256; ulimit -c 0 -u 48 -v 131072 -t 10 -f "
         "16384 || exit 125\n"
         "for ((k = 0; k < " +
         std::to_string(1 + turn * 7) + "; ++k)); do (:); done\nmissing=" + "$(</run/debubble/missing)" + kBehindLimits;
}

namespace fs = std::filesystem;

constexpr const char* kWithout = "without --run-script the script is read, and nothing is run";
constexpr const char* kFolderBytes = "16777216";  // bytes of each folder that can be written to
constexpr std::array<std::string_view, 12> kOfTheSystem{"usr",    "bin",  "sbin", "lib", "lib32", "lib64",
                                                        "libx32", "proc", "dev",  "sys", "run",   "etc"};

// Where a system has programs; what PATH says here is nobody's word on what guards us.
std::optional<std::string> program_of_system(std::string_view name) {
  for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    std::error_code error;
    const fs::path found = fs::canonical(folder + std::string(name), error);
    if (!error && fs::is_regular_file(found, error)) return found.string();
  }
  return std::nullopt;
}

// The options of bwrap, and the memory files that they name by descriptor.
class Guard {
 public:
  Guard(const GuardedScript& script, int turn) : script_(script), turn_(turn) {}

  GuardedProcess process(const std::string& bwrap) {
    isolate();
    add_tools();
    add_stand_ins();
    add_script();
    add({"--remount-ro", "/usr", "--remount-ro", "/run", "--chdir", script_.folder});
    add_variables();
    process_.argv = {bwrap, "--args", "", "--", "/usr/bin/bash", "-p", std::string(kGuardFolder) + "/start"};
    process_.argv.push_back(script_.called.starts_with("-") ? "./" + script_.called : script_.called);
    process_.argv.insert(process_.argv.end(), script_.arguments.begin(), script_.arguments.end());
    process_.options_at = 2;
    return std::move(process_);
  }

 private:
  void add(std::initializer_list<std::string> words) {
    process_.options.insert(process_.options.end(), words.begin(), words.end());
  }

  void add_file(const std::string& path, const std::string& text, const char* mode) {
    add({"--perms", mode, "--file"});
    process_.options.push_back(std::to_string(process_.first_file + static_cast<int>(process_.files.size())));
    process_.options.push_back(path);
    process_.files.push_back(text);
  }

  void isolate() {
    add({"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv",
         "--cap-drop", "ALL", "--hostname", "debubble"});
    add({"--size", kFolderBytes, "--tmpfs", "/", "--size", kFolderBytes, "--tmpfs", "/usr", "--size", kFolderBytes,
         "--tmpfs", "/run"});
    add({"--proc", "/proc", "--dev", "/dev", "--size", kFolderBytes, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"});
    add({"--size", kFolderBytes, "--tmpfs", "/tmp", "--size", kFolderBytes, "--tmpfs", std::string(kRecordFolder)});
  }

  void add_tools() {
    for (const char* name : {"lib", "lib32", "lib64", "libx32"}) {
      std::error_code error;
      const std::string in_usr = "/usr/" + std::string(name);
      if (fs::is_directory(in_usr, error)) add({"--ro-bind", in_usr, in_usr});
      const std::string in_root = "/" + std::string(name);
      if (fs::is_symlink(in_root, error)) {
        add({"--symlink", in_usr.substr(1), in_root});
      } else if (fs::is_directory(in_root, error)) {
        add({"--ro-bind", in_root, in_root});
      }
    }
    add({"--symlink", "usr/bin", "/bin", "--symlink", "../bin", "/usr/local/bin"});
    for (const std::string_view tool : harmless_tools()) add_tool(tool, "/usr/bin/" + std::string(tool));
    add_tool("bash", "/usr/bin/bash");
    add_tool("bash", "/usr/bin/sh");  // where a script says sh, what is not there is recorded all the same
    add_tool("sleep", std::string(kGuardFolder) + "/pause");
    add_tool("date", std::string(kGuardFolder) + "/calendar");
  }

  void add_tool(std::string_view name, const std::string& path) {
    if (const auto program = program_of_system(name)) add({"--ro-bind", *program, path});
  }

  void add_stand_ins() {
    const std::string folder(kGuardFolder);
    add_file(folder + "/record", recording_program(), "0555");
    add_file(folder + "/idle", idle_program(), "0555");
    add_file(folder + "/start", starting_program(turn_), "0444");
    add_file(folder + "/missing", missing_handler(), "0444");
    add_file("/usr/bin/date", date_program(turn_), "0555");
    for (const std::string_view name : recorded_programs()) {
      add({"--symlink", folder + "/record", "/usr/bin/" + std::string(name)});
    }
    for (const std::string_view name : idle_programs()) {
      add({"--symlink", folder + "/idle", "/usr/bin/" + std::string(name)});
    }
  }

  void add_script() {
    std::set<std::string> tops{"tmp"};
    const auto make = [&](const std::string& path, bool folder) {
      const std::size_t slash = path.find('/', 1);
      const std::string top = path.substr(1, slash == std::string::npos ? slash : slash - 1);
      if (top.empty()) return;
      for (const std::string_view own : kOfTheSystem) {
        if (top != own) continue;
        fail("P032", printable(script_.called),
             "the guard has the system's own files at /" + top + ", so " + printable(path) + " cannot be there",
             "copy the script elsewhere; --directory says where it is started");
      }
      if (slash == std::string::npos && !folder) return;
      if (tops.insert(top).second) add({"--size", kFolderBytes, "--tmpfs", "/" + top});
      if (tops.size() > 8) {
        fail("P032", printable(script_.called), "its files lie in more than 8 folders of /", "put them side by side");
      }
    };
    make(script_.folder, true);
    for (const auto& [path, text] : script_.files) make(path, false);
    if (script_.folder != "/") add({"--dir", script_.folder});
    for (const auto& [path, text] : script_.files) add_file(path, text, "0755");
  }

  void add_variables() {
    for (const auto& [name, value] : script_.variables) {
      if (name != "PATH") add({"--setenv", name, value});
    }
    add({"--setenv", "PATH", "/usr/bin"});
  }

  const GuardedScript& script_;
  int turn_;
  GuardedProcess process_;
};

}  // namespace

GuardedEnd run_guarded(const GuardedScript& script, int turn) {
  const auto bwrap = program_of_system("bwrap");
  if (!bwrap) {
    fail("P032", "--run-script", "there is no bwrap (bubblewrap) here, and no script is run without its guard",
         std::string("apt-get install bubblewrap; ") + kWithout);
  }
  const ProcessEnd end = run_process(Guard(script, turn).process(*bwrap));
  GuardedEnd result{end.records, end.output, end.stopped, end.status};
  // The guard's first process says so when it begins.
  if (result.records.empty() && result.stopped.empty()) {
    fail("P032", "--run-script",
         "the guard cannot be made: " +
             (end.output.empty() ? "bwrap ended with status " + std::to_string(end.status) : printable(end.output)),
         std::string("bwrap needs user namespaces, which this machine may forbid; ") + kWithout);
  }
  return result;
}

}  // namespace debubble
