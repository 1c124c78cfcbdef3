// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/read_apart.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::format {

namespace {

constexpr int most_ends = 3; // of children, after which nothing more is read

class ReadApart : public FrameSource {
  public:
    ReadApart(const std::string& path, FrameHeader header, Opening open, Seconds patience,
              std::unique_ptr<ReadingChild> child)
        : FrameSource(path, std::move(header)),
          open_(std::move(open)),
          patience_(patience),
          child_(std::move(child)) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        if (ends_ >= most_ends)
            throw InvalidFile(path(), fmt::format("damaged: frame {} is not read, as reading ended "
                                                  "{} times before",
                                                  frame, ends_));
        if (!child_)
            child_ = std::make_unique<ReadingChild>(path(), open_, patience_);
        try {
            child_->read(frame, rows, to);
        } catch (const ReadingEnded& end) {
            child_.reset();
            ++ends_;
            throw InvalidFile(path(),
                              fmt::format("damaged: reading frame {} {}", frame, end.what()));
        }
    }

    Opening open_;
    Seconds patience_;
    std::unique_ptr<ReadingChild> child_;
    int ends_ = 0;
};

} // namespace

std::unique_ptr<FrameSource> read_apart(const std::string& path, const Opening& open,
                                        Seconds patience) {
    try {
        auto child = std::make_unique<ReadingChild>(path, open, patience);
        FrameHeader header = child->header();
        return std::make_unique<ReadApart>(path, std::move(header), open, patience,
                                           std::move(child));
    } catch (const ReadingEnded& end) {
        throw InvalidFile(path, fmt::format("damaged: opening it {}", end.what()));
    }
}

namespace {

/// A request to the child, and the first byte of its answer.
struct Request {
    std::int64_t frame = 0;
    Rows rows;
};
enum class Answer : std::uint8_t { good = 1, refused = 2 };

template <class Value>
std::span<const std::byte> bytes_of(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    return std::as_bytes(std::span(&value, 1));
}

/// The numbers of a header, without its strings.
struct PlainHeader {
    std::int64_t frames = 0, width = 0, height = 0;
    Sample sample = Sample::f32;
    std::int32_t channels = 1;
    double pixel_x = 0, pixel_y = 0;
    Seconds frame_interval = 0;
    std::uint64_t remarks = 0;
};

/// Global in the child, for its signal handler.
volatile std::sig_atomic_t parent_of_child = 0;

/// The death signal also comes when only the thread that forked the child ends.
extern "C" void end_without_parent(int) {
    if (getppid() != static_cast<pid_t>(parent_of_child))
        _exit(0);
}

/// The child's side: it never returns or throws, and skips the parent's cleanup.
class Reader {
  public:
    Reader(int socket, pid_t parent, std::string path, Seconds patience)
        : socket_(socket), parent_(parent), path_(std::move(path)), patience_(patience) {}

    [[noreturn]] void run(const Opening& open) {
        crash_quietly();
        end_with_parent();
        std::unique_ptr<FrameSource> source;
        answer([&] {
            source = open([this](Bytes ahead) {
                constexpr double gibibyte = 1 << 30;
                set_time(patience_ * (1 + static_cast<double>(ahead) / gibibyte));
            });
            tell(source->header());
        });
        Request request;
        while (source && receive(std::as_writable_bytes(std::span(&request, 1)))) {
            answer([&] {
                std::vector<std::byte> samples(size_of(source->header(), request.rows));
                source->read_samples(request.frame, request.rows, samples);
                send(bytes_of(Answer::good));
                send(samples);
            });
        }
        _exit(0);
    }

  private:
    /// Resets the handlers installed for the parent, which would report it.
    static void crash_quietly() {
        for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF, SIGTERM})
            std::signal(number, SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        const rlimit nothing{0, 0};
        setrlimit(RLIMIT_CORE, &nothing);
    }

    /// Makes the child end with its parent, even in the middle of work.
    void end_with_parent() const {
        parent_of_child = static_cast<std::sig_atomic_t>(parent_);
        struct sigaction action {};
        action.sa_handler = end_without_parent;
        action.sa_flags = SA_RESTART;
        sigaction(SIGHUP, &action, nullptr);
        prctl(PR_SET_PDEATHSIG, SIGHUP);
        end_without_parent(0); // the parent may have ended already
    }

    static std::size_t size_of(const FrameHeader& header, Rows rows) {
        return static_cast<std::size_t>(rows.count() * header.shape.width * header.channels *
                                        sextant::size_of(header.sample));
    }

    /// Ends the child by SIGPROF when the CPU time is over.
    void set_time(Seconds seconds) const {
        itimerval time{};
        time.it_value.tv_sec = static_cast<time_t>(seconds);
        time.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (seconds - std::floor(seconds)));
        setitimer(ITIMER_PROF, &time, nullptr);
    }

    template <class Part>
    void answer(const Part& part) {
        set_time(patience_);
        try {
            part();
        } catch (const std::exception& error) {
            // The path is removed because InvalidFile adds it again.
            std::string text = error.what();
            if (text.starts_with(path_ + ": "))
                text.erase(0, path_.size() + 2);
            send(bytes_of(Answer::refused));
            send_text(text);
        }
        set_time(0);
    }

    void tell(const FrameHeader& header) {
        PlainHeader plain;
        plain.frames = header.frames;
        plain.width = header.shape.width;
        plain.height = header.shape.height;
        plain.sample = header.sample;
        plain.channels = header.channels;
        plain.pixel_x = header.pixel.x;
        plain.pixel_y = header.pixel.y;
        plain.frame_interval = header.frame_interval;
        plain.remarks = header.remarks.size();
        send(bytes_of(Answer::good));
        send(bytes_of(plain));
        send_text(header.pixel.unit);
        for (const std::string& remark : header.remarks)
            send_text(remark);
    }

    void send_text(const std::string& text) {
        send(bytes_of(std::uint64_t{text.size()}));
        send(std::as_bytes(std::span(text)));
    }

    void send(std::span<const std::byte> bytes) {
        while (!bytes.empty()) {
            const ssize_t some = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (some < 0 && errno == EINTR)
                continue;
            if (some <= 0)
                _exit(0); // the parent no longer listens
            bytes = bytes.subspan(static_cast<std::size_t>(some));
        }
    }

    bool receive(std::span<std::byte> bytes) const {
        while (!bytes.empty()) {
            const ssize_t some = recv(socket_, bytes.data(), bytes.size(), 0);
            if (some < 0 && errno == EINTR)
                continue;
            if (some <= 0)
                return false;
            bytes = bytes.subspan(static_cast<std::size_t>(some));
        }
        return true;
    }

    int socket_;
    pid_t parent_;
    std::string path_;
    Seconds patience_;
};

} // namespace

ReadingChild::ReadingChild(const std::string& path, const Opening& open, Seconds patience)
    : path_(path), patience_(patience) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw InvalidFile(path, fmt::format("cannot be read by a process of its own: {}",
                                            std::generic_category().message(errno)));
    const pid_t parent = getpid();
    id_ = fork();
    if (id_ == 0) {
        close(ends[0]);
        Reader(ends[1], parent, path, patience).run(open);
    }
    const int error = errno;
    close(ends[1]);
    socket_ = ends[0];
    if (id_ < 0) {
        close(socket_);
        throw InvalidFile(path, fmt::format("cannot be read by a process of its own: {}",
                                            std::generic_category().message(error)));
    }
    try {
        require_answer();
        receive_header();
    } catch (...) {
        end();
        throw;
    }
}

ReadingChild::~ReadingChild() {
    end();
}

/// Kills the child, which only reads and so has nothing to lose.
void ReadingChild::end() {
    if (id_ > 0) {
        kill(id_, SIGKILL);
        while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    id_ = -1;
    if (socket_ >= 0)
        close(socket_);
    socket_ = -1;
}

void ReadingChild::read(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    send(bytes_of(Request{frame, rows}));
    require_answer();
    receive(to);
}

void ReadingChild::require_answer() {
    Answer answer{};
    receive(std::as_writable_bytes(std::span(&answer, 1)));
    if (answer != Answer::good)
        throw InvalidFile(path_, receive_text());
}

void ReadingChild::receive_header() {
    PlainHeader plain;
    receive(std::as_writable_bytes(std::span(&plain, 1)));
    header_.frames = plain.frames;
    header_.shape = {plain.width, plain.height};
    header_.sample = plain.sample;
    header_.channels = plain.channels;
    header_.pixel = {plain.pixel_x, plain.pixel_y, receive_text()};
    header_.frame_interval = plain.frame_interval;
    for (std::uint64_t i = 0; i < plain.remarks; ++i)
        header_.remarks.push_back(receive_text());
}

void ReadingChild::send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t some = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            ended();
        bytes = bytes.subspan(static_cast<std::size_t>(some));
    }
}

void ReadingChild::receive(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t some = recv(socket_, bytes.data(), bytes.size(), 0);
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            ended();
        bytes = bytes.subspan(static_cast<std::size_t>(some));
    }
}

std::string ReadingChild::receive_text() {
    std::uint64_t size = 0;
    receive(std::as_writable_bytes(std::span(&size, 1)));
    constexpr std::uint64_t longest = std::uint64_t{1} << 20; // an intact child never sends more
    if (size > longest)
        throw ReadingEnded("gave no sense");
    std::string text(static_cast<std::size_t>(size), '\0');
    receive(std::as_writable_bytes(std::span(text)));
    return text;
}

/// Reports why the child closed its end of the socket.
void ReadingChild::ended() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        throw ReadingEnded(fmt::format("made no progress in {:g} s", patience_));
    if (WIFSIGNALED(status))
        throw ReadingEnded(fmt::format("ended with signal {} ({})", WTERMSIG(status),
                                       strsignal(WTERMSIG(status))));
    throw ReadingEnded("ended early");
}

} // namespace sextant::format
