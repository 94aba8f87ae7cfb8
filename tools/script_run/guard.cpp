#include "tools/script_run/guard.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "formats/text/printable.hpp"
#include "sim/core/error.hpp"
#include "tools/script_run/guard_process.hpp"
#include "tools/script_run/stand_ins.hpp"

namespace debubble {
namespace {

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
