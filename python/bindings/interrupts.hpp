// Control-C in a call: noticed when the next part of the work begins.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <string>
#include <thread>

#include "scenario/job/progress.hpp"

namespace debubble::python {

// Python has its exception ready.
class Interrupted : public std::exception {};

// Looks for signals whenever work is announced, in the thread that called: Python's handlers run in the main one only.
// For work that runs without the interpreter's lock.
class SignalProgress final : public Progress {
 public:
  void phase(std::string /*name*/) override {
    if (std::this_thread::get_id() != caller_) return;
    const pybind11::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw Interrupted();
  }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
};

}  // namespace debubble::python
