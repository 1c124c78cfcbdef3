// SPDX-License-Identifier: BSD-3-Clause
// The page of `sextant register --report`.

#include "sextant/command/options.hpp"
#include "sextant/command/pages/overview.hpp"
#include "sextant/command/register/register.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/pair/nonrigid.hpp"
#include "sextant/registration/transform/spectra.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/picture_sections.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/registration_sections.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

using registration::Combined;

using registration::Work;

/// Returns true if a frame is left out or has a flag.
bool has_remarks(const FrameRegistration& frame) {
    return !frame.left_out.empty() || !flags_of(frame).empty();
}

std::ptrdiff_t registered_count(const RegisterSummary& summary) {
    const std::vector<FrameRegistration>& frames = summary.transforms.frames;
    return std::count_if(frames.begin(), frames.end(),
                         [](const FrameRegistration& frame) { return frame.left_out.empty(); });
}

constexpr std::int64_t most_shown = 512; // pixels per side; images are cropped, not reduced
constexpr double degrees = 180 / std::numbers::pi;

using registration::PixelArea;

/// Returns the part of the result images to show, in pixels of the canvas: the whole canvas, or as
/// much of it as fits, centred on the reference if possible.
PixelArea shown_part(const SeriesTransforms& transforms) {
    const PixelArea canvas = transforms.area();
    const ImageShape shape{std::min(canvas.shape.width, most_shown),
                           std::min(canvas.shape.height, most_shown)};
    const auto first = [](std::int64_t begin, std::int64_t size, std::int64_t frame,
                          std::int64_t shown) {
        const std::int64_t around_centre = (frame - shown + (frame < shown ? -1 : 0)) / 2 - begin;
        return std::clamp<std::int64_t>(around_centre, 0, size - shown);
    };
    return {first(canvas.x, canvas.shape.width, transforms.shape.width, shape.width),
            first(canvas.y, canvas.shape.height, transforms.shape.height, shape.height), shape};
}

/// Returns a part of a combined image (mean and count). `part` is in pixels of the canvas.
Combined cut_out(const Combined& combined, const PixelArea& part, std::int64_t width) {
    Combined cut;
    for (std::int64_t y = part.y; y < part.y + part.shape.height; ++y) {
        const auto row = static_cast<std::ptrdiff_t>(y * width + part.x);
        cut.mean.insert(cut.mean.end(), combined.mean.begin() + row,
                        combined.mean.begin() + row + part.shape.width);
        cut.count.insert(cut.count.end(), combined.count.begin() + row,
                         combined.count.begin() + row + part.shape.width);
    }
    return cut;
}

Interval contrast_of(const Combined& combined) {
    std::vector<double> values;
    for (std::size_t pixel = 0; pixel < combined.mean.size(); ++pixel) {
        if (combined.count[pixel] > 0)
            values.push_back(static_cast<double>(combined.mean[pixel]));
    }
    return grey_range(values);
}

/// Encodes grey samples as PNG; NaNs are transparent.
template <class Samples>
std::vector<std::byte> png_of_samples(const Samples& samples, ImageShape shape,
                                      const Interval& grey) {
    Image image(shape, rgba_f32);
    const auto pixels = image.pixels<RgbaF32>();
    for (std::size_t pixel = 0; pixel < samples.size(); ++pixel) {
        if (!std::isnan(samples[pixel]))
            pixels[pixel] = grey_pixel(static_cast<double>(samples[pixel]), grey);
    }
    return png_of(image);
}

/// Encodes a part of a combined image as PNG; pixels without data are transparent.
std::vector<std::byte> png_of_part(const Combined& combined, const PixelArea& part,
                                   std::int64_t width, const Interval& grey) {
    const Combined cut = cut_out(combined, part, width);
    std::vector<float> shown = cut.mean;
    for (std::size_t pixel = 0; pixel < shown.size(); ++pixel) {
        if (cut.count[pixel] == 0)
            shown[pixel] = std::numeric_limits<float>::quiet_NaN();
    }
    return png_of_samples(shown, part.shape, grey);
}

/// Shows the animation of the aligned frames, if there is one.
report::Section movie_of(const RegisterSummary& summary) {
    if (summary.movie.empty())
        return {};
    const auto png = std::as_bytes(std::span(summary.movie));
    return {"The aligned frames",
            report::figure_of(
                fmt::format("<div class=\"picture\">{}</div>\n",
                            report::image_of(png, "the aligned frames, animated")),
                summary.per_picture == 1
                    ? "One picture per frame."
                    : fmt::format("Each picture is the mean of {} frames.", summary.per_picture))};
}

report::ScaleBar scale_of(const SeriesTransforms& transforms, std::int64_t width) {
    return report::scale_bar(static_cast<double>(width), transforms.pixel.x, transforms.pixel.unit);
}

report::Section pictures_of(const RegisterSummary& summary) {
    const ImageShape canvas = summary.transforms.area().shape;
    const PixelArea part = shown_part(summary.transforms);
    const ImageShape shown = part.shape;
    const Interval grey = contrast_of(summary.result.average);
    const bool central =
        summary.transforms.area() == registration::area_of(summary.transforms.shape);
    const std::string what =
        shown == canvas ? fmt::format("{}x{} pixels", canvas.width, canvas.height)
                        : fmt::format("the {}{}x{} of {}x{} pixels{}", central ? "central " : "",
                                      shown.width, shown.height, canvas.width, canvas.height,
                                      central ? "" : " around the centre of the reference");
    return report::before_after_section(
        {png_of_part(summary.result.recorded, part, canvas.width, grey),
         png_of_part(summary.result.average, part, canvas.width, grey),
         fmt::format(
             "{}, with the same grey scale: the mean of {} as recorded, and after registration.",
             what, report::counted(registered_count(summary), "frame")),
         "The average, before and after", scale_of(summary.transforms, shown.width)});
}

/// Shows the power spectra of the averages, with the same grey scale.
report::Section spectra_of(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    // The mean of the recorded frames has no data outside the reference.
    const PixelArea canvas = transforms.area();
    PixelArea part = common_area(canvas, registration::area_of(transforms.shape));
    if (part.shape.elements() == 0)
        part = canvas;
    const ImageShape shape = part.shape;
    if (std::min(shape.width, shape.height) < 2)
        return {};
    part = {part.x - canvas.x, part.y - canvas.y, shape};
    const auto spectrum_of = [&](const Combined& combined) {
        const Combined shown = cut_out(combined, part, canvas.shape.width);
        return registration::log_power_spectrum(shown.mean, shown.count, shape);
    };
    const auto before = spectrum_of(summary.result.recorded);
    const auto after = spectrum_of(summary.result.average);
    std::vector<double> values(after.values.begin(), after.values.end());
    constexpr double darkest = .3, brightest = .9995;
    const Interval grey{quantile(values, darkest), quantile(values, brightest)};
    const auto png = [&](const registration::PowerSpectrum& spectrum) {
        return png_of_samples(spectrum.values, {spectrum.side, spectrum.side}, grey);
    };
    std::string caption = fmt::format(
        "Logarithm of the power spectra of the central {0}x{0} pixels, with the same grey scale. "
        "Frequency 0 is in the centre, half a cycle per pixel at the border",
        after.side);
    if (transforms.pixel.known())
        caption +=
            fmt::format(" (a period of {:.3g} {})", 2 * transforms.pixel.x, transforms.pixel.unit);
    return report::side_by_side_section(
        {png(before), png(after),
         caption + ". Registration should raise spots and rings at high frequencies.",
         "Power spectra, before and after"});
}

/// Shows the pattern that was subtracted, reduced in size.
report::Section static_of(const RegisterSummary& summary) {
    if (!summary.result.static_pattern)
        return {};
    const registration::StaticPattern& pattern = *summary.result.static_pattern;
    Overview small(pattern.shape, most_shown);
    small.add(0, pattern.image());
    const std::vector<double> means = small.means();
    return report::picture_section({"Static pattern of the detector", "static",
                                    static_text(summary),
                                    png_of_samples(means, small.shape(), grey_range(means, .005))});
}

/// Shows the displacement field with the largest deviation, after subtracting the nearest rigid
/// motion.
report::Section field_of(const RegisterSummary& summary) {
    if (!summary.worst_field)
        return {};
    const registration::DisplacementField& field = summary.worst_field->field;
    const auto phi = [&](registration::Point x) { return apply(field, x); };
    const registration::RigidMotion rigid = registration::nearest_rigid(phi, field.image);
    constexpr Elements arrows_per_side = 20;
    const Elements step = std::max<Elements>(
        1,
        (std::max(field.nodes.width, field.nodes.height) + arrows_per_side - 1) / arrows_per_side);
    report::FieldPicture picture;
    picture.frame = summary.worst_field->frame;
    picture.width = static_cast<double>(field.image.width);
    picture.height = static_cast<double>(field.image.height);
    picture.spacing = static_cast<double>(step * field.spacing);
    for (Elements row = step / 2; row < field.nodes.height; row += step) {
        for (Elements column = step / 2; column < field.nodes.width; column += step) {
            const registration::Point at{static_cast<double>(column * field.spacing),
                                         static_cast<double>(row * field.spacing)};
            const registration::Point to = phi(at),
                                      by_rigid =
                                          apply(rigid, at, registration::centre(field.image));
            const auto node = static_cast<std::size_t>(row * field.nodes.width + column);
            picture.arrows.push_back({at.x, at.y, to.x - by_rigid.x, to.y - by_rigid.y,
                                      field.known.empty() || field.known[node] != 0});
        }
    }
    return report::field_section(picture);
}

/// Shows the displacements of rows: a summary for all frames, and the rows of the frame with the
/// largest jitter and drift.
report::Section rows_of(const RegisterSummary& summary) {
    report::ScannedRows rows;
    double most = -1;
    const registration::RowMotion* shown = nullptr;
    for (const FrameRegistration& frame : summary.transforms.frames) {
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        const RowFitSummary fit = frame.row_fit.value_or(RowFitSummary{none, none, none, none});
        rows.jitter.push_back(fit.jitter);
        rows.drift_x.push_back(fit.drift_x);
        rows.drift_y.push_back(fit.drift_y);
        const double size = std::hypot(fit.jitter, fit.drift_x, fit.drift_y);
        if (frame.rows && size > most) {
            most = size;
            shown = frame.rows.get();
            rows.frame = frame.frame;
        }
    }
    if (!shown)
        return {};
    rows.dx.assign(shown->dx.begin(), shown->dx.end());
    rows.dy.assign(shown->dy.begin(), shown->dy.end());
    rows.sigma.assign(shown->sigma.begin(), shown->sigma.end());
    return report::rows_section(rows);
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

/// Shows thumbnails of the frames that are flagged or left out.
report::Section frames_of(const RegisterSummary& summary) {
    const std::vector<FrameRegistration>& all = summary.transforms.frames;
    std::vector<report::PicturedFrame> pictured;
    for (const FrameThumbnail& thumbnail : summary.thumbnails) {
        const auto place = std::find_if(all.begin(), all.end(), [&](const auto& frame) {
            return frame.frame == thumbnail.frame;
        });
        if (place != all.end())
            pictured.push_back({shown_of(*place), thumbnail.png});
    }
    const auto noted = std::count_if(all.begin(), all.end(), has_remarks);
    return report::frames_section(pictured, noted - std::ssize(pictured));
}

/// A kind of work in the chart, and the values of registration::Work that it includes.
struct WorkKind {
    std::string_view name;
    std::vector<Work> works;
};

const std::vector<WorkKind>& kinds() {
    static const std::vector<WorkKind> all = {
        {"to previous frames", {Work::link, Work::mended, Work::neighbour_field}},
        {"combined (⊙)", {Work::combined, Work::combined_field}},
        {"to the reference", {Work::to_reference}},
        {"to the average, or with displacement fields",
         {Work::averaged, Work::field, Work::family, Work::station, Work::rows}}};
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

/// Returns the chart, with one bar per interval that is wide enough to be visible.
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

report::Section work_of(const GatheredWork& work, const RegistrationResult& result, int threads) {
    report::GanttChart chart = gantt_of(work);
    if (chart.bars.empty())
        return {};
    const bool whole_frames = result.thread_plan.whole_frames;
    if (const auto idle = work.idle(Work::link, whole_frames ? threads : 1))
        chart.figures.push_back({percent(*idle), "idle while registering neighbouring frames"});
    const registration::FrameThreadUse::Scan& scan = result.thread_use.scan;
    if (scan.applications > 0) {
        chart.figures.push_back(
            {percent(scan.idle / (threads * scan.seconds)), "idle in the scan (all threads)"});
        chart.figures.push_back(
            {fmt::format("{}", scan.stolen),
             "motions stolen in the scan: combined outside the equal block of their thread"});
    } else if (const auto idle = work.idle(Work::combined)) {
        chart.figures.push_back({percent(*idle), "idle in the scan"});
    }
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

report::Fact series_fact(const SeriesTransforms& transforms) {
    return {"Series", fmt::format("{}: {} of {}x{} pixels", transforms.series,
                                  report::counted(std::ssize(transforms.frames), "frame"),
                                  transforms.shape.width, transforms.shape.height)};
}

std::vector<report::Fact> facts_of(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    std::vector<report::Fact> facts;
    for (const std::string& advice : advice_of(summary))
        facts.push_back({"What to try", advice});
    const report::Fact others[] = {
        series_fact(transforms),
        {"Registered",
         fmt::format("{} to frame {}, {}, in {}", registered_count(summary), transforms.reference,
                     transforms.model, report::counted(transforms.stages, "stage"))},
        {"Motions are relative to", transforms.relative_to},
        {"Ranks", fmt::format("{} over {}", summary.ranks, summary.transport)}};
    facts.insert(facts.end(), std::begin(others), std::end(others));
    const auto add = [&](const char* name, std::string text) {
        if (!text.empty())
            facts.push_back({name, std::move(text)});
    };
    if (!summary.result.model_reason.empty())
        add("Model",
            fmt::format("{}, chosen because {}", transforms.model, summary.result.model_reason));
    add("Compared", matched_text(summary));
    add("Odd rows", bidirectional_text(summary.result));
    add("Rows", rows_text(summary.result));
    if (summary.team > 1)
        add("Threads", fmt::format("{} per rank, which {}", summary.team,
                                   describe_threads(summary.result, true)));
    add("Pixel size", pixel_of(transforms));
    if (summary.streaks.pixels > 0)
        add("Mean and median", fmt::format("differ by more than noise in {}, which suggests hot "
                                           "pixels: the median may be the better image",
                                           report::counted(summary.streaks.pixels, "pixel")));
    if (summary.result.resumed > 0)
        add("Resumed",
            fmt::format("{} results of an earlier run are reused", summary.result.resumed));
    const std::string resolution = resolution_text(summary);
    add("Resolution", resolution.substr(resolution.find(' ') + 1));
    constexpr std::size_t most_warnings = 8; // the page also lists the omitted frames below
    const auto shown = std::min(summary.warnings.size(), most_warnings);
    add_provenance(facts, {summary.warnings.begin(),
                           summary.warnings.begin() + static_cast<std::ptrdiff_t>(shown)});
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
    std::vector<report::RegisteredFrame> frames;
    std::transform(transforms.frames.begin(), transforms.frames.end(), std::back_inserter(frames),
                   shown_of);
    page.shown = {drift_section(frames, transforms.reference, pixel_of(transforms)),
                  pictures_of(summary), movie_of(summary)};
    page.facts = facts_of(summary);
    const auto& seconds = summary.result.seconds;
    page.phases = {{"inspect", seconds.inspection},
                   {"register", seconds.registration},
                   {"stages", seconds.stages},
                   {"combine", seconds.average},
                   {"write", seconds.writing}};
    page.sections = {
        rotation_section(frames),
        frames_of(summary),
        static_of(summary),
        spectra_of(summary),
        field_of(summary),
        rows_of(summary),
        report::resolution_section(summary.result.resolution.values, summary.result.resolution.side,
                                   registration::least_ring_correlation, resolution_text(summary)),
        likeness_section(frames, fields ? "with rigid motions only" : "as recorded"),
        work_of(*summary.work, summary.result, summary.team)};
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

std::string to_failure_page(const RegisterSummary& summary) {
    report::Page page;
    const SeriesTransforms& transforms = summary.transforms;
    page.title = "Sextant: " + transforms.series;
    page.subtitle = "too few frames could be registered";
    page.facts = {series_fact(transforms)};
    if (const std::string pixel = pixel_of(transforms); !pixel.empty())
        page.facts.push_back({"Pixel size", pixel});
    for (const std::string& advice : advice_on_failure(summary))
        page.facts.push_back({"What to try", advice});
    add_provenance(page.facts, summary.warnings);
    page.sections = {frames_of(summary)};
    page.next_steps = {
        {"Axes, channels and slices of the series", "sextant info " + transforms.series}};
    if (summary.evidence.rotated)
        page.next_steps.push_back(
            {"Search for rotated frames", fmt::format("sextant register {} -o {} --rotation 180",
                                                      transforms.series, summary.output)});
    return report::render(page);
}

std::vector<std::int64_t> frames_to_picture(const SeriesTransforms& transforms) {
    std::vector<FrameRegistration> all;
    std::ranges::copy_if(transforms.frames, std::back_inserter(all), has_remarks);
    std::ranges::stable_sort(all, std::greater<>(), [](const FrameRegistration& frame) {
        return frame.left_out.empty() ? flags_of(frame).size() : std::string::npos;
    });
    all.resize(std::min(all.size(), most_thumbnails));
    std::vector<std::int64_t> frames;
    for (const FrameRegistration& frame : all)
        frames.push_back(frame.frame);
    std::ranges::sort(frames);
    return frames;
}

std::vector<FrameThumbnail> thumbnails_of(FrameSource& series,
                                          std::span<const std::int64_t> frames) {
    constexpr Elements side = 96;
    constexpr double beyond = .01;
    const ImageShape shape = series.header().shape;
    std::vector<float> samples(static_cast<std::size_t>(shape.elements()));
    std::vector<FrameThumbnail> thumbnails;
    for (const std::int64_t frame : frames) {
        thumbnails.push_back({frame, {}});
        try {
            series.read_frame(frame, samples);
        } catch (const InvalidFile&) {
            continue; // the list of frames states the reason
        }
        Overview small(shape, side);
        small.add(0, samples);
        const std::vector<double> means = small.means();
        Interval grey = grey_range(means, beyond);
        if (grey.low >= grey.high) // a constant frame is drawn in grey
            grey = {grey.low - 1, grey.low + 1};
        thumbnails.back().png = png_of_samples(means, small.shape(), grey);
    }
    return thumbnails;
}

} // namespace sextant::command
