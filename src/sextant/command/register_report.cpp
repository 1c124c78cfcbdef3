// SPDX-License-Identifier: BSD-3-Clause
// The page of `sextant register --report`.

#include "sextant/comm/provenance.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/register.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/format/png.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/registration_sections.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

std::vector<FrameRegistration> registered(const RegisterSummary& summary) {
    std::vector<FrameRegistration> places = summary.transforms.frames;
    std::erase_if(places, [](const FrameRegistration& place) { return !place.left_out.empty(); });
    return places;
}

std::ptrdiff_t registered_count(const RegisterSummary& summary) {
    const std::vector<FrameRegistration>& frames = summary.transforms.frames;
    return std::count_if(frames.begin(), frames.end(),
                         [](const FrameRegistration& frame) { return frame.left_out.empty(); });
}

template <class Of>
double median_of(const std::vector<FrameRegistration>& places, const Of& of) {
    std::vector<double> values;
    std::transform(places.begin(), places.end(), std::back_inserter(values), of);
    return median(values);
}

/// The largest distance, in pixels, of a frame's centre from that of the reference.
double farthest(const std::vector<FrameRegistration>& places) {
    double most = 0;
    for (const FrameRegistration& place : places)
        most = std::max(most, std::hypot(place.result.motion.tx, place.result.motion.ty));
    return most;
}

double deviation_of(const FrameRegistration& place) {
    return place.field ? place.field->sigma : place.result.uncertainty.tx;
}

std::ptrdiff_t flagged(const std::vector<FrameRegistration>& places) {
    return std::count_if(places.begin(), places.end(),
                         [](const FrameRegistration& place) { return !flags_of(place).empty(); });
}

} // namespace

std::string to_text(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    const std::vector<FrameRegistration> places = registered(summary);
    std::string text = fmt::format(
        "{}: {} of {} of {}x{} registered to frame {}, {}, in {}, on {} of {}\n", transforms.series,
        places.size(), report::counted(std::ssize(transforms.frames), "frame"),
        transforms.shape.width, transforms.shape.height, transforms.reference, transforms.model,
        report::counted(transforms.stages, "stage"), report::counted(summary.ranks, "rank"),
        summary.transport);
    if (summary.team > 1)
        text.insert(text.size() - 1, fmt::format(", {} threads each", summary.team));
    const double pixels = farthest(places);
    text += fmt::format("displaced by up to {:.2f} px", pixels);
    if (transforms.pixel.known())
        text += fmt::format(" ({:.4g} {})", pixels * transforms.pixel.x, transforms.pixel.unit);
    text +=
        fmt::format(", NCC {:.3f}, standard deviation of a shift {:.3f} px (medians), {} flagged\n",
                    median_of(places, [](const auto& p) { return p.result.ncc_after; }),
                    median_of(places, deviation_of), flagged(places));
    const auto& seconds = summary.result.seconds;
    text += fmt::format(
        "inspect {:.2f} s  register {:.2f} s  stages {:.2f} s  combine {:.2f} s  write {:.2f} s\n",
        seconds.inspection, seconds.registration, seconds.stages, seconds.average, seconds.writing);
    return text + fmt::format("{}\n", fmt::join(summary.files, "\n"));
}

std::string to_json(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    const std::vector<FrameRegistration> places = registered(summary);
    Json left_out = Json::array();
    for (const FrameRegistration& place : transforms.frames) {
        if (!place.left_out.empty())
            left_out.add({{"frame", place.frame}, {"why", place.left_out}});
    }
    Record record = {{"operation", "register"},           {"series", transforms.series},
                     {"output", summary.output},          {"width", transforms.shape.width},
                     {"height", transforms.shape.height}, {"frames", transforms.frames.size()},
                     {"registered", places.size()},       {"left_out", left_out},
                     {"flagged", flagged(places)}};
    record.include(record_of(summary.result))
        .include({{"model", transforms.model},
                  {"stages", transforms.stages},
                  {"ranks", summary.ranks},
                  {"team", summary.team},
                  {"transport", summary.transport}},
                 "reference")
        .add_result("files", summary.files)
        .include(provenance_of_run(summary.warnings));
    return sextant::to_json(record);
}

namespace {

using registration::Combined;

using registration::Work;

constexpr std::int64_t most_shown = 512; // pixels per side; frames are cropped, not reduced
constexpr double degrees = 180 / std::numbers::pi;

/// The part of a frame that is shown: its centre.
struct Part {
    explicit Part(ImageShape frame)
        : shape{std::min(frame.width, most_shown), std::min(frame.height, most_shown)},
          x((frame.width - shape.width) / 2),
          y((frame.height - shape.height) / 2) {}
    ImageShape shape;
    std::int64_t x, y;
};

/// The sample values to show as black and white; the few darkest and brightest pixels are clipped.
Interval contrast_of(const Combined& combined) {
    std::vector<double> values;
    for (std::size_t pixel = 0; pixel < combined.mean.size(); ++pixel) {
        if (combined.count[pixel] > 0)
            values.push_back(static_cast<double>(combined.mean[pixel]));
    }
    if (values.empty())
        return {0, 1};
    constexpr double beyond = .003;
    return {quantile(values, beyond), quantile(values, 1 - beyond)};
}

/// A part of a combined image as PNG, transparent at pixels without data.
std::vector<std::byte> png_of(const Combined& combined, ImageShape frame, const Interval& grey) {
    const Part part(frame);
    Image image(part.shape, rgba_f32);
    const auto pixels = image.pixels<RgbaF32>();
    const double range = std::max(grey.high - grey.low, 1e-30);
    for (std::int64_t y = 0; y < part.shape.height; ++y) {
        for (std::int64_t x = 0; x < part.shape.width; ++x) {
            const auto from = static_cast<std::size_t>((part.y + y) * frame.width + part.x + x);
            const double value = (static_cast<double>(combined.mean[from]) - grey.low) / range;
            const auto shade = static_cast<float>(std::clamp(value, 0., 1.));
            if (combined.count[from] > 0)
                pixels[static_cast<std::size_t>(y * part.shape.width + x)] = {shade, shade, shade,
                                                                              1};
        }
    }
    const std::string png = format::encode_png(image);
    const auto* bytes = reinterpret_cast<const std::byte*>(png.data());
    return {bytes, bytes + png.size()};
}

report::Section pictures_of(const RegisterSummary& summary) {
    const ImageShape frame = summary.transforms.shape;
    const ImageShape shown = Part(frame).shape;
    const Interval grey = contrast_of(summary.result.average);
    const std::string what = shown == frame
                                 ? fmt::format("{}x{} pixels", frame.width, frame.height)
                                 : fmt::format("the central {}x{} of {}x{} pixels", shown.width,
                                               shown.height, frame.width, frame.height);
    return report::before_after_section(
        {png_of(summary.result.recorded, frame, grey), png_of(summary.result.average, frame, grey),
         fmt::format(
             "{}, with the same grey scale: the mean of {} as recorded, and after registration.",
             what, report::counted(registered_count(summary), "frame")),
         "The average, before and after"});
}

report::RegisteredFrame shown_of(const FrameRegistration& place) {
    report::RegisteredFrame frame;
    frame.frame = place.frame;
    frame.left_out = place.left_out;
    if (!place.left_out.empty())
        return frame;
    const registration::RigidResult& result = place.result;
    frame.x = result.motion.tx;
    frame.y = result.motion.ty;
    frame.angle = result.motion.alpha * degrees;
    frame.sigma_x = result.uncertainty.tx;
    frame.sigma_y = result.uncertainty.ty;
    frame.sigma_angle = result.uncertainty.alpha * degrees;
    frame.ncc_before = result.ncc_before;
    frame.ncc_after = result.ncc_after;
    frame.sigma =
        place.field ? place.field->sigma : std::hypot(result.uncertainty.tx, result.uncertainty.ty);
    frame.flags = flags_of(place);
    return frame;
}

/// A kind of work in the chart, and the kinds of registration::Work that it includes.
struct WorkKind {
    std::string_view name;
    std::vector<Work> works;
};

const std::vector<WorkKind>& kinds() {
    static const std::vector<WorkKind> all = {
        {"to previous frames", {Work::link, Work::mended, Work::neighbour_field}},
        {"combined (⊙)", {Work::combined, Work::combined_field}},
        {"to the reference", {Work::turned}},
        {"to the average, or with displacement fields", {Work::averaged, Work::field}}};
    return all;
}

int kind_of(Work work) {
    const auto at = std::find_if(kinds().begin(), kinds().end(), [work](const WorkKind& kind) {
        return std::count(kind.works.begin(), kind.works.end(), work) > 0;
    });
    return static_cast<int>(at - kinds().begin());
}

std::string percent(double share) {
    return fmt::format("{:.0f} %", 100 * share);
}

/// The chart, with one bar per interval that is wide enough to be seen.
report::GanttChart gantt_of(const GatheredWork& work) {
    constexpr double units = 1000; // length of a lane
    report::GanttChart chart;
    chart.title = "Registrations";
    chart.subtitle = "blank: averaging, writing, or waiting for another rank";
    for (int rank = 0; rank < work.ranks; ++rank)
        chart.workers.push_back(fmt::format("rank {}", rank));
    for (const WorkKind& kind : kinds())
        chart.kinds.emplace_back(kind.name);
    Seconds duration = 0;
    for (const WorkBar& bar : work.bars)
        duration = std::max(duration, bar.end);
    for (const WorkBar& bar : put_together(work.bars, duration / units)) {
        const int kind = kind_of(bar.work);
        chart.bars.push_back(
            {bar.rank, kind, bar.begin, bar.end,
             fmt::format("rank {}: {} {}, {} starting at {}", bar.rank,
                         report::counted(bar.results, "registration"),
                         chart.kinds[static_cast<std::size_t>(kind)],
                         report::to_text(bar.end - bar.begin), report::to_text(bar.begin))});
    }
    return chart;
}

report::Section work_of(const GatheredWork& work) {
    report::GanttChart chart = gantt_of(work);
    if (chart.bars.empty())
        return {};
    if (const auto idle = work.idle(Work::link))
        chart.figures.push_back({percent(*idle), "idle while registering neighbouring frames"});
    if (const auto idle = work.idle(Work::combined))
        chart.figures.push_back({percent(*idle), "idle in the scan"});
    if (const auto idle = work.idle(Work::combined_field))
        chart.figures.push_back({percent(*idle), "idle in the scan of displacement fields"});
    std::string caption = "Registrations of each rank over time. During the scan (⊙), ranks are "
                          "partly idle: each waits for the results of preceding ranks.";
    if (work.clocks > 1)
        caption += fmt::format(" {}.", report::clocks_text(work.clocks, work.aligned));
    return {"Work of each rank", to_html(report::Figure{gantt(chart), caption})};
}

std::string pixel_of(const SeriesTransforms& transforms) {
    const PixelSize& pixel = transforms.pixel;
    if (!pixel.known())
        return "";
    return pixel.x == pixel.y ? fmt::format("{:.4g} {}", pixel.x, pixel.unit)
                              : fmt::format("{:.4g} x {:.4g} {}", pixel.x, pixel.y, pixel.unit);
}

std::vector<report::Fact> facts_of(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    std::vector<report::Fact> facts = {
        {"Series", fmt::format("{}: {} of {}x{} pixels", transforms.series,
                               report::counted(std::ssize(transforms.frames), "frame"),
                               transforms.shape.width, transforms.shape.height)},
        {"Registered",
         fmt::format("{} to frame {}, {}, in {}", registered_count(summary), transforms.reference,
                     transforms.model, report::counted(transforms.stages, "stage"))},
        {"Ranks", fmt::format("{} over {}", summary.ranks, summary.transport)}};
    if (const std::string pixel = pixel_of(transforms); !pixel.empty())
        facts.push_back({"A pixel", pixel});
    if (summary.result.resumed > 0)
        facts.push_back(
            {"Resumed", fmt::format("{} results of an earlier run", summary.result.resumed)});
    facts.push_back({"Machine", fmt::format("{}, {}", host(), date())});
    constexpr std::size_t most_warnings = 8; // the page also lists omitted frames below
    for (std::size_t i = 0; i < std::min(summary.warnings.size(), most_warnings); ++i)
        facts.push_back({"Warning", summary.warnings[i]});
    if (summary.warnings.size() > most_warnings)
        facts.push_back(
            {"Warnings", fmt::format("{} more", summary.warnings.size() - most_warnings)});
    return facts;
}

} // namespace

std::string to_page(const RegisterSummary& summary) {
    report::Page page;
    const SeriesTransforms& transforms = summary.transforms;
    const bool fields = transforms.fields.has_value();
    page.title = "Sextant: " + transforms.series;
    page.subtitle =
        fmt::format("{} registered", report::counted(registered_count(summary), "frame"));
    page.shown = {pictures_of(summary)};
    page.facts = facts_of(summary);
    const auto& seconds = summary.result.seconds;
    page.phases = {{"inspect", seconds.inspection},
                   {"register", seconds.registration},
                   {"stages", seconds.stages},
                   {"combine", seconds.average},
                   {"write", seconds.writing}};
    std::vector<report::RegisteredFrame> frames;
    std::transform(transforms.frames.begin(), transforms.frames.end(), std::back_inserter(frames),
                   shown_of);
    page.sections = {drift_section(frames, transforms.reference, pixel_of(transforms)),
                     likeness_section(frames, fields ? "with rigid motions only" : "as recorded"),
                     work_of(*summary.work)};
    page.next_steps = {{"Apply the same motions to another channel",
                        fmt::format("sextant apply {}/transforms.json channel.mrc -o aligned.tif",
                                    summary.output)},
                       {"All options", "sextant register --help"}};
    if (!fields)
        page.next_steps.push_back(
            {"Displacement fields, for frames that are distorted",
             fmt::format("sextant register {} -o fields --model nonrigid --report fields.html",
                         transforms.series)});
    return report::render(page);
}

} // namespace sextant::command
