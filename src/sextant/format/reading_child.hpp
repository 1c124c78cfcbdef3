// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"
#include "sextant/core/frame_source.hpp"
#include "sextant/format/read_apart.hpp"

#include <span>
#include <string>

#include <sys/types.h>

namespace sextant::format {

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
