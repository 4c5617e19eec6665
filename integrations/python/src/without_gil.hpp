#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <cxxabi.h>

namespace bloomset::python {

/// Gives the interpreter's lock (GIL) back for as long as it lives.
///
/// When the program ends, CPython before 3.14 ends a thread that wants the GIL again by unwinding
/// its stack, which pybind11's own guard turns into std::terminate: a daemon thread within a batch
/// aborted the program. Here such a thread waits for the end, as it does in CPython 3.14.
class without_gil {
 public:
  without_gil() : state_(PyEval_SaveThread()) {}
  without_gil(const without_gil&) = delete;
  without_gil& operator=(const without_gil&) = delete;
  ~without_gil() { take_gil(); }

  /// Runs the handlers of signals that have arrived, with the GIL. False if one raised an
  /// exception, which is then set.
  bool run_signal_handlers() noexcept {
    take_gil();
    const bool ran = PyErr_CheckSignals() == 0;
    state_ = PyEval_SaveThread();
    return ran;
  }

 private:
  void take_gil() noexcept {
#if defined(__GLIBCXX__)
    try {
      PyEval_RestoreThread(state_);
    } catch (const abi::__forced_unwind&) {
      for (;;) ::pause();
    }
#else
    PyEval_RestoreThread(state_);
#endif
  }

  PyThreadState* state_;
};

}  // namespace bloomset::python
