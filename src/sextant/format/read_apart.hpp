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

/// Sources call this function before each piece of work, with the number of bytes to decode. It
/// restarts the time limit.
using Pace = std::function<void(Bytes ahead)>;

/// The position of an array in a file, if it is stored in C order with exactly the bytes that
/// ArraySource::read() returns.
struct StoredSamples {
    Bytes first = -1; ///< position of the first sample; -1 if samples are not stored in this way
    std::uint64_t device = 0, inode = 0; ///< of the file
};

/// A source of frames.
struct OpenedFrames {
    std::unique_ptr<FrameSource> source;
    StoredSamples stored = {};              ///< of the array of which `source` is a view
    std::vector<std::string> referred = {}; ///< other files from which samples are read
};

/// Opens a source. The child process that reads the source calls this function.
using Opening = std::function<OpenedFrames(const Pace& pace)>;

/// Opens and reads a source, and the array of which it is a view, in a separate process, for
/// libraries that may crash or hang on damaged files. The process is a fork that only reads the
/// source, and ends when this process ends.
///
/// Throws    InvalidFile as the source does. Also throws InvalidFile, such as "damaged: reading
///           frame 3 ended with signal 11", if the child ends or exceeds the CPU time limit of a
///           piece of work: `patience`, plus the same time per GiB to decode. A new child can then
///           read other frames, until three children have ended.
/// Cost      one process, which ends with the source, and one more copy of each sample, in memory
///           that both processes share. If the position of samples in the file is known, this
///           process reads them directly, unless another program is writing the file.
/// Requires  that no other thread holds a lock that the child needs. The library must therefore be
///           used only through such sources.
OpenedFrames read_apart(const std::string& path, const Opening& open, Seconds patience = 60);

/// The exception if a child ends before it answers: "ended with signal 11 (Segmentation fault)".
class ReadingEnded : public Error {
  public:
    using Error::Error;
};

/// Memory that a process shares with its forked children.
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

/// A child process that opens a source and answers read requests through a socket. The process ends
/// when this object is destroyed or its parent ends.
class ReadingChild {
  public:
    /// Forks a child that opens the source. Throws InvalidFile if the source cannot be opened or no
    /// child can be started, and ReadingEnded if the child ends.
    ReadingChild(const std::string& path, const Opening& open, Seconds patience);

    /// The header of the source, its axes in the array, and the header of the array.
    const FrameHeader& header() const { return header_; }
    const FrameAxes& axes() const { return axes_; }
    const ArrayHeader& array() const { return array_; }
    /// The other properties of the source; `source` itself is null.
    const OpenedFrames& opened() const { return opened_; }
    /// Reads a block of the array that has at most `shared_bytes`. Returns its samples, which are
    /// valid until the next request. Throws InvalidFile as the source does, and ReadingEnded if the
    /// child ends.
    std::span<const std::byte> read(const ArrayBlock& block);

    static constexpr Bytes shared_bytes = Bytes{4} << 20;

  private:
    void require_answer();
    [[noreturn]] void ended();

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

} // namespace sextant::format
