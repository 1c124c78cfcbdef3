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
    std::string spool;          ///< file for the frames of a stream; "": next to the output folder
    std::string serve;          ///< address of the page, such as "127.0.0.1:8080"; "": no page
};
/// Declares `--follow`, `--idle`, `--spool`, `--serve`.
Record record_of(FollowChoice& choice);

/// A series to follow, and the options for registering it.
struct FollowedSeries {
    SourceChoice source;
    FollowChoice choice;
    RegistrationOptions registration;
    DetectorFiles detector;
    std::string output; ///< the output folder, which exists once `check` has returned
    std::string format; ///< extension of image files
};

/// Follows a series until it ends: reads frames as they are written, and keeps a provisional
/// average (`live-average`), provisional motions (`live-motions.csv`) and a page (`live.html`) up
/// to date in the output folder; live_files() lists these files. If requested, also serves a page
/// with the average and the motions. Links between frames remain in the folder for the subsequent
/// registration.
///
/// Input     `check` is called when the first frame is available, with the name under which the
///           series can be registered; `check` checks the outputs.
/// Output    the name under which the series can be registered: its own name, or that of a stream's
///           spool.
/// Throws    InvalidFile, naming the file, if the series cannot be followed; InvalidTask.
std::string follow(const FollowedSeries& series,
                   const std::function<void(const std::string& name)>& check);

/// Returns the provisional files in the output folder, to be removed when the results are complete.
std::vector<std::string> live_files(const std::string& output, const std::string& format);

/// Returns true if a series is a stream of frames without a header, which can be read only once: a
/// FIFO or standard input (/dev/stdin). Its name includes the layout of the frames:
/// "/dev/stdin::512x512,u16".
bool is_stream(const std::string& series);

/// Copies a stream of frames to a file on its own thread, so that the writer of the stream never
/// waits for registration.
class FrameSpool {
  public:
    /// Opens the stream `series` and creates the file. If `continues`, appends to an existing file,
    /// after removing an incomplete last frame. Throws InvalidFile if the stream cannot be opened,
    /// if the file exists without `continues`, or if the file cannot be written.
    FrameSpool(const std::string& series, std::string path, bool continues);
    /// Stops copying.
    ~FrameSpool();
    FrameSpool(const FrameSpool&) = delete;
    FrameSpool& operator=(const FrameSpool&) = delete;

    /// Returns the name under which the file can be opened as a series.
    std::string series() const { return path_ + "::" + layout_; }
    const std::string& path() const { return path_; }
    Bytes size() const { return size_; }
    Bytes size_at_start() const { return size_at_start_; }
    /// Returns true if the stream has ended and has been copied completely.
    bool ended() const { return ended_; }
    /// Throws Error if copying failed. The file then contains the complete frames copied so far.
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

/// Limits how often an action runs, so that it takes only a small fraction of the time.
class Pacer {
  public:
    /// Runs `body` unless the last run ended less than `least` seconds ago, or less than `factor`
    /// times its own duration ago.
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

/// Shows a series while it is registered: as files in the output folder, and on a served page.
class LiveView {
  public:
    /// Serves a page at this address; no page if the address is "". Throws InvalidTask.
    LiveView(const std::string& address, const std::string& series);

    /// Sets the folder and the format of files, the name and the header of the series, and the
    /// offset that was subtracted from its samples.
    void begin(std::string output, std::string format, std::string name, FrameHeader series,
               double offset);
    /// Shows a frame that was read.
    void add(const registration::LiveFrame& frame);
    /// Updates files and page if an update is due. Updates are less frequent if some of the `whole`
    /// available frames have not been read yet. Throws InvalidFile if a file cannot be written.
    void update(const registration::LiveRegistration& live, std::int64_t whole);
    /// Informs the clients of the page that the series has ended.
    void end(const registration::LiveRegistration& live, std::int64_t whole);

    /// Returns the number of clients that were disconnected since the last call because they were
    /// too slow.
    std::int64_t newly_dropped();

    /// Returns the files written to the output folder.
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
    std::int64_t written_ = 0, sent_ = 0; ///< frames at the last update
    std::int64_t dropped_ = 0;
    Pacer files_due_, events_due_;
};

} // namespace sextant::command
