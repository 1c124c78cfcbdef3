// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>

namespace sextant::command {

/// True if a series is a stream of frames without a header, which can be read only once: a FIFO or
/// standard input (/dev/stdin), with the layout of its frames as in "/dev/stdin::512x512,u16".
bool is_stream(const std::string& series);

/// Copies a stream of frames to a file, on a thread of its own, so that the program that writes the
/// stream never waits for the registration of frames.
class FrameSpool {
  public:
    /// Opens the stream `series` and creates the file, or appends to it if `continues`; an
    /// incomplete last frame is then removed. Throws InvalidFile if the stream cannot be opened,
    /// the file exists without `continues`, or it cannot be written.
    FrameSpool(const std::string& series, std::string path, bool continues);
    /// Stops copying.
    ~FrameSpool();
    FrameSpool(const FrameSpool&) = delete;
    FrameSpool& operator=(const FrameSpool&) = delete;

    /// The name of the series in the file.
    std::string series() const { return path_ + "::" + layout_; }
    const std::string& path() const { return path_; }
    Bytes size() const { return size_; }
    Bytes size_at_start() const { return size_at_start_; }
    /// True if the stream has ended and all of it is in the file.
    bool ended() const { return ended_; }
    /// Throws Error if copying failed. The file then has the whole frames that were copied.
    void check();

  private:
    void copy();
    void append(std::span<const std::byte> bytes);
    void fail(const std::string& why);
    std::int64_t drop_incomplete_frame();

    std::string stream_, layout_, path_;
    int in_ = -1, out_ = -1;
    std::atomic<Bytes> size_ = 0;
    Bytes size_at_start_ = 0;
    std::atomic<bool> ended_ = false, stops_ = false;
    std::mutex guards_failure_;
    std::string failure_; ///< empty unless copying failed
    std::thread thread_;
};

} // namespace sextant::command
