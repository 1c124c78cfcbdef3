// SPDX-License-Identifier: BSD-3-Clause
#include "call.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/comm/waiting.hpp"
#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi.hpp"
#endif
#include "sextant/core/run_control.hpp"

#include <array>
#include <condition_variable>
#include <exception>
#include <string>
#include <thread>

#include "errors.hpp"
#include "text.hpp"
#include <fmt/format.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_checks{50};

std::atomic<std::int64_t> asked{0};

std::string text_of(const py::error_already_set& error) {
    const std::string type = reinterpret_cast<PyTypeObject*>(error.type().ptr())->tp_name;
    const auto text = py::reinterpret_steal<py::object>(PyObject_Str(error.value().ptr()));
    if (text)
        return fmt::format("{}: {}", type, utf8_of(text));
    PyErr_Clear(); // the exception's __str__ raised another exception
    return type;
}

/// The address of the MPI_Comm in an mpi4py communicator.
void* address_of(const py::object& comm) {
#ifdef SEXTANT_WITH_MPI
    const py::module_ mpi = py::module_::import("mpi4py.MPI");
    if (!py::isinstance(comm, mpi.attr("Comm")))
        throw InvalidTask(
            fmt::format("comm is {}, expected an mpi4py communicator, or None", shown(comm)));
    // Does not use MPI_Get_library_version(), because all calls go to the library that was loaded
    // first, mpi4py's. Only the MPI family matters, because MPICH and its derivatives share one
    // ABI.
    const auto is_open_mpi = [](const std::string& name) { return name.starts_with("Open MPI"); };
    const std::string theirs =
        py::str(mpi.attr("Get_library_version")().attr("split")(",").attr("__getitem__")(0));
    if (is_open_mpi(theirs) != is_open_mpi(mpi_of_build()))
        throw InvalidTask(fmt::format("mpi4py uses {}, but Sextant was built with {}: use an "
                                      "mpi4py that was built with the same MPI",
                                      theirs, mpi_of_build()));
    return reinterpret_cast<void*>(mpi.attr("_addressof")(comm).cast<std::uintptr_t>());
#else
    (void)comm;
    throw InvalidTask("comm: this Sextant was built without MPI");
#endif
}

} // namespace

std::int64_t times_asked() {
    return asked;
}

FramesSummary summary_of(const FrameHeader& header) {
    return {header.frames, header.shape.width, header.shape.height,
            static_cast<std::int64_t>(header.sample), header.channels};
}

std::string text_of(const FramesSummary& frames) {
    return fmt::format("{} of {}x{} {}{}", frames[0], frames[1], frames[2],
                       name(static_cast<Sample>(frames[3])),
                       frames[4] == 1 ? "" : fmt::format(" with {} channels", frames[4]));
}

void require_same_frames(const Communicator& communicator, const FrameHeader& header,
                         std::int64_t frame) {
    const std::vector<FramesSummary> all = communicator.all_gather(summary_of(header));
    const std::vector<std::int64_t> frames = communicator.all_gather(frame);
    const auto refuse = [](std::size_t rank, const char* what, const std::string& other,
                           const std::string& first) {
        throw AgreedFailure(
            fmt::format("rank {} has {} {}, but rank 0 has {}", rank, what, other, first),
            AgreedFailure::Fault::task);
    };
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (all[rank] != all[0])
            refuse(rank, "frames", text_of(all[rank]), text_of(all[0]));
        if (frames[rank] != frames[0])
            refuse(rank, "frame", std::to_string(frames[rank]), std::to_string(frames[0]));
    }
}

void check_comm(const py::object& comm) {
    address_of(comm);
}

Call::Call(py::object progress, const py::object& comm, int ranks, bool has_threads)
    : progress_(std::move(progress)),
      comm_(comm.is_none() ? nullptr : address_of(comm)),
      ranks_(ranks),
      waits_(!comm_ && (ranks > 1 || has_threads)),
      checked_(Clock::now().time_since_epoch().count()) {}

RunControl Call::control() {
    RunControl control;
    control.cancelled = [this] { return ends(); };
    if (!progress_.is_none()) {
        control.progress = [this](std::string_view part, std::int64_t done, std::int64_t all) {
            if (stops_)
                return;
            try {
                python([&] { progress_(part, done, all); });
            } catch (const Error&) {
                // The operation ends on all ranks at its next check.
            }
        };
    }
    return control;
}

std::string Call::keep(const py::error_already_set& error) {
    const std::string text = text_of(error);
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) {
        failure_.emplace(error);
        if (!error.matches(PyExc_KeyboardInterrupt))
            reason_ = text;
    }
    return text;
}

void Call::stop() {
    stops_ = true;
    notify_ranks();
}

void Call::notify_ranks() {
#ifdef SEXTANT_WITH_MPI
    if (!notices_ || notified_ || std::this_thread::get_id() != caller_)
        return;
    notified_ = true;
    notices_->send(reason());
#endif
}

std::string Call::reason() {
    const std::lock_guard lock(failure_mutex_);
    return reason_;
}

bool Call::ends() {
    if (!interrupted())
        return false;
    const std::string text = reason();
    if (text.empty())
        return true;
    throw PythonFailed(text);
}

void Call::check_signals() {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0)
        return;
    keep(py::error_already_set());
    stop();
}

bool Call::interrupted() {
    asked.fetch_add(1, std::memory_order_relaxed);
    if (running_.should_end())
        stops_ = true;
    if (stops_) {
        notify_ranks(); // another thread may have failed earlier
        return true;
    }
    if (waits_ || std::this_thread::get_id() != caller_)
        return false; // only the caller's thread can check for signals
    const auto now = Clock::now().time_since_epoch();
    const Clock::duration checked(checked_.load(std::memory_order_relaxed));
    if (now - checked < between_checks)
        return false;
    checked_.store(now.count(), std::memory_order_relaxed);
    check_signals();
#ifdef SEXTANT_WITH_MPI
    if (notices_ && notices_->received()) {
        const std::lock_guard lock(failure_mutex_);
        if (!failure_)
            reason_ = notices_->reason();
        notified_ = true;
        stops_ = true;
    }
#endif
    return stops_;
}

void Call::run_threads_and_wait(const std::function<void(const Communicator&)>& body) {
    std::mutex mutex;
    std::condition_variable ended;
    bool has_ended = false;
    std::exception_ptr error;
    std::thread worker;
    try {
        worker = std::thread([&] {
            try {
                run_threads(ranks_, body);
            } catch (...) {
                error = std::current_exception();
            }
            const std::lock_guard lock(mutex);
            has_ended = true;
            ended.notify_one();
        });
    } catch (const std::system_error& failed) {
        throw CommunicationFailed(
            fmt::format("no thread for ranks could be started: {}", failed.what()));
    }
    for (std::unique_lock lock(mutex);
         !ended.wait_for(lock, between_checks, [&] { return has_ended; });) {
        lock.unlock();
        if (!stops_)
            check_signals();
        lock.lock();
    }
    worker.join();
    if (error)
        std::rethrow_exception(error);
}

void Call::run_over_mpi(const std::function<void(const Communicator&)>& body) {
#ifdef SEXTANT_WITH_MPI
    const Communicator communicator = from_mpi(*static_cast<MPI_Comm*>(comm_));
    StopNotices notices(*static_cast<MPI_Comm*>(comm_));
    notices_ = &notices;
    std::exception_ptr error;
    try {
        const WhileWaiting checks([this] { interrupted(); });
        body(communicator);
    } catch (...) {
        error = std::current_exception();
    }
    notices_ = nullptr;
    if (error)
        std::rethrow_exception(error);
    // This rank may have been interrupted, or may have failed, after its last check.
    agree(communicator, [this] {
        if (stops_ && ends())
            throw Cancelled();
    });
#else
    (void)body;
    throw InvalidTask("this Sextant was built without MPI");
#endif
}

void Call::run(const std::function<void(const Communicator&)>& body) {
    std::exception_ptr error;
    const RunControl control{.cancelled = [this] { return ends(); }};
    const auto cancellable = [&](const Communicator& communicator) {
        const CancellationScope scope(control, communicator.size());
        body(communicator);
    };
    {
        const py::gil_scoped_release released;
        try {
            if (comm_)
                run_over_mpi(cancellable);
            else if (waits_)
                run_threads_and_wait(cancellable);
            else
                run_threads(ranks_, cancellable);
        } catch (...) {
            error = std::current_exception();
        }
    }
    running_.check();
    if (failure_)
        throw *failure_;
    if (error)
        std::rethrow_exception(error);
}

} // namespace sextant::python
