#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <cxxabi.h>

#include <utility>

namespace bloomset::python {

/// Runs `work`, which calls functions of Python's C API that may release the GIL: those that run
/// Python's code, where threads take turns, and those that get it back.
///
/// When the program ends, CPython before 3.14 ends a thread that wants the GIL again by unwinding
/// its stack. Destructors of objects would then run without the GIL, and crash, and pybind11's own
/// guard would turn the unwinding into std::terminate. So a daemon thread within a batch would
/// abort the program. Here such a thread waits for the end, as it does in CPython 3.14.
/// Precondition: `work` owns no object.
template <class Work>
auto while_python_runs(Work&& work) {
#if defined(__GLIBCXX__)
  try {
    return std::forward<Work>(work)();
  } catch (const abi::__forced_unwind&) {
    for (;;) ::pause();
  }
#else
  return std::forward<Work>(work)();
#endif
}

/// Gives the GIL back for as long as it lives.
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
    const bool ran = while_python_runs([] { return PyErr_CheckSignals() == 0; });
    state_ = PyEval_SaveThread();
    return ran;
  }

 private:
  void take_gil() noexcept {
    while_python_runs([this] { PyEval_RestoreThread(state_); });
  }

  PyThreadState* state_;
};

}  // namespace bloomset::python
