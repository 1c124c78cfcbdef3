// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/core/units.hpp"
#include "sextant/registration/live/live_registration.hpp"
#include "sextant/serve/live_server.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace sextant::command {

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
