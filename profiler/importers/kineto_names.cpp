#include "profiler/importers/kineto_names.hpp"

#include <algorithm>
#include <array>

#include "sim/core/words.hpp"

namespace debubble {
namespace {

struct CategoryName {
  std::string_view name;  // in lower case
  KinetoCategory category;
};

constexpr std::array kCategories{
    CategoryName{"cpu_op", KinetoCategory::kOp},
    CategoryName{"operator", KinetoCategory::kOp},
    CategoryName{"user_annotation", KinetoCategory::kAnnotation},
    CategoryName{"python_function", KinetoCategory::kPython},
    CategoryName{"cuda_runtime", KinetoCategory::kLaunch},
    CategoryName{"cuda_driver", KinetoCategory::kLaunch},
    CategoryName{"runtime", KinetoCategory::kLaunch},
    CategoryName{"kernel", KinetoCategory::kKernel},
    CategoryName{"gpu_memcpy", KinetoCategory::kCopy},
    CategoryName{"memcpy", KinetoCategory::kCopy},
    CategoryName{"gpu_memset", KinetoCategory::kSet},
    CategoryName{"memset", KinetoCategory::kSet},
    CategoryName{"overhead", KinetoCategory::kOverhead},
    CategoryName{"fwdbwd", KinetoCategory::kArrow},
    CategoryName{"cpu_instant_event", KinetoCategory::kMemory},
    CategoryName{"gpu_user_annotation", KinetoCategory::kIgnored},
    CategoryName{"ac2g", KinetoCategory::kIgnored},
    CategoryName{"async", KinetoCategory::kIgnored},
    CategoryName{"cuda_sync", KinetoCategory::kIgnored},
    CategoryName{"cuda_event", KinetoCategory::kIgnored},
    CategoryName{"trace", KinetoCategory::kIgnored},
};

struct CopyName {
  std::string_view direction;
  std::string_view name;
  GpuWork work;
};
constexpr std::array kCopies{
    CopyName{"HtoD", "copy host to device", GpuWork::kCopy},   CopyName{"DtoH", "copy device to host", GpuWork::kCopy},
    CopyName{"DtoD", "copy device to device", GpuWork::kCopy}, CopyName{"HtoH", "copy host to host", GpuWork::kCopy},
    CopyName{"PtoP", "copy peer to peer", GpuWork::kPeerCopy},
};

struct OverheadName {
  std::string_view part;
  OverheadKind kind;
};
// Order matters: "Runtime Triggered Module Loading", "Lazy Function Loading".
constexpr std::array kOverheads{
    OverheadName{"Lazy", OverheadKind::kLazyLoading},         OverheadName{"Module", OverheadKind::kModuleLoading},
    OverheadName{"Compil", OverheadKind::kCompiler},          OverheadName{"Buffer Flush", OverheadKind::kBufferFlush},
    OverheadName{"Instrumentation", OverheadKind::kProfiler}, OverheadName{"Activity Buffer", OverheadKind::kProfiler},
};

}  // namespace

KinetoCategory category_of(std::string_view text) {
  for (const CategoryName& known : kCategories) {
    if (known.name.size() == text.size() &&
        std::equal(text.begin(), text.end(), known.name.begin(), [](char a, char b) { return lower_case(a) == b; })) {
      return known.category;
    }
  }
  return KinetoCategory::kNone;
}

KinetoCopy copy_named(std::string_view name) {
  for (const CopyName& known : kCopies) {
    if (contains_text(name, known.direction)) return {known.name, known.work};
  }
  return {name, GpuWork::kCopy};
}

OverheadKind overhead_named(std::string_view name) {
  for (const OverheadName& known : kOverheads) {
    if (contains_text(name, known.part)) return known.kind;
  }
  return OverheadKind::kOther;
}

}  // namespace debubble
