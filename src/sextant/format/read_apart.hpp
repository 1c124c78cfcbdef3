// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/child_process.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/units.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sextant::format {

/// Called by a source before each piece of work, with the number of bytes that it decodes next.
/// Restarts the time limit for the new piece.
using Pace = std::function<void(Bytes ahead)>;

/// The position in a file of frames that are stored one after another, with the bytes that
/// FrameSource::read_samples() gives.
struct StoredFrames {
    Bytes first = -1; ///< position of frame 0; -1 if frames are not stored like this
    std::uint64_t device = 0, inode = 0; ///< of the file
};

/// A source, and the lengths of the chunks of the array that its frames are planes of, if it has
/// any.
struct OpenedFrames {
    std::unique_ptr<FrameSource> source;
    std::vector<std::int64_t> chunk = {};
    StoredFrames stored = {};
    std::vector<std::string> referred = {}; ///< other files from which samples are read
};

/// Opens a source; called in the process that reads it.
using Opening = std::function<OpenedFrames(const Pace& pace)>;

/// Opens and reads a source in a separate process, for libraries that may crash or loop forever on
/// damaged files. The child is a fork of this process that only reads the source and ends when this
/// process does.
///
/// Throws    InvalidFile as the source does, and if the child ends or exceeds the CPU time limit of
///           a piece of work (`patience`, and the same time again per GiB to decode): "damaged:
///           reading frame 3 ended with signal 11". Other frames can still be read by a new child,
///           until three children have ended.
/// Cost      one process, and one more copy of each sample, in memory that both processes share.
///           The child ends with the source. Frames whose position in the file is known are read by
///           this process, unless another program is writing the file.
/// Requires  that no other thread holds a lock that the child needs. The library must therefore be
///           used only through such sources.
OpenedFrames read_apart(const std::string& path, const Opening& open, Seconds patience = 60);

/// Thrown if a child ends before it answers: "ended with signal 11 (Segmentation fault)".
class ReadingEnded : public Error {
  public:
    using Error::Error;
};

/// Memory that a process shares with the processes that it forks.
class SharedBytes {
  public:
    /// Throws std::system_error.
    explicit SharedBytes(std::size_t size);
    SharedBytes(const SharedBytes&) = delete;
    SharedBytes& operator=(const SharedBytes&) = delete;
    ~SharedBytes();

    std::span<std::byte> bytes() const { return bytes_; }

  private:
    std::span<std::byte> bytes_;
};

/// A process that opens a source and answers read requests through a socket. It ends when this
/// object is destroyed or its parent ends.
class ReadingChild {
  public:
    /// Forks a child that opens the source. Throws InvalidFile if the source cannot be opened or no
    /// child can be started, and ReadingEnded if the child ends.
    ReadingChild(const std::string& path, const Opening& open, Seconds patience);

    /// The header of the source.
    const FrameHeader& header() const { return header_; }
    /// Its other properties, without the source.
    const OpenedFrames& opened() const { return opened_; }
    /// Reads rows of a frame. Throws InvalidFile as the source does, and ReadingEnded if the child
    /// ends.
    void read(std::int64_t frame, Rows rows, std::span<std::byte> to);
    /// The number of whole frames that one request can read; 0 if a frame is too large.
    std::int64_t frames_at_once() const;
    /// Reads whole frames, at most `frames_at_once()`. Returns their samples, which are valid until
    /// the next request.
    std::span<const std::byte> read_frames(std::int64_t first, std::int64_t count);

  private:
    Bytes frame_bytes() const;
    void require_answer();
    [[noreturn]] void ended();

    std::string path_;
    Seconds patience_;
    FrameHeader header_;
    OpenedFrames opened_;
    SharedBytes shared_; ///< into which the child reads samples
    ChannelEnds channel_;
    ChildProcess process_;
};

} // namespace sextant::format
