// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/series/detector_files.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/units.hpp"
#include "sextant/registration/live/live_registration.hpp"
#include "sextant/registration/series_registration.hpp"
#include "sextant/serve/live_server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace sextant::command {

/// Options for following a series that is still being recorded.
struct FollowChoice {
    bool follow = false;
    std::optional<double> idle; ///< seconds without a new frame after which the series ends
    std::string spool;          ///< file for the frames of a stream; "": next to the output
    std::string serve;          ///< address of the page, "127.0.0.1:8080"; "": none
};
/// Declares `--follow`, `--idle`, `--spool`, `--serve`.
Record record_of(FollowChoice& choice);

/// A series to follow, and how it will be registered.
struct FollowedSeries {
    SourceChoice source;
    FollowChoice choice;
    RegistrationOptions registration;
    DetectorFiles detector;
    std::string output; ///< an existing folder when `check` has returned
    std::string format; ///< extension of images
};

/// Takes the frames of a series as they are written, and keeps a provisional average
/// (`live-average`), motions (`live-motions.csv`) and a page (`live.html`) up to date in the output
/// folder, until the series ends. These files are those of live_files(). On request, serves a page
/// with the average and the motions. Links between frames remain in the folder, for the run that
/// follows.
///
/// Input     `check` is called when the first frame is there, with the name by which the series can
///           be registered: it checks the outputs.
/// Output    that name: the series itself, or the spool of a stream.
/// Throws    InvalidFile, naming the file, if the series cannot be followed; InvalidTask.
std::string follow(const FollowedSeries& series,
                   const std::function<void(const std::string& name)>& check);

/// The provisional files in the output folder, to be removed when the results are there.
std::vector<std::string> live_files(const std::string& output, const std::string& format);

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

inline Seconds seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Limits how often something is done, so that it takes a small part of the time.
class Pacer {
  public:
    /// `least` between two times, or `factor` times what the last one took.
    template <class Body>
    void run_if_due(Seconds least, double factor, const Body& body) {
        const Seconds begin = seconds_now();
        if (begin < last_ + std::max(least, factor * cost_))
            return;
        body();
        last_ = seconds_now();
        cost_ = last_ - begin;
    }

  private:
    Seconds last_ = 0, cost_ = 0;
};

/// Shows a series while it is registered: in files of the output folder, and on a page that is
/// served.
class LiveView {
  public:
    /// Serves a page at this address, unless it is "". Throws InvalidTask.
    LiveView(const std::string& address, const std::string& series);

    /// Sets where files are written, and the series and the offset of its samples.
    void begin(std::string output, std::string format, std::string name, FrameHeader series,
               double offset);
    /// Shows a frame that was taken.
    void add(const registration::LiveFrame& frame);
    /// Shows what is new, when it is due: if frames wait (of `whole` that are there), less often.
    /// Throws InvalidFile if a file cannot be written.
    void update(const registration::LiveRegistration& live, std::int64_t whole);
    /// Tells the clients of the page that the series has ended.
    void end(const registration::LiveRegistration& live, std::int64_t whole);

    /// The number of clients that were disconnected since the last call, because they were slow.
    std::int64_t newly_dropped();

    /// The files in the output folder.
    static std::vector<std::string> files(const std::string& output, const std::string& format);

  private:
    void send_state(const registration::LiveRegistration& live, std::int64_t whole, bool ended);
    void write_average(const registration::LiveRegistration& live) const;
    void write_motions(const registration::LiveRegistration& live) const;
    std::string page(const registration::LiveRegistration& live, std::int64_t whole) const;

    std::unique_ptr<serve::LiveServer> server_; ///< null if no page is served
    std::string output_, format_, name_;
    FrameHeader series_;
    double offset_ = 0;
    std::int64_t written_ = 0, sent_ = 0; ///< frames that were taken when the last were
    std::int64_t dropped_ = 0;
    Pacer files_due_, events_due_;
};

} // namespace sextant::command
