// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/array/sample_offset.hpp"
#include "sextant/command/follow/follow.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/pages/overview.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/registration_sections.hpp"
#include "sextant/report/text.hpp"

#include <filesystem>
#include <iterator>
#include <numbers>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

constexpr double degrees = 180 / std::numbers::pi;

/// Returns the event with an image: 8-bit grey values in Base64, reduced to at most 1024 pixels per
/// side. Grey values are clipped at quantiles that are estimated from a sample of the pixels.
std::string shades_of(const std::vector<float>& image, ImageShape shape) {
    constexpr Elements most = 1024;
    constexpr std::size_t sampled = 1 << 14;
    Overview small(shape, most);
    small.add(0, image);
    const std::vector<double> means = small.means();
    std::vector<double> some;
    for (std::size_t i = 0; i < means.size(); i += std::max<std::size_t>(1, means.size() / sampled))
        some.push_back(means[i]);
    const Interval range = grey_range(std::move(some));
    std::vector<std::byte> grey(means.size());
    std::ranges::transform(means, grey.begin(), [&](double mean) {
        return static_cast<std::byte>(grey_pixel(mean, range).r * 255);
    });
    return fmt::format(R"({{"width":{},"height":{},"grey":"{}"}})", small.shape().width,
                       small.shape().height, report::base64(grey));
}

/// Quotes a text as a CSV field.
std::string quoted_field(const std::string& text) {
    std::string quoted = "\"";
    for (const char letter : text)
        quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return quoted + "\"";
}

} // namespace

LiveView::LiveView(const std::string& address, const std::string& series) {
    if (address.empty())
        return;
    const serve::Address parsed = serve::parse_address(address);
    server_ = std::make_unique<serve::LiveServer>(parsed, report::live_page(series));
    print_note("the page is at " + server_->url());
    if (!parsed.is_loopback())
        print_note("the page can be read from other machines, by everyone who has its URL");
}

void LiveView::begin(std::string output, std::string format, std::string name, FrameHeader series,
                     double offset) {
    output_ = std::move(output);
    format_ = std::move(format);
    name_ = std::move(name);
    series_ = std::move(series);
    offset_ = offset;
}

void LiveView::add(const registration::LiveFrame& frame) {
    if (server_)
        server_->add("frames",
                     fmt::format("[{},{:.3f},{:.3f},{:.4f},{}]", frame.frame, frame.motion.tx,
                                 frame.motion.ty, frame.motion.alpha * degrees,
                                 Json(frame.flag).text(-1)));
}

void LiveView::update(const registration::LiveRegistration& live, std::int64_t whole) {
    const std::int64_t taken = std::ssize(live.frames());
    if (server_ && server_->clients() > 0 && sent_ != taken)
        events_due_.run_if_due(.02, whole > taken + 1 ? 10 : 1, [&] {
            sent_ = taken;
            server_->set("average", shades_of(live.average(), series_.shape));
            send_state(live, whole, false);
        });
    if (written_ != taken)
        files_due_.run_if_due(2, 20, [&] {
            written_ = taken;
            write_average(live);
            write_motions(live);
            write_file(files(output_, format_)[2], page(live, whole));
        });
}

void LiveView::end(const registration::LiveRegistration& live, std::int64_t whole) {
    if (server_)
        send_state(live, whole, true);
}

std::int64_t LiveView::newly_dropped() {
    const std::int64_t before = dropped_;
    if (server_)
        dropped_ = server_->dropped();
    return dropped_ - before;
}

std::vector<std::string> LiveView::files(const std::string& output, const std::string& format) {
    const std::filesystem::path folder(output);
    return {(folder / ("live-average." + format)).string(), (folder / "live-motions.csv").string(),
            (folder / "live.html").string()};
}

void LiveView::send_state(const registration::LiveRegistration& live, std::int64_t whole,
                          bool ended) {
    const std::int64_t taken = std::ssize(live.frames());
    server_->set("state", Json{{"frames", whole},
                               {"taken", taken},
                               {"averaged", live.averaged()},
                               {"behind", whole - taken},
                               {"ended", ended}}
                              .text(-1));
}

/// Returns a static page for the output folder.
std::string LiveView::page(const registration::LiveRegistration& live, std::int64_t whole) const {
    report::Page page;
    page.title = name_;
    page.subtitle = fmt::format("provisional, after {} of {} frames", live.frames().size(), whole);
    constexpr Elements most_pixels = 256; // compressing the image delays the reading of frames
    Overview overview(series_.shape, most_pixels);
    overview.add(0, live.average());
    page.picture = {overview.png(), "the provisional average",
                    fmt::format("{} averaged", report::counted(live.averaged(), "frame"))};
    std::vector<report::RegisteredFrame> rows;
    for (const registration::LiveFrame& frame : live.frames()) {
        report::RegisteredFrame row;
        row.frame = frame.frame;
        row.x = frame.motion.tx;
        row.y = frame.motion.ty;
        row.angle = frame.motion.alpha * degrees;
        row.ncc_after = frame.ncc;
        row.left_out = frame.flag;
        rows.push_back(std::move(row));
    }
    page.shown = {report::drift_section(rows, live.reference(), "")};
    page.sections = {report::rotation_section(rows)};
    return report::render(page);
}

void LiveView::write_average(const registration::LiveRegistration& live) const {
    FrameHeader header;
    header.frames = 1;
    header.shape = series_.shape;
    header.pixel = series_.pixel;
    const std::string path = files(output_, format_)[0];
    header.sample = computed_sample(path, series_.sample, offset_);
    const auto sink = format::create_frames(path, header);
    std::vector<float> sums;
    const float added = offset_added(header.sample, series_.sample, offset_);
    write_scaled(*sink, sum_of(live.average(), added, sums), offset_);
    sink->commit();
}

void LiveView::write_motions(const registration::LiveRegistration& live) const {
    AtomicFile file(files(output_, format_)[1]);
    file.write("# provisional motions to the first usable frame: pixels, degrees\n"
               "frame,tx_px,ty_px,alpha_deg,ncc,flag\n");
    for (const registration::LiveFrame& frame : live.frames())
        file.write(fmt::format("{},{:.3f},{:.3f},{:.4f},{:.4f},{}\n", frame.frame, frame.motion.tx,
                               frame.motion.ty, frame.motion.alpha * degrees, frame.ncc,
                               quoted_field(frame.flag)));
    file.commit();
}

} // namespace sextant::command
