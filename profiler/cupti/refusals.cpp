#include "profiler/cupti/refusals.hpp"

#include "profiler/cupti/library_search.hpp"
#include "profiler/cupti/release.hpp"

namespace debubble {

namespace {

std::string words_of(const CuptiTable& cupti, cupti_abi::Result result, const std::string& step) {
  return "CUPTI refused " + step + ": " + describe(cupti, result);
}

std::string name_of(const CuptiTable& cupti) {
  const std::string release = release_text(cuda_of_cupti(cupti.version));
  return release.empty() ? "CUPTI " + std::to_string(cupti.version) : "CUPTI of CUDA " + release;
}

// NOT_INITIALIZED: "CUPTI is unable to initialize its connection to the CUDA driver" (cupti_result.h of 13.0).
UnavailableError no_connection(const CuptiTable& cupti, cupti_abi::Result result, const std::string& step) {
  const int driver = cuda_of_driver();
  const int release = cuda_of_cupti(cupti.version);
  const std::string refusal = words_of(cupti, result, step);
  if (driver == 0) return no_driver(refusal);
  if (driver >= release) {
    return UnavailableError({"U005", cupti.path,
                             refusal + ": it cannot connect to the driver, although that supports CUDA " +
                                 release_text(driver) + " and this is the " + name_of(cupti),
                             "does nvidia-smi work here? set DEBUBBLE_CUPTI to another libcupti.so, of the program's "
                             "own CUDA"});
  }
  return UnavailableError(
      {"U025", cupti.path,
       "the driver supports CUDA " + release_text(driver) + " only, older than the " + name_of(cupti) +
           ", which cannot connect to it; " + refusal,
       "update the driver, or set DEBUBBLE_CUPTI to a libcupti.so of CUDA " + release_text(driver)});
}

// NOT_COMPATIBLE: "the current operation is not compatible with the current state of the object" (cupti_result.h of
// 13.0). From 13.3 on, a process whose clients make calls of their own subscriber (_v2) gets it for the global calls.
UnavailableError not_compatible(const CuptiTable& cupti, cupti_abi::Result result, const std::string& step) {
  const std::string refusal = words_of(cupti, result, step);
  if (!cupti.has_scoped_calls) {
    return UnavailableError({"U005", cupti.path,
                             refusal + ": what other tools of this process have enabled excludes it",
                             "take other profilers out of the program; debubble doctor names those it sees"});
  }
  return UnavailableError(
      {"U003", cupti.path,
       "another client of CUPTI in this process makes calls of its own subscriber (_v2), which do not mix with the "
       "global calls that debubble makes; " +
           refusal,
       "end that tool for this run (torch.profiler, Nsight Systems, unset KINETO_USE_DAEMON), or record with "
       "torch.profiler and use debubble import --from kineto"});
}

}  // namespace

UnavailableError no_driver(const std::string& reason) {
  return UnavailableError({"U020", "", "there is no NVIDIA driver: " + reason,
                           "run on a machine with an NVIDIA GPU and its driver (nvidia-smi tells), or in a container "
                           "started with --gpus all"});
}

// From 13.3 on the rule is one of the global calls only.
UnavailableError other_profiler(const CuptiTable& cupti, const std::string& name) {
  return UnavailableError(
      {"U003", "",
       "another profiler is attached to this process" + (name.empty() ? std::string() : ": " + name) +
           (cupti.has_scoped_calls ? " (CUPTI allows one that makes global calls)" : " (CUPTI allows one)"),
       "end Nsight Systems, Nsight Compute, cuda-gdb or torch.profiler for this run, or unset "
       "KINETO_USE_DAEMON; a torch.profiler trace can be read with debubble import --from kineto"});
}

UnavailableError refused_step(const CuptiTable& cupti, cupti_abi::Result result, const std::string& step) {
  if (result == cupti_abi::kNotInitialized) return no_connection(cupti, result, step);
  if (result == cupti_abi::kNotCompatible) return not_compatible(cupti, result, step);
  return UnavailableError(
      {"U005", cupti.path, words_of(cupti, result, step),
       "debubble doctor tells what this machine allows; tracing needs no privilege, but MIG, WSL and "
       "confidential computing may forbid it"});
}

UnavailableError senseless_records(const CuptiTable& cupti, const std::string& what) {
  return UnavailableError({"U011", cupti.path,
                           "the records of this CUPTI (" + name_of(cupti) +
                               ", newer than 13.0, the newest that was tested) make no sense: " + what +
                               "; none of them is used",
                           "set DEBUBBLE_CUPTI to a libcupti.so of CUDA 11.6 to 13.0, which is taken even where the "
                           "program has loaded another; or record with torch.profiler and use debubble import --from "
                           "kineto"});
}

}  // namespace debubble
