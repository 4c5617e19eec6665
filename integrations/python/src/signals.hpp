#pragma once

// Signals while the extension works. CPython runs their handlers, such as the one of Ctrl-C, in the
// main thread only, and there only if that thread asks for it while it holds the GIL.

#include <pthread.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <cstddef>

#include "without_gil.hpp"

namespace bloomset::python {

/// How long work may go on before it looks for signals.
constexpr std::chrono::milliseconds time_between_signals{50};

/// Runs the handlers of signals that have arrived, and raises what they raise. Does nothing in
/// other threads than the main one.
inline void run_signal_handlers() {
  if (while_python_runs([] { return PyErr_CheckSignals(); }) != 0)
    throw pybind11::error_already_set();
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

/// CPython's main thread, found once. Only Python's code can find it, which must not run within a
/// batch, where it could hand the GIL to another thread.
inline std::atomic<unsigned long> main_thread{0};

/// Called at import. Without the module `threading` no thread was started. After a fork, the thread
/// that forked is the main one.
inline void find_main_thread() {
  main_thread = PyThread_get_thread_ident();
  if (PyObject* const threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading")) {
    const pybind11::object found = pybind11::handle(threading).attr("main_thread")();
    main_thread = pybind11::cast<unsigned long>(found.attr("ident"));
  }
  ::pthread_atfork(nullptr, nullptr, [] { main_thread = PyThread_get_thread_ident(); });
}

inline bool is_main_thread() {
  return main_thread == PyThread_get_thread_ident();
}

}  // namespace bloomset::python
