// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/follow/follow.hpp"

#include "sextant/array/sample_offset.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/growing_frames.hpp"
#include "sextant/format/sequence.hpp"
#include "sextant/registration/live/live_registration.hpp"
#include "sextant/registration/series/checkpoint.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

namespace sextant::command {

namespace {

class Follower {
  public:
    explicit Follower(const FollowedSeries& series)
        : series_(series),
          name_(series.source.image),
          progress_(true),
          view_(series.choice.serve, name_) {}

    std::string run(const std::function<void(const std::string&)>& check) {
        if (is_stream(name_))
            open_spool();
        open();
        require_other_folder();
        check(name_);
        begin();
        while (!has_ended())
            step();
        progress_.clear();
        describe_end();
        view_.end(*live_, growing_->whole());
        report_dropped_clients();
        return name_;
    }

  private:
    /// Returns true if the spool is to be continued. After a run that failed during registration,
    /// the spool already contains all frames of the stream.
    bool continues() const {
        return registration::LiveLinks::exist(series_.output) &&
               !registration::Checkpoint::is_marked_failed(series_.output);
    }

    void open_spool() {
        const std::filesystem::path output = std::filesystem::path(series_.output) / "";
        const std::string beside = output.parent_path().string() + ".frames.raw";
        const std::string& chosen = series_.choice.spool;
        spool_ = std::make_unique<FrameSpool>(name_, chosen.empty() ? beside : chosen,
                                              continues() && !series_.registration.restart);
        const Bytes before = spool_->size_at_start();
        print_note(before > 0 ? fmt::format("frames are appended to the {} already in {}",
                                            report::bytes_to_text(static_cast<double>(before)),
                                            spool_->path())
                              : fmt::format("frames are stored in {}", spool_->path()));
        name_ = spool_->series();
    }

    Seconds idle() const {
        constexpr Seconds usual = 10;
        return series_.choice.idle.value_or(spool_ ? std::numeric_limits<double>::infinity()
                                                   : usual);
    }

    /// Returns true if a first frame may still be written: the file does not exist, or was modified
    /// recently.
    bool may_come() const {
        struct stat found {};
        const std::string path = name_.substr(0, name_.rfind("::"));
        if (stat(path.c_str(), &found) != 0 || S_ISDIR(found.st_mode))
            return true;
        const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
        return static_cast<Seconds>(now - found.st_mtim.tv_sec) < idle();
    }

    /// Waits for the first frame.
    void open() {
        constexpr auto pause = std::chrono::milliseconds(20);
        std::unique_ptr<format::GrowingFrames> growing;
        for (const Seconds begin = seconds_now(); !growing;) {
            const bool last = spool_ && spool_->ended();
            try {
                growing = format::GrowingFrames::open(name_, series_.source.options());
            } catch (const InvalidFile&) {
                if (spool_)
                    spool_->check();
                if (last || (!spool_ && !may_come()) || seconds_now() - begin >= idle())
                    throw;
                progress_.say("waiting for the first frame");
                std::this_thread::sleep_for(pause);
            }
        }
        growing_ = growing.get();
        recorded_ = growing->header();
        Centred centred = less_offset(std::move(growing), 0, OffsetFor::computation);
        offset_ = centred.offset;
        frames_ = std::move(centred.frames);
    }

    /// Refuses the folder of the frames as output folder, because provisional results could be
    /// mistaken for frames.
    void require_other_folder() const {
        const auto files = format::find_frame_files(name_);
        std::error_code unknown;
        const std::filesystem::path output(series_.output);
        if (files && std::filesystem::equivalent(
                         std::filesystem::absolute(files->paths.front()).parent_path(),
                         output.empty() ? "." : output, unknown))
            throw InvalidTask(
                fmt::format("--output {}: this folder holds the frames, expected another folder",
                            series_.output));
    }

    /// Prepares links, registration and view. Requires that the output folder exists.
    void begin() {
        const FrameHeader header = frames_->header();
        std::uint64_t detector = 0;
        if (const auto images = images_of(series_.detector, recorded_.shape); !images.empty()) {
            auto corrected = std::make_unique<registration::CorrectedFrames>(
                std::move(frames_), offset_, images, registration::Despike{.enabled = false});
            offset_ = corrected->offset();
            detector = corrected->detector_hash();
            frames_ = std::move(corrected);
        }
        const std::string conditions =
            registration::conditions_of_links(series_.registration, header, offset_, detector);
        links_.emplace(series_.output, conditions);
        live_.emplace(*frames_, series_.registration, *links_);
        view_.begin(series_.output, series_.format, name_, recorded_, offset_);
        looked_ = seconds_now();
    }

    std::int64_t taken() const { return std::ssize(live_->frames()); }
    std::int64_t behind() const { return growing_->whole() - taken(); }

    /// Reads a frame; if there is none, computes a link; if there is none, waits.
    void step() {
        constexpr auto pause = std::chrono::milliseconds(2);
        growing_->refresh();
        if (const auto remarks = growing_->take_remarks(); !remarks.empty()) {
            progress_.clear();
            print_warnings(remarks);
        }
        if (spool_)
            spool_->check();
        count_quiet_time();
        if (!take() && !link())
            std::this_thread::sleep_for(pause);
        show();
        report_dropped_clients();
        said_due_.run_if_due(.1, 0, [&] {
            progress_.say(fmt::format("following: {}, {} averaged{}",
                                      report::counted(taken(), "frame"), live_->averaged(),
                                      behind() > 1 ? fmt::format(", {} waiting", behind()) : ""));
        });
    }

    /// Adds up the time without a new frame. Each call adds at most a fraction of idle(): if the
    /// machine was suspended, the program that writes the series was suspended, too.
    void count_quiet_time() {
        constexpr double most = .1; // fraction of idle()
        const Seconds now = seconds_now();
        quiet_ += std::min(now - looked_, most * idle());
        looked_ = now;
        if (growing_->whole() > seen_) {
            seen_ = growing_->whole();
            quiet_ = 0;
        }
    }

    void report_dropped_clients() {
        const std::int64_t dropped = view_.newly_dropped();
        if (dropped == 0)
            return;
        progress_.clear();
        print_note(fmt::format("the page: {} disconnected for reading too slowly",
                               report::counted(dropped, "client")));
    }

    /// Updates the provisional results. If writing them fails, frames are still read, because the
    /// frames of a stream are stored nowhere else.
    void show() {
        std::string failure = links_->take_failure();
        try {
            view_.update(*live_, growing_->whole());
        } catch (const InvalidFile& failed) {
            failure = failed.what();
        }
        if (failure.empty() || !failures_.insert(failure).second)
            return;
        progress_.clear();
        print_warning(failure + "; frames are still read");
    }

    /// Reads the next frame. Returns false if there is none, or if it is not complete yet.
    bool take() {
        constexpr Seconds pause = .05;
        if (behind() < 1 || seconds_now() < again_)
            return false;
        try {
            view_.add(live_->take(behind() == 1));
            return true;
        } catch (const registration::UnusableFrame&) {
            again_ = seconds_now() + pause;
        } catch (const InvalidFile&) {
            again_ = seconds_now() + pause;
        }
        return false;
    }

    /// Computes a missing link. Returns false if none is missing, or if a frame cannot be read
    /// again: its link is left to the final run, and refresh() reports the change.
    bool link() {
        try {
            return live_->link();
        } catch (const registration::UnusableFrame&) {
        } catch (const InvalidFile&) {
        }
        return false;
    }

    bool has_ended() {
        if (spool_ && spool_->ended() && !growing_->refresh())
            return end_ = "the stream has ended", true;
        if (growing_->is_complete())
            return end_ = "all frames declared by the file have arrived", true;
        if (quiet_ >= idle())
            return end_ = fmt::format("no new frame for {:g} s", idle()), true;
        return false;
    }

    void describe_end() const {
        const auto all = format::open_frames(name_, series_.source.options());
        print_note(fmt::format(
            "{}: {} after {}; {} computed meanwhile", name_, end_,
            report::counted(all->header().frames, "frame"),
            report::counted(static_cast<std::int64_t>(links_->size()), "pairwise registration")));
        if (spool_)
            print_note(fmt::format("{}: {}", spool_->path(),
                                   report::bytes_to_text(static_cast<double>(spool_->size()))));
    }

    const FollowedSeries& series_;
    std::string name_; ///< name of the series that is read
    Progress progress_;
    std::unique_ptr<FrameSpool> spool_; ///< set for a stream
    std::unique_ptr<FrameSource> frames_;
    format::GrowingFrames* growing_ = nullptr; ///< owned by frames_
    FrameHeader recorded_;
    double offset_ = 0;
    std::optional<registration::LiveLinks> links_;
    std::optional<registration::LiveRegistration> live_;
    std::int64_t seen_ = 0; ///< number of frames at the last check
    Seconds looked_ = 0;    ///< time of the last check for frames
    Seconds quiet_ = 0;     ///< time without a new frame
    Seconds again_ = 0;     ///< time at which an incomplete frame is read again
    Pacer said_due_;
    std::set<std::string> failures_; ///< failures that were reported
    LiveView view_;
    std::string end_; ///< reason why the series ended
};

} // namespace

Record record_of(FollowChoice& choice) {
    Record record;
    record.add("follow", choice.follow,
               "process frames while they are written, then register the series");
    record
        .add("idle", choice.idle, "S",
             "with --follow: stop S seconds after the last frame [10; streams: never]")
        .between(.1, 1e6);
    record
        .add("spool", choice.spool, "FILE",
             "with --follow: store a stream's frames in FILE; default: DIR.frames.raw")
        .file();
    record.add("serve", choice.serve, "HOST:PORT",
               "with --follow: show the average and drift on a page at 127.0.0.1:PORT");
    return record;
}

std::string follow(const FollowedSeries& series,
                   const std::function<void(const std::string& name)>& check) {
    return Follower(series).run(check);
}

std::vector<std::string> live_files(const std::string& output, const std::string& format) {
    return LiveView::files(output, format);
}

} // namespace sextant::command
