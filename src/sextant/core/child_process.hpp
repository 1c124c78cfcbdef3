// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace sextant {

/// Thrown if the other process has closed its end of a channel: the process has ended or is about
/// to end.
class ChannelClosed : public Error {
  public:
    ChannelClosed() : Error("the other process closed its end of the channel") {}
};

/// One end of a socket between two processes on the same host, for trivially copyable values.
/// Closes the socket on destruction. Throws ChannelClosed if the other end is closed, Error with
/// the reason if a system call fails.
class Channel {
  public:
    explicit Channel(int descriptor) : descriptor_(descriptor) {}
    Channel(Channel&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Channel& operator=(Channel&&) = delete;
    ~Channel() { close(); }

    int descriptor() const { return descriptor_; }
    void close();

    template <class T>
    void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        write(&value, sizeof value);
    }
    template <class T>
    void put(const std::vector<T>& values) {
        put_all(values);
    }
    void put(const std::string& text) { put_all(text); }

    template <class T>
    T get() {
        static_assert(std::is_trivially_copyable_v<T>);
        T value{};
        read(&value, sizeof value);
        return value;
    }
    template <class T>
    std::vector<T> get_vector() {
        return get_all<std::vector<T>>();
    }
    std::string get_text() { return get_all<std::string>(); }

    void write(const void* bytes, std::size_t count);
    void read(void* bytes, std::size_t count);

  private:
    template <class Values>
    void put_all(const Values& values) {
        put(values.size());
        write(values.data(), values.size() * sizeof values[0]);
    }
    template <class Values>
    Values get_all() {
        Values values(get<std::size_t>(), typename Values::value_type{});
        static_assert(std::is_trivially_copyable_v<typename Values::value_type>);
        read(values.data(), values.size() * sizeof values[0]);
        return values;
    }

    int descriptor_;
};

/// Two connected ends. Programs that a child process executes do not inherit them.
struct ChannelEnds {
    Channel ours, theirs;
};

/// Throws std::system_error.
ChannelEnds connected_channel();

/// A child process. The destructor kills it if it has not ended.
class ChildProcess {
  public:
    /// Forks a child that runs `body` and then exits. In a process with several threads, `body` may
    /// only make calls that are safe in a signal handler, unless no other thread can hold a lock
    /// that it needs.
    ///
    /// Input     the signal that the child receives when the calling thread ends; 0: none.
    /// Throws    std::system_error.
    ChildProcess(int signal_at_end_of_parent, const std::function<void()>& body);
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess() { end(); }

    /// Waits until the child ends.
    void wait();
    /// Waits for at most `patience`; returns true if the child has ended.
    bool ended_within(Seconds patience);
    /// The status of the ended child, as reported by waitpid.
    int status() const { return status_; }

    /// Sends SIGTERM, then SIGKILL if the child has not ended within `grace`. If `grace` is 0,
    /// sends SIGKILL at once.
    void end(Seconds grace = 0);

  private:
    pid_t id_ = 0; ///< process ID; 0 after the child has ended
    int status_ = 0;
};

/// Quotes a text as one shell word.
std::string shell_quoted(const std::string& text);

/// The shell command that runs this process's executable: its quoted path.
std::string own_command();

/// Runs a shell command as a child process. Its standard output is discarded; it shares the
/// parent's standard error. Kills the process if it takes longer than `patience`. Throws Error,
/// naming the command, if it fails or does not end in time.
void run_process(const std::string& command, Seconds patience);

} // namespace sextant
