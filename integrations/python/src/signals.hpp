#pragma once

// Signals while the extension works. CPython runs their handlers, such as the one of Ctrl-C, in the
// main thread only, and there only if that thread asks for it while it holds the GIL.

#include <pybind11/pybind11.h>

#include <chrono>
#include <cstddef>

namespace bloomset::python {

/// How long work may go on before it looks for signals.
constexpr std::chrono::milliseconds time_between_signals{50};

/// Runs the handlers of signals that have arrived, and raises what they raise. Does nothing in
/// other threads than the main one.
inline void run_signal_handlers() {
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

/// Does that now and then in a loop that keeps the GIL.
class signal_breaks {
 public:
  /// `steps` of a few nanoseconds each.
  void operator()(std::size_t steps = 1) {
    if (steps < left_) {
      left_ -= steps;
      return;
    }
    left_ = steps_between;
    run_signal_handlers();
  }

 private:
  static constexpr std::size_t steps_between = std::size_t{1} << 20;
  std::size_t left_ = steps_between;
};

inline bool is_main_thread() {
  // Without this module no thread was started.
  PyObject* const threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");
  if (threading == nullptr) return true;
  const pybind11::object main = pybind11::handle(threading).attr("main_thread")();
  return pybind11::cast<unsigned long>(main.attr("ident")) == PyThread_get_thread_ident();
}

}  // namespace bloomset::python
