#include "studies/measure/nothing_timed.hpp"

#include <string>

namespace debubble {

void throw_trouble(const Diagnostic& trouble) {
  if (trouble.code.starts_with('U')) throw UnavailableError(trouble);
  throw InputError(trouble);
}

void throw_what_was_said(const Recordings& recordings, const std::optional<int>& rank) {
  if (!recordings.troubles.empty()) throw_trouble(recordings.troubles.front());
  if (rank && recordings.records.empty()) {
    fail("C012", "--rank", "no process of rank " + std::to_string(*rank) + " was recorded",
         "ranks count from 0; leave --rank out to see which there are");
  }
}

void nothing_timed(const Recordings& recordings, const std::optional<int>& rank) {
  throw_what_was_said(recordings, rank);
  if (recordings.sizes.empty() && recordings.records.empty()) {
    fail("A002", "--", "no layer was seen: debubble_hooks did not run in the program, or found no script to run",
         "on the CPU it is what times the layers: debubble profile --device cpu -- python3 -m debubble_hooks train.py");
  }
  fail("A003", "--", "no training step was timed",
       "a step is a forward of the model with gradients, a backward and optimizer.step(), on the CPU and in the "
       "process that debubble_hooks started");
}

}  // namespace debubble
