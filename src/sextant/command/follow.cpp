// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/follow.hpp"

#include "sextant/command/frame_spool.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/growing_frames.hpp"
#include "sextant/registration/live_registration.hpp"
#include "sextant/report/live_page.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/registration_sections.hpp"
#include "sextant/report/text.hpp"
#include "sextant/serve/live_server.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <numbers>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

namespace sextant::command {

namespace {

Seconds seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// When to do something whose cost must stay a small part of the time.
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

/// The event with an image: shades of 8 bits in Base64, reduced to at most 1024 pixels per side.
/// Shades are clipped at quantiles of a part of the pixels.
std::string shades_of(const std::vector<float>& image, ImageShape shape) {
    constexpr Elements most = 1024;
    const Elements scale = (std::max(shape.width, shape.height) + most - 1) / most;
    const ImageShape small{(shape.width + scale - 1) / scale, (shape.height + scale - 1) / scale};
    std::vector<float> means(static_cast<std::size_t>(small.elements()));
    for (Elements y = 0; y < small.height; ++y) {
        for (Elements x = 0; x < small.width; ++x) {
            const Elements right = std::min((x + 1) * scale, shape.width),
                           bottom = std::min((y + 1) * scale, shape.height);
            float sum = 0;
            for (Elements v = y * scale; v < bottom; ++v) {
                for (Elements u = x * scale; u < right; ++u)
                    sum += image[static_cast<std::size_t>(v * shape.width + u)];
            }
            means[static_cast<std::size_t>(y * small.width + x)] =
                sum / static_cast<float>((right - x * scale) * (bottom - y * scale));
        }
    }
    constexpr std::size_t sampled = 1 << 14;
    std::vector<float> some;
    for (std::size_t i = 0; i < means.size(); i += std::max<std::size_t>(1, means.size() / sampled))
        some.push_back(means[i]);
    const auto quantile = [&](double share) {
        const auto at = some.begin() +
                        static_cast<std::ptrdiff_t>(share * static_cast<double>(some.size() - 1));
        std::ranges::nth_element(some, at);
        return *at;
    };
    const float dark = quantile(.003), bright = std::max(quantile(.997), dark + 1e-30F);
    std::vector<std::byte> grey(means.size());
    std::ranges::transform(means, grey.begin(), [&](float mean) {
        return static_cast<std::byte>(std::clamp((mean - dark) / (bright - dark), 0.F, 1.F) * 255);
    });
    return fmt::format(R"({{"width":{},"height":{},"grey":"{}"}})", small.width, small.height,
                       report::base64(grey));
}

class Follower {
  public:
    explicit Follower(const FollowedSeries& series)
        : series_(series), name_(series.source.image), progress_(true) {}

    std::string run(const std::function<void(const std::string&)>& check) {
        if (!series_.choice.serve.empty())
            open_server();
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
        if (server_)
            send_state(true);
        return name_;
    }

  private:
    std::string path_of(const std::string& name) const {
        return (std::filesystem::path(series_.output) / name).string();
    }

    void open_server() {
        const serve::Address address = serve::parse_address(series_.choice.serve);
        server_ = std::make_unique<serve::LiveServer>(address, report::live_page(name_));
        print_note("the page is at " + server_->url());
        if (!address.is_loopback())
            print_note("the page can be read from other machines, by everyone who has its URL");
    }

    bool continues() const { return registration::LiveLinks::exist(series_.output); }

    void open_spool() {
        const std::filesystem::path output = std::filesystem::path(series_.output) / "";
        const std::string beside = output.parent_path().string() + ".frames.raw";
        const std::string& chosen = series_.choice.spool;
        spool_ = std::make_unique<FrameSpool>(name_, chosen.empty() ? beside : chosen,
                                              continues() && !series_.registration.restart);
        print_note(spool_->size() > 0
                       ? fmt::format("frames are added to the {} in {}",
                                     report::bytes_to_text(static_cast<double>(spool_->size())),
                                     spool_->path())
                       : fmt::format("frames are kept in {}", spool_->path()));
        name_ = spool_->series();
    }

    Seconds idle() const {
        constexpr Seconds usual = 10;
        return series_.choice.idle.value_or(spool_ ? std::numeric_limits<double>::infinity()
                                                   : usual);
    }

    /// True if a first frame may still come: the file is missing, or was just written.
    bool may_come() const {
        constexpr Seconds recent = 2;
        struct stat found {};
        const std::string path = name_.substr(0, name_.rfind("::"));
        if (stat(path.c_str(), &found) != 0 || S_ISDIR(found.st_mode))
            return true;
        const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
        return static_cast<Seconds>(now - found.st_mtim.tv_sec) < recent;
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
        Centred centred = less_offset(std::move(growing), 0);
        offset_ = centred.offset;
        frames_ = std::move(centred.frames);
    }

    /// Provisional results must not be taken for frames.
    void require_other_folder() const {
        const auto files = format::find_frame_files(name_);
        std::error_code unknown;
        const std::filesystem::path output(series_.output);
        if (files && std::filesystem::equivalent(
                         std::filesystem::absolute(files->paths.front()).parent_path(),
                         output.empty() ? "." : output, unknown))
            throw InvalidTask(fmt::format("--output {}: is the folder of the frames, expected "
                                          "another one",
                                          series_.output));
    }

    /// The output folder is there.
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
        last_frame_ = seconds_now();
    }

    std::int64_t taken() const { return std::ssize(live_->frames()); }
    std::int64_t behind() const { return growing_->whole() - taken(); }

    /// Takes a frame, or else makes a link, or else waits.
    void step() {
        constexpr auto pause = std::chrono::milliseconds(2);
        growing_->refresh();
        if (const auto remarks = growing_->take_remarks(); !remarks.empty()) {
            progress_.clear();
            print_warnings(remarks);
        }
        if (spool_)
            spool_->check();
        if (growing_->whole() > seen_) {
            seen_ = growing_->whole();
            last_frame_ = seconds_now();
        }
        if (behind() > 0 && take())
            ++fresh_;
        else if (!live_->link())
            std::this_thread::sleep_for(pause);
        send();
        write_files();
        said_due_.run_if_due(.1, 0, [&] {
            progress_.say(fmt::format("following: {}, {} averaged{}",
                                      report::counted(taken(), "frame"), live_->averaged(),
                                      behind() > 1 ? fmt::format(", {} behind", behind()) : ""));
        });
    }

    /// Returns false if the last frame is not whole yet.
    bool take() {
        try {
            const registration::LiveFrame& frame = live_->take(behind() == 1);
            if (server_)
                server_->add("frames", fmt::format("[{},{:.3f},{:.3f},{:.4f},{}]", frame.frame,
                                                   frame.motion.tx, frame.motion.ty,
                                                   frame.motion.alpha * 180 / std::numbers::pi,
                                                   Json(frame.flag).text(-1)));
            return true;
        } catch (const registration::UnusableFrame&) {
            return false;
        } catch (const InvalidFile&) {
            return false;
        }
    }

    bool has_ended() {
        if (spool_ && spool_->ended() && !growing_->refresh())
            return end_ = "the stream has ended", true;
        if (growing_->is_complete())
            return end_ = "all frames that the file states are there", true;
        if (seconds_now() - last_frame_ >= idle())
            return end_ = fmt::format("no new frame for {:g} s", idle()), true;
        return false;
    }

    void describe_end() const {
        const auto all = format::open_frames(name_, series_.source.options());
        print_note(fmt::format("{}: {} after {}; {} made meanwhile", name_, end_,
                               report::counted(all->header().frames, "frame"),
                               report::counted(static_cast<std::int64_t>(links_->size()), "link")));
        if (spool_)
            print_note(fmt::format("{}: {}", spool_->path(),
                                   report::bytes_to_text(static_cast<double>(spool_->size()))));
    }

    void write_files() {
        if (fresh_ == 0)
            return;
        files_due_.run_if_due(2, 20, [&] {
            fresh_ = 0;
            write_average();
            write_motions();
            write_file(path_of("live.html"), page());
        });
    }

    /// Sends what has changed to the clients of the page: when it falls behind, less often.
    void send() {
        if (!server_ || server_->clients() == 0 || sent_ == taken())
            return;
        events_due_.run_if_due(.02, behind() > 1 ? 10 : 1, [&] {
            sent_ = taken();
            server_->set("average", shades_of(live_->average(), recorded_.shape));
            send_state(false);
        });
        if (const std::int64_t dropped = server_->dropped(); dropped > dropped_) {
            progress_.clear();
            print_note(fmt::format("the page: {} disconnected, because it was too slow",
                                   report::counted(dropped - dropped_, "client")));
            dropped_ = dropped;
        }
    }

    void send_state(bool ended) {
        server_->set("state", Json{{"frames", growing_->whole()},
                                   {"taken", taken()},
                                   {"averaged", live_->averaged()},
                                   {"behind", behind()},
                                   {"ended", ended}}
                                  .text(-1));
    }

    /// A page for the output folder, which does not change while it is open.
    std::string page() const {
        report::Page page;
        page.title = name_;
        page.subtitle =
            fmt::format("provisional, after {} of {} frames", taken(), growing_->whole());
        constexpr Elements most_pixels = 256; // frames wait while the picture is compressed
        Overview overview(recorded_.shape, most_pixels);
        overview.add(0, live_->average());
        page.picture = {overview.png(), "the provisional average",
                        fmt::format("{} averaged", report::counted(live_->averaged(), "frame"))};
        std::vector<report::RegisteredFrame> rows;
        for (const registration::LiveFrame& frame : live_->frames()) {
            report::RegisteredFrame row;
            row.frame = frame.frame;
            row.x = frame.motion.tx;
            row.y = frame.motion.ty;
            row.angle = frame.motion.alpha * 180 / std::numbers::pi;
            row.ncc_after = frame.ncc;
            row.left_out = frame.flag;
            rows.push_back(std::move(row));
        }
        page.sections.push_back(report::drift_section(rows, live_->reference(), ""));
        return report::render(page);
    }

    void write_average() {
        FrameHeader header;
        header.frames = 1;
        header.shape = recorded_.shape;
        header.pixel = recorded_.pixel;
        const std::string path = path_of("live-average." + series_.format);
        header.sample = sample_with_offset(path, offset_);
        const auto sink = format::create_frames(path, header);
        write_with_offset(*sink, live_->average(), offset_);
        sink->commit();
    }

    void write_motions() {
        AtomicFile file(path_of("live-motions.csv"));
        file.write("# provisional motions to the first usable frame: pixels, degrees\n"
                   "frame,tx,ty,alpha,ncc,flag\n");
        for (const registration::LiveFrame& frame : live_->frames())
            file.write(fmt::format("{},{:.3f},{:.3f},{:.4f},{:.4f},\"{}\"\n", frame.frame,
                                   frame.motion.tx, frame.motion.ty,
                                   frame.motion.alpha * 180 / std::numbers::pi, frame.ncc,
                                   frame.flag));
        file.commit();
    }

    const FollowedSeries& series_;
    std::string name_; ///< of the series that is read
    Progress progress_;
    std::unique_ptr<FrameSpool> spool_; ///< of a stream
    std::unique_ptr<FrameSource> frames_;
    format::GrowingFrames* growing_ = nullptr; ///< within frames_
    FrameHeader recorded_;
    double offset_ = 0;
    std::optional<registration::LiveLinks> links_;
    std::optional<registration::LiveRegistration> live_;
    std::int64_t seen_ = 0;  ///< frames that were there
    std::int64_t fresh_ = 0; ///< frames taken since files were written
    Seconds last_frame_ = 0; ///< when a frame was last found
    Pacer files_due_, said_due_;
    std::unique_ptr<serve::LiveServer> server_;
    std::int64_t sent_ = 0; ///< frames in the average that was sent last
    std::int64_t dropped_ = 0;
    Pacer events_due_;
    std::string end_; ///< why the series ended
};

} // namespace

Record record_of(FollowChoice& choice) {
    Record record;
    record.add("follow", choice.follow,
               "take frames while they are written, then register the series");
    record
        .add("idle", choice.idle, "S",
             "with --follow: end S s after the last frame [10; streams: never]")
        .between(.1, 1e6);
    record.add("spool", choice.spool, "FILE", "with --follow: keep the frames of a stream in FILE")
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
    const std::filesystem::path folder(output);
    return {(folder / ("live-average." + format)).string(), (folder / "live-motions.csv").string(),
            (folder / "live.html").string()};
}

} // namespace sextant::command
