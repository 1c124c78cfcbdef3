// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/read_apart.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::format {

namespace {

constexpr int most_ends = 3; // number of child processes that may end before reading fails

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
            throw InvalidFile(
                path(),
                fmt::format("damaged: frame {} is not read because reading has failed {} times",
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

OpenedFrames read_apart(const std::string& path, const Opening& open, Seconds patience) {
    try {
        auto child = std::make_unique<ReadingChild>(path, open, patience);
        FrameHeader header = child->header();
        std::vector<std::int64_t> chunk = child->chunk();
        return {
            std::make_unique<ReadApart>(path, std::move(header), open, patience, std::move(child)),
            std::move(chunk)};
    } catch (const ReadingEnded& end) {
        throw InvalidFile(path, fmt::format("damaged: opening the file {}", end.what()));
    }
}

namespace {

/// A request to the child. `Answer` is the first byte of the reply.
struct Request {
    std::int64_t frame = 0;
    Rows rows;
};
enum class Answer : std::uint8_t { good = 1, refused = 2 };

/// The numbers of a header, without its strings.
struct PlainHeader {
    std::int64_t frames = 0, width = 0, height = 0;
    Sample sample = Sample::f32;
    std::int32_t channels = 1;
    double pixel_x = 0, pixel_y = 0, slice_distance = 0;
    std::int64_t frames_per_chunk = 1;
    Seconds frame_interval = 0;
    Hyperstack hyperstack = {};
    std::uint64_t axes = 0, labels = 0, chunk = 0, remarks = 0;
};

/// Process ID of the parent; global because the child's signal handler reads it.
volatile std::sig_atomic_t parent_of_child = 0;

/// Handles the signal sent when the parent ends, which also arrives when only the thread that
/// forked the child ends.
extern "C" void end_without_parent(int) {
    if (getppid() != static_cast<pid_t>(parent_of_child))
        _exit(0);
}

/// The child, which opens the source and answers requests.
class ChildReader {
  public:
    ChildReader(Channel& channel, pid_t parent, std::string path, Seconds patience)
        : channel_(channel), parent_(parent), path_(std::move(path)), patience_(patience) {}

    [[noreturn]] void run(const Opening& open) {
        crash_quietly();
        end_with_parent();
        std::unique_ptr<FrameSource> source;
        try {
            answer([&] {
                OpenedFrames opened = open([this](Bytes ahead) {
                    constexpr double gibibyte = 1 << 30;
                    set_time(patience_ * (1 + static_cast<double>(ahead) / gibibyte));
                });
                source = std::move(opened.source);
                tell(source->header(), opened.chunk);
            });
            while (source)
                answer_request(*source);
        } catch (const Error&) { // the parent has closed its end of the channel
        }
        _exit(0); // runs no destructors of the source or of the parent's objects
    }

  private:
    /// Resets signal handlers inherited from the parent, which would report a crash as the
    /// parent's.
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

    /// Sets the CPU time after which SIGPROF ends the child.
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
            channel_.put(Answer::refused);
            channel_.put(text);
        }
        set_time(0);
    }

    void answer_request(FrameSource& source) {
        const auto request = channel_.get<Request>();
        answer([&] {
            std::vector<std::byte> samples(size_of(source.header(), request.rows));
            source.read_samples(request.frame, request.rows, samples);
            channel_.put(Answer::good);
            channel_.write(samples.data(), samples.size());
        });
    }

    void tell(const FrameHeader& header, std::span<const std::int64_t> chunk) {
        PlainHeader plain;
        plain.frames = header.frames;
        plain.width = header.shape.width;
        plain.height = header.shape.height;
        plain.sample = header.sample;
        plain.channels = header.channels;
        plain.pixel_x = header.pixel.x;
        plain.pixel_y = header.pixel.y;
        plain.slice_distance = header.slice_distance;
        plain.frames_per_chunk = header.frames_per_chunk;
        plain.frame_interval = header.frame_interval;
        plain.hyperstack = header.hyperstack;
        plain.axes = header.axes.lengths.size();
        plain.labels = header.axes.labels.size();
        plain.chunk = chunk.size();
        plain.remarks = header.remarks.size();
        channel_.put(Answer::good);
        channel_.put(plain);
        channel_.put(header.pixel.unit);
        channel_.put(header.axes.names);
        for (const std::int64_t length : header.axes.lengths)
            channel_.put(length);
        for (const std::string& label : header.axes.labels)
            channel_.put(label);
        for (const std::int64_t length : chunk)
            channel_.put(length);
        for (const std::string& remark : header.remarks)
            channel_.put(remark);
    }

    Channel& channel_;
    pid_t parent_;
    std::string path_;
    Seconds patience_;
};

} // namespace

ReadingChild::ReadingChild(const std::string& path, const Opening& open, Seconds patience) try
    : path_(path),
      patience_(patience),
      channel_(connected_channel()),
      process_(0, [this, &open, parent = getpid()] {
          channel_.ours.close();
          ChildReader(channel_.theirs, parent, path_, patience_).run(open);
      }) {
    channel_.theirs.close();
    try {
        require_answer();
        receive_header();
    } catch (const ChannelClosed&) {
        ended();
    }
} catch (const std::system_error& error) {
    throw InvalidFile(
        path, fmt::format("cannot be read by a separate process: {}", error.code().message()));
}

void ReadingChild::read(std::int64_t frame, Rows rows, std::span<std::byte> to) {
    try {
        channel_.ours.put(Request{frame, rows});
        require_answer();
        channel_.ours.read(to.data(), to.size());
    } catch (const ChannelClosed&) {
        ended();
    }
}

void ReadingChild::require_answer() {
    if (channel_.ours.get<Answer>() != Answer::good)
        throw InvalidFile(path_, receive_text());
}

void ReadingChild::receive_header() {
    const auto plain = channel_.ours.get<PlainHeader>();
    header_.frames = plain.frames;
    header_.shape = {plain.width, plain.height};
    header_.sample = plain.sample;
    header_.channels = plain.channels;
    header_.pixel = {plain.pixel_x, plain.pixel_y, receive_text()};
    header_.slice_distance = plain.slice_distance;
    header_.frames_per_chunk = plain.frames_per_chunk;
    header_.frame_interval = plain.frame_interval;
    header_.hyperstack = plain.hyperstack;
    header_.axes.names = receive_text();
    for (std::uint64_t i = 0; i < plain.axes; ++i)
        header_.axes.lengths.push_back(channel_.ours.get<std::int64_t>());
    for (std::uint64_t i = 0; i < plain.labels; ++i)
        header_.axes.labels.push_back(receive_text());
    for (std::uint64_t i = 0; i < plain.chunk; ++i)
        chunk_.push_back(channel_.ours.get<std::int64_t>());
    for (std::uint64_t i = 0; i < plain.remarks; ++i)
        header_.remarks.push_back(receive_text());
}

std::string ReadingChild::receive_text() {
    const auto size = channel_.ours.get<std::size_t>();
    constexpr std::size_t longest = std::size_t{1} << 20; // a working child never sends more
    if (size > longest)
        throw ReadingEnded("returned invalid data");
    std::string text(size, '\0');
    channel_.ours.read(text.data(), size);
    return text;
}

/// Reports why the child closed its end of the socket.
void ReadingChild::ended() {
    process_.wait();
    const int status = process_.status();
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        throw ReadingEnded(fmt::format("made no progress in {:g} s", patience_));
    if (WIFSIGNALED(status))
        throw ReadingEnded(fmt::format("ended with signal {} ({})", WTERMSIG(status),
                                       strsignal(WTERMSIG(status))));
    throw ReadingEnded("ended early");
}

} // namespace sextant::format
