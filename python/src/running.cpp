// SPDX-License-Identifier: BSD-3-Clause
#include "running.hpp"

#include <chrono>

#include <pthread.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

/// A forked process has its own counter, because the other threads do not exist in it.
std::atomic<int>* running = new std::atomic<int>(0);
/// The thread that ends the interpreter; empty until then.
std::atomic<std::thread::id> exiting{};

void end_calls() {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::seconds patience{5};
    constexpr std::chrono::milliseconds between_checks{2};
    exiting = std::this_thread::get_id();
    const py::gil_scoped_release released;
    const auto until = Clock::now() + patience;
    while (*running > 0 && Clock::now() < until)
        std::this_thread::sleep_for(between_checks);
}

} // namespace

RunningCall::RunningCall() : count_(running) {
    check();
    ++*count_;
}

RunningCall::~RunningCall() {
    --*count_;
}

bool RunningCall::should_end() const {
    const std::thread::id thread = exiting;
    return thread != std::thread::id() && thread != caller_;
}

void RunningCall::check() const {
    if (!should_end())
        return;
    PyErr_SetNone(PyExc_SystemExit);
    throw py::error_already_set();
}

void end_calls_at_exit() {
    pthread_atfork(nullptr, nullptr, [] { running = new std::atomic<int>(0); });
    py::module_::import("atexit").attr("register")(py::cpp_function(&end_calls));
}

} // namespace sextant::python
