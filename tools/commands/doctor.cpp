#include "tools/commands/doctor.hpp"

#include <dlfcn.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tools/exit_status.hpp"
#include "tools/output.hpp"
#include "tools/version.hpp"
#include "tools/views/ansi.hpp"
#include "tools/views/table.hpp"

namespace debubble {

namespace {

constexpr std::string_view kFormats = "text|json";

struct Check {
  std::string what;
  std::string status;  // "ok" or "missing"
  std::string detail;  // the fact, or what to do about it
};

// The first of `names` that the loader finds, or "". It stays loaded: NVIDIA's libraries leak what they got at their
// start when they are unloaded.
std::string loadable(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (void* library = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE)) {
      ::dlclose(library);
      return name;
    }
  }
  return {};
}

Check driver_check() {
  const std::string library = loadable({"libcuda.so.1"});
  if (library.empty()) return {"CUDA driver", "missing", "only measuring needs one: install the NVIDIA driver"};
  using CuInit = int (*)(unsigned);
  using CuDeviceGetCount = int (*)(int*);
  void* handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  const auto init = reinterpret_cast<CuInit>(::dlsym(handle, "cuInit"));
  const auto count = reinterpret_cast<CuDeviceGetCount>(::dlsym(handle, "cuDeviceGetCount"));
  int devices = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0) {
    return {"CUDA driver", "missing", library + " is there but finds no GPU it can use"};
  }
  return {"CUDA driver", "ok", library + ", " + std::to_string(devices) + " GPUs"};
}

Check cupti_check() {
  const std::string library =
      loadable({"libcupti.so", "libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so",
                "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so"});
  if (!library.empty()) return {"CUPTI", "ok", library};
  return {"CUPTI", "missing", "only measuring needs it: libcupti of the CUDA toolkit"};
}

std::vector<Check> run_checks() {
  const std::string toolkit(kCudaToolkitAtBuild);
  return {
      {"simulation", "ok", "needs no GPU, no network and no other program"},
      {"compressed traces", "ok", std::string("zlib ") + ::zlibVersion()},
      {"processors", "ok", std::to_string(std::thread::hardware_concurrency())},
      {"CUDA when built", toolkit.empty() ? "missing" : "ok",
       toolkit.empty() ? "none was found; none is needed" : toolkit},
      driver_check(),
      cupti_check(),
  };
}

class Doctor : public Command {
 public:
  void add_flags(CLI::App& verb) override { add_output_flags(verb, output_, kFormats); }

  int run(const Invocation&) override {
    Output output(output_, kFormats);
    const std::vector<Check> checks = run_checks();
    output.write(output.format() == Format::kJson ? as_json(checks) : as_text(checks, output.style()));
    output.commit();
    return kExitOk;
  }

 private:
  static std::string as_text(const std::vector<Check>& checks, const ViewStyle& style) {
    Table table({{"", Table::Side::kLeft}, {"", Table::Side::kLeft}, {"", Table::Side::kLeft}});
    for (const Check& check : checks) table.add_row({check.what, check.status, check.detail});
    return "debubble " + std::string(kVersion) + "\n\n" + table.text(static_cast<std::size_t>(style.width));
  }

  static std::string as_json(const std::vector<Check>& checks) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Check& check : checks) {
      list.push_back({{"what", check.what}, {"status", check.status}, {"detail", check.detail}});
    }
    return nlohmann::ordered_json{{"schema_version", 1}, {"version", std::string(kVersion)}, {"checks", list}}.dump(2) +
           "\n";
  }

  OutputFlags output_;
};

}  // namespace

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace debubble
