// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/hdf5/read_apart.hpp"

#include "sextant/core/child_process.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sextant::format {

namespace {

constexpr int most_ends = 3; // child processes that may end before reading fails
constexpr Bytes shared_bytes = Bytes{4} << 20;

/// The exception if a child ends before it answers: "ended with signal 11 (Segmentation fault)".
class ReadingEnded : public Error {
  public:
    using Error::Error;
};

/// Memory that a process shares with its forked children.
class SharedBytes {
  public:
    /// Throws std::system_error.
    explicit SharedBytes(std::size_t size) {
        void* const memory =
            mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            throw std::system_error(errno, std::generic_category(), "mmap");
        bytes_ = {static_cast<std::byte*>(memory), size};
    }
    SharedBytes(const SharedBytes&) = delete;
    SharedBytes& operator=(const SharedBytes&) = delete;
    ~SharedBytes() { munmap(bytes_.data(), bytes_.size()); }

    std::span<std::byte> bytes() const { return bytes_; }

  private:
    std::span<std::byte> bytes_;
};

/// A request to the child for a block. The first byte of the reply is an `Answer`.
struct Request {
    std::array<std::int64_t, most_array_axes> start{}, count{};
};
enum class Answer : std::uint8_t { good = 1, refused = 2 };

/// Sends values to the other process.
struct Sender {
    Channel& channel;
    template <class T>
    void operator()(const T& value) const {
        channel.put(value);
    }
    void operator()(const std::vector<std::string>& texts) const {
        channel.put(texts.size());
        for (const std::string& text : texts)
            channel.put(text);
    }
};

/// Receives the values that a Sender sends.
struct Receiver {
    Channel& channel;
    template <class T>
    void operator()(T& value) const {
        value = channel.get<T>();
    }
    void operator()(std::string& text) const {
        text.resize(length());
        channel.read(text.data(), text.size());
    }
    template <class T>
    void operator()(std::vector<T>& numbers) const {
        numbers.resize(length());
        channel.read(numbers.data(), numbers.size() * sizeof(T));
    }
    void operator()(std::vector<std::string>& texts) const {
        texts.resize(length());
        for (std::string& text : texts)
            (*this)(text);
    }

  private:
    std::size_t length() const {
        const auto length = channel.get<std::size_t>();
        constexpr std::size_t longest = std::size_t{1} << 20; // an intact child never sends more
        if (length > longest)
            throw ReadingEnded("returned invalid data");
        return length;
    }
};

/// Sends or receives the properties of a source, and the lengths and chunks of its array; `each` is
/// a Sender or a Receiver.
template <class Exchange>
void exchange(const Exchange& each, FrameHeader& header, FrameAxes& axes, ArrayHeader& array,
              OpenedFrames& opened) {
    each(header.frames);
    each(header.shape);
    each(header.sample);
    each(header.channels);
    each(header.pixel.x);
    each(header.pixel.y);
    each(header.pixel.unit);
    each(header.slice_distance);
    each(header.frames_per_chunk);
    each(header.frame_interval);
    each(header.hyperstack);
    each(header.axes.lengths);
    each(header.axes.names);
    each(header.axes.labels);
    each(header.remarks);
    each(axes.frames);
    each(axes.fixed);
    each(array.lengths);
    each(array.chunk);
    each(opened.stored);
    each(opened.referred);
}

/// Process ID of the parent; global because the child's signal handler reads it.
volatile std::sig_atomic_t parent_of_child = 0;

/// Handles the signal that the child gets when its parent ends. The signal is also sent when only
/// the parent's thread that forked the child ends.
extern "C" void end_without_parent(int) {
    if (getppid() != static_cast<pid_t>(parent_of_child))
        _exit(0);
}

/// The child process, which opens the source and answers requests.
class ChildReader {
  public:
    ChildReader(Channel& channel, std::span<std::byte> shared, pid_t parent, std::string path,
                Seconds patience)
        : channel_(channel),
          shared_(shared),
          parent_(parent),
          path_(std::move(path)),
          patience_(patience) {}

    [[noreturn]] void run(const Opening& open) {
        crash_quietly();
        close_files_of_parent();
        end_with_parent();
        std::unique_ptr<FrameSource> source;
        const std::vector<int> before = open_files();
        try {
            answer([&] {
                OpenedFrames opened = open([this](Bytes ahead) {
                    constexpr double gibibyte = 1 << 30;
                    set_time(patience_ * (1 + static_cast<double>(ahead) / gibibyte));
                });
                source = std::move(opened.source);
                note_files(before);
                FrameHeader header = source->header();
                FrameAxes axes = source->axes();
                ArrayHeader array = source->array().header();
                begin_reply(Answer::good);
                exchange(Sender{channel_}, header, axes, array, opened);
            });
            while (source)
                answer_request(source->array());
        } catch (const Error&) { // the parent has closed its end of the channel
        }
        _exit(0); // skips the destructors of the source and of the parent's objects
    }

  private:
    /// Resets the parent's signal handlers, which would report a crash of the child as a crash of
    /// the parent.
    static void crash_quietly() {
        for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF, SIGTERM})
            std::signal(number, SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        const rlimit nothing{0, 0};
        setrlimit(RLIMIT_CORE, &nothing);
    }

    static std::vector<int> open_files() {
        std::vector<int> open;
        if (DIR* const folder = opendir("/proc/self/fd")) {
            while (const dirent* entry = readdir(folder)) {
                const int descriptor = std::atoi(entry->d_name);
                if (descriptor > STDERR_FILENO && descriptor != dirfd(folder))
                    open.push_back(descriptor);
            }
            closedir(folder);
        }
        return open;
    }

    /// True if this descriptor holds a lock on the file. The lock lasts until all processes close
    /// the descriptor.
    static bool holds_lock(int descriptor) {
        std::ifstream facts(fmt::format("/proc/self/fdinfo/{}", descriptor));
        const std::string text{std::istreambuf_iterator<char>(facts), {}};
        return text.find("\nlock:") != text.npos;
    }

    /// Releases the parent's pipes, sockets and locked files, which would otherwise stay open as
    /// long as the child. The source stays open, because the library may have opened it in the
    /// parent and then uses the same descriptor. Descriptors of locked files are replaced, so that
    /// their numbers are not reused.
    void close_files_of_parent() const {
        struct stat source {};
        const bool known = stat(path_.c_str(), &source) == 0;
        const int nothing = open("/", O_PATH | O_CLOEXEC);
        for (const int descriptor : open_files()) {
            struct stat found {};
            if (descriptor == channel_.descriptor() || descriptor == nothing ||
                fstat(descriptor, &found) != 0)
                continue;
            if (S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode))
                ::close(descriptor);
            else if (S_ISREG(found.st_mode) && holds_lock(descriptor) &&
                     !(known && found.st_dev == source.st_dev && found.st_ino == source.st_ino))
                dup2(nothing, descriptor);
        }
    }

    /// Records the files that the library has opened and possibly locked. Records none if the user
    /// has disabled the library's locks.
    void note_files(const std::vector<int>& before) {
        const char* const locks = std::getenv("HDF5_USE_FILE_LOCKING");
        if (locks && std::string_view(locks) != "TRUE" && std::string_view(locks) != "1")
            return;
        for (const int descriptor : open_files()) {
            struct stat found {};
            if (std::ranges::find(before, descriptor) == before.end() &&
                fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode))
                files_.push_back(descriptor);
        }
    }

    void unlock_files() const {
        for (const int descriptor : files_)
            flock(descriptor, LOCK_UN);
    }

    void lock_files() const {
        for (const int descriptor : files_) {
            if (flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
                throw InvalidFile(path_, "another program is writing the file");
        }
    }

    /// Makes the child end when its parent ends, even during work.
    void end_with_parent() const {
        parent_of_child = static_cast<std::sig_atomic_t>(parent_);
        struct sigaction action {};
        action.sa_handler = end_without_parent;
        action.sa_flags = SA_RESTART;
        sigaction(SIGHUP, &action, nullptr);
        prctl(PR_SET_PDEATHSIG, SIGHUP);
        end_without_parent(0); // the parent may have ended already
    }

    /// Sets the CPU time limit; SIGPROF then ends the child.
    void set_time(Seconds seconds) const {
        itimerval time{};
        time.it_value.tv_sec = static_cast<time_t>(seconds);
        time.it_value.tv_usec = static_cast<suseconds_t>(1e6 * (seconds - std::floor(seconds)));
        setitimer(ITIMER_PROF, &time, nullptr);
    }

    /// While the child waits, other programs may write the file. Ctrl-C in a terminal, which
    /// signals all processes of the program, does not end the child.
    void begin_reply(Answer answer) {
        unlock_files();
        std::signal(SIGINT, SIG_IGN);
        channel_.put(answer);
    }

    template <class Part>
    void answer(const Part& part) {
        set_time(patience_);
        try {
            part();
        } catch (const std::exception& error) {
            // The path is removed, because InvalidFile in the parent adds it again.
            std::string text = error.what();
            if (text.starts_with(path_ + ": "))
                text.erase(0, path_.size() + 2);
            begin_reply(Answer::refused);
            channel_.put(text);
        }
        set_time(0);
    }

    void answer_request(ArraySource& array) {
        const auto request = channel_.get<Request>();
        std::signal(SIGINT, SIG_DFL);
        const auto axes = std::ssize(array.header().lengths);
        const ArrayBlock block{{request.start.begin(), request.start.begin() + axes},
                               {request.count.begin(), request.count.begin() + axes}};
        answer([&] {
            lock_files();
            array.read(block, shared_.first(static_cast<std::size_t>(
                                  block.elements() * array.header().element_bytes())));
            begin_reply(Answer::good);
        });
    }

    Channel& channel_;
    std::span<std::byte> shared_;
    pid_t parent_;
    std::string path_;
    Seconds patience_;
    std::vector<int> files_; ///< files that the library has opened and may have locked
};

/// A child process that opens a source and answers read requests through a socket. The process ends
/// when this object is destroyed or its parent ends.
class ReadingChild {
  public:
    /// Forks a child that opens the source. Throws InvalidFile if the source cannot be opened or no
    /// child can be started, and ReadingEnded if the child ends.
    ReadingChild(const std::string& path, const Opening& open, Seconds patience) try
        : path_(path),
          patience_(patience),
          shared_(static_cast<std::size_t>(shared_bytes)),
          channel_(connected_channel()),
          process_(0, [this, &open, parent = getpid()] {
              channel_.ours.close();
              ChildReader(channel_.theirs, shared_.bytes(), parent, path_, patience_).run(open);
          }) {
        channel_.theirs.close();
        try {
            require_answer();
            exchange(Receiver{channel_.ours}, header_, axes_, array_, opened_);
            std::vector<std::int64_t> chunk = std::move(array_.chunk);
            array_ = array_header_of(header_, std::move(array_.lengths));
            array_.chunk = std::move(chunk);
        } catch (const ChannelClosed&) {
            ended();
        }
    } catch (const std::system_error& error) {
        throw InvalidFile(
            path, fmt::format("cannot be read by a separate process: {}", error.code().message()));
    }

    /// The header of the source, its axes in the array, and the header of the array.
    const FrameHeader& header() const { return header_; }
    const FrameAxes& axes() const { return axes_; }
    const ArrayHeader& array() const { return array_; }
    /// The other properties of the source; `source` itself is null.
    const OpenedFrames& opened() const { return opened_; }

    /// Reads a block of the array that has at most `shared_bytes`. Returns its samples, which are
    /// valid until the next request. Throws InvalidFile as the source does, and ReadingEnded if the
    /// child ends.
    std::span<const std::byte> read(const ArrayBlock& block) {
        Request request;
        std::ranges::copy(block.start, request.start.begin());
        std::ranges::copy(block.count, request.count.begin());
        try {
            channel_.ours.put(request);
            require_answer();
        } catch (const ChannelClosed&) {
            ended();
        }
        return shared_.bytes().first(
            static_cast<std::size_t>(block.elements() * array_.element_bytes()));
    }

  private:
    void require_answer() {
        if (channel_.ours.get<Answer>() == Answer::good)
            return;
        std::string refusal;
        Receiver{channel_.ours}(refusal);
        throw InvalidFile(path_, refusal);
    }

    /// Throws ReadingEnded with the reason why the child closed its end of the socket.
    [[noreturn]] void ended() {
        process_.wait();
        const int status = process_.status();
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
            throw ReadingEnded(fmt::format("made no progress in {:g} s", patience_));
        if (WIFSIGNALED(status))
            throw ReadingEnded(fmt::format("ended with signal {} ({})", WTERMSIG(status),
                                           strsignal(WTERMSIG(status))));
        throw ReadingEnded("ended early");
    }

    std::string path_;
    Seconds patience_;
    FrameHeader header_;
    FrameAxes axes_;
    ArrayHeader array_;
    OpenedFrames opened_;
    SharedBytes shared_; ///< memory into which the child reads samples
    ChannelEnds channel_;
    ChildProcess process_;
};

/// Reads an array directly, at its position in a file.
class DirectReader {
  public:
    DirectReader(const std::string& path, const ArrayHeader& header, const StoredSamples& stored)
        : file_(std::make_shared<SourceFile>(path)),
          array_(stored_array({path,
                               [file = file_](Bytes position, std::span<std::byte> to) {
                                   if (file->read_at(position, to) < std::ssize(to))
                                       throw InvalidFile(file->path(), "ends too early");
                               }},
                              header, {.start = stored.first, .steps = steps_of(header.lengths)})) {
        struct stat found {};
        valid_ = fstat(fileno(file_->handle()), &found) == 0 && found.st_dev == stored.device &&
                 found.st_ino == stored.inode;
    }

    /// Reads a block. Returns false if the file has too few bytes, cannot be read, was replaced, or
    /// is locked by a program that writes it.
    bool read(const ArrayBlock& block, std::span<std::byte> to) {
        const int descriptor = fileno(file_->handle());
        if (!valid_ || (flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK))
            return false;
        bool complete = false;
        try {
            array_->read(block, to);
            complete = true;
        } catch (const InvalidFile&) { // the child tries again and reports the error
        }
        flock(descriptor, LOCK_UN);
        return complete;
    }

  private:
    std::shared_ptr<SourceFile> file_;
    std::unique_ptr<ArraySource> array_;
    bool valid_ = false;
};

class ReadApart final : public ArraySource {
  public:
    ReadApart(const std::string& path, Opening open, Seconds patience,
              std::unique_ptr<ReadingChild> child)
        : ArraySource(path, child->array(), Checked()),
          axes_(child->axes()),
          open_(std::move(open)),
          patience_(patience),
          child_(std::move(child)) {
        if (child_->opened().stored.first >= 0)
            direct_.emplace(path, header(), child_->opened().stored);
    }

  private:
    void load(const ArrayBlock& block, std::span<std::byte> to) override {
        if ((direct_ && direct_->read(block, to)) || load_ahead(block, to))
            return;
        const Elements most = shared_bytes / header().element_bytes();
        for_each_part(block, one_by_one_ ? std::min(most, plane_of(block)) : most,
                      [&](const ArrayBlock& part, Elements offset) {
                          load_part(part, bytes_of(part, to, offset));
                      });
    }

    static Elements plane_of(const ArrayBlock& block) {
        return block.count[block.count.size() - 2] * block.count.back();
    }
    std::int64_t frame_of(const ArrayBlock& block) const {
        return axes_.frame_of(block.start, header().lengths);
    }
    std::span<std::byte> bytes_of(const ArrayBlock& part, std::span<std::byte> to,
                                  Elements offset) const {
        const Bytes size = header().element_bytes();
        return to.subspan(static_cast<std::size_t>(offset * size),
                          static_cast<std::size_t>(part.elements() * size));
    }

    /// Reads a block in one request. If this fails, reads its planes one by one to find the damaged
    /// one.
    void load_part(const ArrayBlock& part, std::span<std::byte> to) {
        const bool is_plane = part.elements() == plane_of(part);
        try {
            const std::span<const std::byte> read = child_for(part).read(part);
            std::memcpy(to.data(), read.data(), read.size());
            return;
        } catch (const ReadingEnded& end) {
            child_.reset();
            if (is_plane) {
                ++ends_;
                throw InvalidFile(path(), fmt::format("damaged: reading frame {} {}",
                                                      frame_of(part), end.what()));
            }
            one_by_one_ = true;
        } catch (const InvalidFile&) {
            if (is_plane)
                throw;
        }
        for_each_part(part, plane_of(part), [&](const ArrayBlock& plane, Elements offset) {
            load_part(plane, bytes_of(plane, to, offset));
        });
    }

    /// Reads ahead if small frames are read one after another, because a request takes longer than
    /// reading a small frame. Each request reads twice as many frames as the previous one. Returns
    /// false if the block must be read alone.
    bool load_ahead(const ArrayBlock& block, std::span<std::byte> to) {
        constexpr Bytes small = Bytes{512} << 10, most = Bytes{1} << 20;
        const Bytes size = header().element_bytes();
        if (ahead_ && copy_part(*ahead_, size, samples_.data(), block, to.data()))
            return true;
        ahead_.reset(); // the next request overwrites the samples
        const bool is_plane = block.elements() == plane_of(block);
        const bool goes_on = is_plane && frame_of(block) == next_;
        at_once_ = goes_on ? std::min<std::int64_t>(2 * at_once_, most) : 1;
        next_ = is_plane ? frame_of(block) + 1 : -1;
        const std::size_t columns = block.count.size() - 1;
        ArrayBlock more = block;
        for (const std::size_t axis : {columns - 1, columns}) {
            more.start[axis] = 0;
            more.count[axis] = header().lengths[axis];
        }
        const Bytes frame_bytes = plane_of(more) * size;
        if (!goes_on || frame_bytes > small || one_by_one_ || axes_.frames.empty())
            return false;
        const std::size_t axis = axes_.frames.back();
        more.count[axis] =
            std::min({at_once_, most / frame_bytes, header().lengths[axis] - block.start[axis]});
        try {
            samples_ = child_for(block).read(more);
        } catch (const ReadingEnded&) {
            child_.reset();
            one_by_one_ = true;
            return false;
        } catch (const InvalidFile&) {
            return false;
        }
        next_ += more.count[axis] - 1;
        ahead_ = std::move(more);
        return copy_part(*ahead_, size, samples_.data(), block, to.data());
    }

    ReadingChild& child_for(const ArrayBlock& block) {
        if (ends_ >= most_ends)
            throw InvalidFile(
                path(),
                fmt::format("damaged: frame {} is not read because reading has failed {} times",
                            frame_of(block), ends_));
        if (!child_)
            child_ = std::make_unique<ReadingChild>(path(), open_, patience_);
        return *child_;
    }

    FrameAxes axes_; ///< of the frames that error messages name
    Opening open_;
    Seconds patience_;
    std::unique_ptr<ReadingChild> child_;
    std::optional<DirectReader> direct_; ///< set if the position of the samples is known
    int ends_ = 0;
    bool one_by_one_ = false;         ///< true after a request for several frames has ended a child
    std::optional<ArrayBlock> ahead_; ///< the block that was read ahead
    std::span<const std::byte> samples_ = {}; ///< of `ahead_`, in memory shared with the child
    std::int64_t next_ = -1;                  ///< the frame after the last read
    std::int64_t at_once_ = 1;                ///< the number of frames to read ahead
};

} // namespace

OpenedFrames read_apart(const std::string& path, const Opening& open, Seconds patience) {
    try {
        auto child = std::make_unique<ReadingChild>(path, open, patience);
        FrameHeader header = child->header();
        FrameAxes axes = child->axes();
        OpenedFrames result{nullptr, {}, child->opened().referred};
        result.source = std::make_unique<FrameSource>(
            std::make_unique<ReadApart>(path, open, patience, std::move(child)), std::move(header),
            std::move(axes));
        return result;
    } catch (const ReadingEnded& end) {
        throw InvalidFile(path, fmt::format("damaged: opening the file {}", end.what()));
    }
}

} // namespace sextant::format
