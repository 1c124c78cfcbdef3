// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/follow/follow.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/report/text.hpp"

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant::command {

namespace {

[[noreturn]] void fail_spool(const std::string& path, const char* verb, int error) {
    throw InvalidFile(
        path, fmt::format("cannot be {}: {}", verb, std::generic_category().message(error)));
}

/// Returns the number of bytes before the first frame, from a layout such as
/// "512x512,u16,offset=1024".
Bytes bytes_before_frames(std::string_view layout) {
    constexpr std::string_view key = "offset=";
    const std::size_t at = layout.find(key);
    Bytes offset = 0;
    if (at != std::string_view::npos)
        std::from_chars(layout.data() + at + key.size(), layout.data() + layout.size(), offset);
    return offset;
}

/// The complete frames in a spool, and their size including the bytes before the first frame.
struct WholeFrames {
    std::int64_t count = 0;
    Bytes size = 0;
};

WholeFrames whole_frames_in(const std::string& path, const std::string& layout) {
    try {
        const auto source = format::open_frames(path + "::" + layout);
        const FrameHeader& header = source->header();
        return {header.frames, bytes_before_frames(layout) + header.frames *
                                                                 header.shape.elements() *
                                                                 size_of(header.sample)};
    } catch (const InvalidFile&) {
        return {};
    }
}

} // namespace

bool is_stream(const std::string& series) {
    const std::string path = series.substr(0, series.rfind("::"));
    if (path == "/dev/stdin")
        return true;
    struct stat found {};
    return stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
}

FrameSpool::FrameSpool(const std::string& series, std::string path, bool continues)
    : path_(std::move(path)) {
    const std::size_t at = series.rfind("::");
    stream_ = series.substr(0, at);
    if (at == std::string::npos)
        throw InvalidFile(stream_, "is a stream without a header: append width, height and sample "
                                   "type to its name, such as " +
                                       stream_ + "::512x512,u16");
    layout_ = series.substr(at + 2);
    if (!format::has_extension(path_, ".raw") && !format::has_extension(path_, ".bin"))
        throw InvalidFile(path_, "expected the extension .raw or .bin, because frames of a stream "
                                 "are stored without a header");
    in_ = ::open(stream_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (in_ < 0)
        fail_spool(stream_, "read", errno);
    out_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (continues ? O_NOFOLLOW : O_EXCL),
                  0666);
    if (out_ < 0) {
        const int error = errno;
        ::close(in_);
        if (error != EEXIST)
            fail_spool(path_, "created", error);
        throw InvalidFile(path_, "exists, and may hold the only copy of its frames; register them, "
                                 "remove the file, or choose another file with --spool");
    }
    if (const Bytes there = ::lseek(out_, 0, SEEK_END); there > 0) {
        if (drop_incomplete_frame() == 0) { // the file may have another layout
            ::close(in_);
            ::close(out_);
            throw InvalidFile(
                path_, fmt::format("has {} bytes, expected whole frames of {}", there, layout_));
        }
        ::lseek(out_, 0, SEEK_END);
        size_at_start_ = size_;
    }
    thread_ = std::thread([this] {
        try {
            copy();
        } catch (const InvalidFile& failed) {
            fail(failed.what());
        }
    });
}

FrameSpool::~FrameSpool() {
    stops_ = true;
    if (thread_.joinable())
        thread_.join();
    ::close(in_);
    ::close(out_);
    if (size_ == 0)
        ::unlink(path_.c_str());
}

void FrameSpool::fail(const std::string& why) {
    const std::int64_t frames = drop_incomplete_frame();
    const std::string what =
        frames == 0
            ? "no complete frame was stored"
            : fmt::format("{} of the stream {} stored in {}: repeat the command to append the rest "
                          "of the stream, or run sextant register {} to register the stored frames",
                          report::counted(frames, "frame"), frames == 1 ? "is" : "are", path_,
                          series());
    const std::lock_guard lock(guards_failure_);
    failure_ = why + "; " + what;
}

/// Removes an incomplete last frame. Returns the number of frames that remain.
std::int64_t FrameSpool::drop_incomplete_frame() {
    const WholeFrames whole = whole_frames_in(path_, layout_);
    if (whole.count == 0)
        return 0;
    if (::ftruncate(out_, static_cast<off_t>(whole.size)) == 0)
        size_ = whole.size;
    return whole.count;
}

void FrameSpool::copy() {
    constexpr int milliseconds = 50;
    constexpr std::size_t at_once = std::size_t{1} << 20;
    std::vector<std::byte> bytes(at_once);
    while (!stops_) {
        pollfd waiting{in_, POLLIN, 0};
        if (::poll(&waiting, 1, milliseconds) == 0)
            continue;
        const ssize_t got = ::read(in_, bytes.data(), bytes.size());
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            fail_spool(stream_, "read", errno);
        if (got == 0)
            break;
        append(std::span(bytes).first(static_cast<std::size_t>(got)));
    }
    ended_ = true;
}

/// Appends bytes to the file; after a failure, the file contains a part of the bytes.
void FrameSpool::append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(out_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            fail_spool(path_, "written", errno);
        size_ += static_cast<Bytes>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

void FrameSpool::check() {
    const std::lock_guard lock(guards_failure_);
    if (!failure_.empty())
        throw Error(failure_);
}

} // namespace sextant::command
