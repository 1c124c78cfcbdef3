// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/core/units.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>

#include <sys/types.h>

namespace sextant::format {

/// Called by a source before each piece of its work, with the bytes that it decodes next: the time
/// for the piece before is over, that for the next begins.
using Pace = std::function<void(Bytes ahead)>;

/// How a source is opened, in the process that is to read it.
using Opening = std::function<std::unique_ptr<FrameSource>(const Pace& pace)>;

/// A source that a process of its own opens and reads: for libraries that damaged files can make
/// crash or go round for ever. The child is a fork of this process, which does nothing but that and
/// ends with it, however it ends.
///
/// Throws    InvalidFile as the source does; and where the child ends, or computes longer than
///           `patience`, and as long again for each GiB, for an answer or a piece of it: "damaged:
///           reading frame 3 ended with signal 11". The frames beside can still be read, by another
///           child, until three have ended.
/// Cost      a process, and each sample is copied once more.
/// Requires  that nothing the child needs is held by another thread: a library that is used by such
///           sources only.
std::unique_ptr<FrameSource> read_apart(const std::string& path, const Opening& open,
                                        Seconds patience = 60);

/// A child that ended before it had answered: "ended with signal 11 (Segmentation fault)".
class ReadingEnded : public Error {
  public:
    using Error::Error;
};

/// A process that opens a source and reads from it what it is asked for, through a socket. It ends
/// with this object, and where its parent ends.
class ReadingChild {
  public:
    /// Forks, and has it open the source. Throws InvalidFile as opening does, ReadingEnded, and
    /// InvalidFile where there can be no child.
    ReadingChild(const std::string& path, const Opening& open, Seconds patience);
    ReadingChild(const ReadingChild&) = delete;
    ReadingChild& operator=(const ReadingChild&) = delete;
    ~ReadingChild();

    /// Of the source that it opened.
    const FrameHeader& header() const { return header_; }
    /// Throws InvalidFile as the source does, and ReadingEnded.
    void read(std::int64_t frame, Rows rows, std::span<std::byte> to);

  private:
    void end();
    void send(std::span<const std::byte> bytes);
    void receive(std::span<std::byte> bytes);
    std::string receive_text();
    void receive_header();
    void require_answer();
    [[noreturn]] void ended();

    std::string path_;
    Seconds patience_;
    FrameHeader header_;
    int socket_ = -1;
    pid_t id_ = -1;
};

} // namespace sextant::format
