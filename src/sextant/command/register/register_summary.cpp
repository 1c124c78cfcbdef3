// SPDX-License-Identifier: BSD-3-Clause
// The text and JSON output of `sextant register`.

#include "sextant/command/options.hpp"
#include "sextant/command/register/register.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/registration/series/stations.hpp"
#include "sextant/report/registration_sections.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

constexpr std::size_t most_warnings_of_a_kind = 5;

std::vector<FrameRegistration> registered(const RegisterSummary& summary) {
    std::vector<FrameRegistration> places = summary.transforms.frames;
    std::erase_if(places, [](const FrameRegistration& place) { return !place.left_out.empty(); });
    return places;
}

template <class Of>
double median_of(const std::vector<FrameRegistration>& places, const Of& of) {
    std::vector<double> values;
    std::transform(places.begin(), places.end(), std::back_inserter(values), of);
    return median(values);
}

/// Returns the largest distance, in pixels, between the centre of a frame and that of the
/// reference.
double farthest(const std::vector<FrameRegistration>& places) {
    double most = 0;
    for (const FrameRegistration& place : places)
        most = std::max(most, std::hypot(place.result.motion.tx, place.result.motion.ty));
    return most;
}

/// Returns the standard deviation of the position of a frame's centre.
double deviation_of(const FrameRegistration& place, ImageShape shape) {
    const double sigma = place.field ? place.field->sigma
                                     : registration::uncertainty_of_centre(place.result, shape).tx;
    return std::isfinite(sigma) ? sigma : HUGE_VAL;
}

std::ptrdiff_t flagged(const std::vector<FrameRegistration>& places) {
    return std::count_if(places.begin(), places.end(),
                         [](const FrameRegistration& place) { return !flags_of(place).empty(); });
}

/// Flags (or "left out"), each with the number of frames.
using Counts = std::vector<std::pair<std::string, std::int64_t>>;

/// Returns the flags of the frames, the most frequent first.
Counts counts_of(const std::vector<FrameRegistration>& places) {
    std::map<std::string, std::int64_t> counts;
    for (const FrameRegistration& place : places) {
        for (const std::string& flag : flags_of(place))
            ++counts[flag];
    }
    Counts sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return sorted;
}

std::string_view advice_for(std::string_view flag) {
    const auto flags = report::frame_flags();
    const auto found = std::ranges::find(flags, flag, &report::FrameFlag::name);
    return found == flags.end() ? "" : found->advice;
}

/// Returns the number of frames that are left out for this kind of reason.
std::int64_t omitted(const RegisterSummary& summary, Omission kind) {
    return std::ranges::count(summary.transforms.frames, kind, &FrameRegistration::omission);
}

/// Advice, and the number of frames that it concerns.
struct Advice {
    std::int64_t frames = 0;
    std::string text = {};
};

/// Returns advice for the most frequent flag, but for harmless flags only if there is no other.
Advice advice_on_flags(const Counts& counts) {
    const auto harmless = [](const auto& each) {
        return each.first == "gaps" ? 2 : each.first == "mended" ? 1 : 0;
    };
    const auto worst = std::ranges::min_element(counts, {}, harmless);
    if (worst == counts.end() || advice_for(worst->first).empty())
        return {};
    return {harmless(*worst) > 0 ? 0 : worst->second,
            fmt::format("{} frames: {}", worst->first, advice_for(worst->first))};
}

/// Returns advice that follows from evidence; "" if there is none.
std::string advice_on_evidence(const FrameEvidence& evidence) {
    if (evidence.rotated)
        return fmt::format("frame {} resembles frame {} if it is rotated by {:.0f} degrees: try "
                           "--rotation 180",
                           evidence.frame, evidence.rotated->other, evidence.rotated->degrees);
    if (evidence.noise)
        return fmt::format("frame {} shows hardly more than noise: register a channel with more "
                           "signal (--channel) and apply its motions to this one (sextant apply)",
                           evidence.frame);
    return "";
}

/// Returns advice for frames that are left out because they resemble no other frame.
Advice advice_on_unlike(const RegisterSummary& summary) {
    Advice advice{omitted(summary, Omission::unlike), advice_on_evidence(summary.evidence)};
    if (advice.frames == 0 || !advice.text.empty())
        return advice;
    advice.text = summary.transforms.model == name(MotionModel::nonrigid)
                      ? "frames are left out that overlap the reference too little for a "
                        "displacement field: try --model rigid, or --reference N"
                      : "frames are left out that resemble none of the others: record at shorter "
                        "intervals if neighbouring frames overlap by less than half";
    return advice;
}

/// Describes motions within frames that remain after registration, and what to try; "" if noise
/// explains them.
std::string misfit_text(const RegisterSummary& summary) {
    const RegistrationResult& result = summary.result;
    const registration::SeriesMisfit& misfit = result.misfit;
    if (!misfit.significant)
        return "";
    const std::string evidence =
        fmt::format("{:.0f} standard deviations above noise", misfit.deviations);
    if (misfit.of_rows)
        return fmt::format("rows still move relative to one another, by {:.2f} px (RMS of the "
                           "means of adjacent rows, {}): {}",
                           misfit.pixels, evidence,
                           result.rows ? "their jitter has not been removed completely"
                                       : "scan lines jitter, try --scan-rows");
    const bool most_general =
        result.model == MotionModel::affine || !result.model_reason.empty() || result.rows;
    return fmt::format("parts of frames still move relative to one another, by {:.2f} px (RMS, "
                       "{}): try {}",
                       misfit.pixels, evidence,
                       most_general ? "--model nonrigid"
                                    : "--model auto, or --scan-rows if rows are scanned slowly");
}

/// Returns advice if the averages of even and odd frames do not correlate; "" if they do.
std::string unresolved_text(const RegistrationResult& result) {
    if (result.resolution.values.empty() || result.resolution.resolved > 0)
        return "";
    return "the averages of even and odd frames do not correlate: frames are too noisy, or motions "
           "are wrong; compare frames in the aligned stack";
}

std::string closing_of(const RegisterSummary& summary,
                       const std::vector<FrameRegistration>& places) {
    const Counts counts = counts_of(places);
    const std::size_t left_out = summary.transforms.frames.size() - places.size();
    std::vector<std::string> flags;
    for (const auto& [flag, count] : counts)
        flags.push_back(fmt::format("{} {}", flag, count));
    const double sigma = median_of(places, [&](const FrameRegistration& place) {
        return deviation_of(place, summary.transforms.shape);
    });
    std::string text =
        fmt::format("{} used{}, {} left out, {} flagged{}; standard deviation of a position {}\n",
                    report::counted(std::ssize(places), "frame"),
                    summary.result.not_averaged > 0
                        ? fmt::format(", {} not averaged", summary.result.not_averaged)
                        : "",
                    left_out, flagged(places),
                    flags.empty() ? "" : fmt::format(" ({})", fmt::join(flags, ", ")),
                    std::isfinite(sigma) ? fmt::format("{:.3f} px (median)", sigma) : "unknown");
    if (const std::string resolution = resolution_text(summary); !resolution.empty())
        text += resolution + "\n";
    for (const std::string& advice : advice_of(summary))
        text += advice + "\n";
    if (summary.streaks.pixels > 0)
        text += fmt::format("mean and median differ by more than noise in {}, most at ({}, {}), "
                            "which suggests hot pixels: the median may be the better image\n",
                            report::counted(summary.streaks.pixels, "pixel"), summary.streaks.x,
                            summary.streaks.y);
    return text;
}

std::string inverted_text(const RegisterSummary& summary) {
    const RegistrationResult& result = summary.result;
    if (result.inverted == 0)
        return "";
    return fmt::format("{} of {} have the opposite contrast of frame {}; only --average weighted "
                       "inverts them in averages\n",
                       result.inverted, report::counted(std::ssize(registered(summary)), "frame"),
                       result.reference);
}

std::string gap_text(const AlignedStack& stack) {
    return std::isnan(stack.gap) ? "NaN" : fmt::format("{:g}", stack.gap);
}

std::string aligned_text(const RegisterSummary& summary) {
    const AlignedStack& stack = summary.aligned;
    if (stack.path.empty())
        return stack.omitted.empty() ? "" : stack.omitted + "\n";
    return fmt::format("aligned: {} of {}x{} {}, {} without data\n",
                       report::counted(stack.frames, "frame"), stack.area.shape.width,
                       stack.area.shape.height, name(stack.sample), gap_text(stack));
}

/// States the area of the result images if it differs from that of the reference; else "".
std::string canvas_text(const SeriesTransforms& transforms) {
    const registration::PixelArea canvas = transforms.area();
    if (canvas == registration::area_of(transforms.shape))
        return "";
    return fmt::format(
        "canvas: {}x{} pixels; the first pixel of all images is ({}, {}) of the reference\n",
        canvas.shape.width, canvas.shape.height, canvas.x, canvas.y);
}

Json aligned_json(const AlignedStack& stack) {
    if (stack.path.empty())
        return {};
    return Record{{"file", stack.path},
                  {"frames", stack.frames},
                  {"samples", name(stack.sample)},
                  {"gap", std::isnan(stack.gap) ? Json("NaN") : Json(stack.gap)}}
        .include(record_of_area(stack.area), "samples");
}

/// Returns a reason without its numbers, so that frames with the same problem have the same text.
std::string kind_of_reason(const std::string& reason) {
    std::string kind;
    for (const char letter : reason) {
        if (std::isdigit(static_cast<unsigned char>(letter)) == 0)
            kind += letter;
    }
    return kind;
}

} // namespace

double median_ncc(const std::vector<FrameRegistration>& frames) {
    std::vector<double> values;
    for (const FrameRegistration& frame : frames) {
        if (frame.left_out.empty())
            values.push_back(frame.result.ncc_after);
    }
    return median(values);
}

std::string frame_of_reference(const SeriesTransforms& transforms) {
    return transforms.stages > 1 ? fmt::format("the average of stage {}", transforms.stages - 1)
                                 : fmt::format("frame {}", transforms.reference);
}

std::vector<std::string> warnings_of_frames(const SeriesTransforms& transforms) {
    std::vector<std::pair<std::string, std::vector<const FrameRegistration*>>> kinds;
    for (const FrameRegistration& frame : transforms.frames) {
        if (frame.left_out.empty())
            continue;
        const std::string kind = kind_of_reason(frame.left_out);
        auto at = std::find_if(kinds.begin(), kinds.end(),
                               [&](const auto& each) { return each.first == kind; });
        if (at == kinds.end())
            at = kinds.insert(kinds.end(), {kind, {}});
        at->second.push_back(&frame);
    }
    std::vector<std::string> warnings;
    for (const auto& [kind, frames] : kinds) {
        const std::size_t shown = std::min(frames.size(), most_warnings_of_a_kind);
        for (std::size_t i = 0; i < shown; ++i)
            warnings.push_back(fmt::format("{}: frame {} is left out: {}", transforms.series,
                                           frames[i]->frame, frames[i]->left_out));
        if (frames.size() > shown)
            warnings.push_back(fmt::format("{}: … and {} more left out for the same reason",
                                           transforms.series, frames.size() - shown));
    }
    return warnings;
}

std::string resolution_text(const RegisterSummary& summary) {
    const registration::RingCorrelation& rings = summary.result.resolution;
    if (rings.values.empty())
        return "";
    const PixelSize& pixel = summary.transforms.pixel;
    const auto period = [&](double frequency) {
        return pixel.known() && pixel.x == pixel.y
                   ? fmt::format("{:.3g} px ({:.3g} {})", 1 / frequency, pixel.x / frequency,
                                 pixel.unit)
                   : fmt::format("{:.3g} px", 1 / frequency);
    };
    constexpr double nyquist = .5;
    std::string text =
        rings.resolved == 0 ? "resolution: none"
        : rings.resolved < nyquist
            ? fmt::format("resolution {}", period(rings.resolved))
            : fmt::format("resolution {}, the limit set by the pixels,", period(nyquist));
    text +=
        " from the Fourier ring correlation of the averages of even and odd frames (threshold 1/7)";
    if (rings.highest > 0)
        text += fmt::format("; lattice spots down to {}", period(rings.highest));
    return text;
}

std::string static_text(const RegisterSummary& summary) {
    const registration::StaticPattern* pattern = summary.result.static_pattern.get();
    if (!pattern)
        return "";
    std::vector<std::string> parts;
    if (pattern->deviation > 0)
        parts.push_back(fmt::format("a static pattern of the detector, with a standard "
                                    "deviation of {:.3g}, was subtracted from the frames",
                                    pattern->deviation));
    if (!pattern->constant.empty())
        parts.push_back(fmt::format("{} that never change became gaps",
                                    report::counted(std::ssize(pattern->constant), "pixel")));
    return fmt::format("{} (--static off prevents this)\n", fmt::join(parts, ", and "));
}

std::string matched_text(const RegisterSummary& summary) {
    const RegistrationResult& result = summary.result;
    const std::int64_t all = summary.transforms.shape.elements();
    if (result.matched_pixels == 0 || result.matched_pixels == all) // 0: not registered
        return "";
    const registration::PixelArea& area = result.matched;
    return fmt::format("{:.3g} % of the pixels, in {}x{} pixels at ({}, {})",
                       100 * static_cast<double>(result.matched_pixels) / static_cast<double>(all),
                       area.shape.width, area.shape.height, area.x, area.y);
}

std::string rows_text(const RegistrationResult& result) {
    if (!result.rows)
        return "";
    const RowFitSummary& rows = *result.rows;
    return fmt::format(
        "rows jitter by {:.2f} px and drift by ({:.2f}, {:.2f}) px within a frame "
        "(RMS); standard deviation of a row {:.3f} px{}",
        rows.jitter, rows.drift_x, rows.drift_y, rows.sigma,
        result.jitter_recognised ? "; this was recognised, and is corrected in all results" : "");
}

std::string bidirectional_text(const RegistrationResult& result) {
    if (!result.bidirectional)
        return "";
    const registration::RowShift& rows = *result.bidirectional;
    return fmt::format("odd rows are displaced by {:.2f}{} px, as in bidirectional scans; they are "
                       "aligned in all results",
                       rows.shift, rows.sigma > 0 ? fmt::format(" ± {:.2f}", rows.sigma) : "");
}

std::vector<std::string> advice_on_failure(const RegisterSummary& summary) {
    const std::vector<FrameRegistration>& frames = summary.transforms.frames;
    const Advice unlike = advice_on_unlike(summary);
    std::vector<std::string> all;
    if (unlike.frames > 0)
        all.push_back(unlike.text);
    const std::pair<Omission, std::string_view> others[] = {
        {Omission::unusable, "check the shutter, --channel and --slice: some frames are unusable"},
        {Omission::unreadable, "some frames cannot be read"}};
    for (const auto& [kind, text] : others) {
        const auto frame = std::ranges::find(frames, kind, &FrameRegistration::omission);
        if (frame != frames.end())
            all.insert(
                omitted(summary, kind) > unlike.frames ? all.begin() : all.end(),
                fmt::format("{}, such as frame {} ({})", text, frame->frame, frame->left_out));
    }
    if (unlike.frames > 0 && advice_on_evidence(summary.evidence).empty()) {
        if (!summary.result.flattened)
            all.emplace_back("if shading or contamination is stronger than the specimen, try "
                             "--flatten on");
        if (!summary.corrected)
            all.emplace_back("if the detector's fixed pattern is stronger than the specimen, try "
                             "--dark, --gain and --defects");
    }
    return all;
}

std::vector<std::string> advice_of(const RegisterSummary& summary) {
    Advice unlike = advice_on_unlike(summary),
           flags = advice_on_flags(counts_of(registered(summary)));
    if (unlike.frames == 0 && !unlike.text.empty()) // the evidence is about frames in doubt
        flags.text = std::exchange(unlike.text, "");
    const bool many = 2 * flags.frames >= std::ssize(summary.transforms.frames);
    std::vector<std::string> all = {unlike.text, unresolved_text(summary.result),
                                    misfit_text(summary), flags.text};
    if (many)
        std::rotate(all.begin() + (unlike.frames >= flags.frames), all.end() - 1, all.end());
    std::erase(all, "");
    return all;
}

std::string to_text(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    const std::vector<FrameRegistration> places = registered(summary);
    std::string text = fmt::format(
        "{}: {} of {} of {}x{} registered to frame {}, {}, in {}, on {}\n", transforms.series,
        places.size(), report::counted(std::ssize(transforms.frames), "frame"),
        transforms.shape.width, transforms.shape.height, transforms.reference, transforms.model,
        report::counted(transforms.stages, "stage"), ranks_text(summary.ranks, summary.transport));
    if (summary.team > 1)
        text.insert(text.size() - 1, fmt::format(", {} threads each, which {}", summary.team,
                                                 describe_threads(summary.result, false)));
    const double pixels = farthest(places);
    text += fmt::format("displaced by up to {:.2f} px", pixels);
    if (transforms.pixel.known())
        text += fmt::format(" ({:.4g} {})", pixels * transforms.pixel.x, transforms.pixel.unit);
    text += fmt::format(" relative to {}, NCC {} (median)\n", transforms.relative_to,
                        report::correlation_to_text(median_ncc(places)));
    if (!summary.result.reference_reason.empty())
        text += fmt::format("frame {} is the reference, because {}\n", transforms.reference,
                            summary.result.reference_reason);
    if (!summary.result.model_reason.empty())
        text += fmt::format("model {}: {}\n", transforms.model, summary.result.model_reason);
    text += static_text(summary);
    if (summary.result.flattened)
        text += "frames were registered without their large-scale shading\n";
    if (const std::string matched = matched_text(summary); !matched.empty())
        text += "compared: " + matched + "\n";
    if (const std::string rows = bidirectional_text(summary.result); !rows.empty())
        text += rows + "\n";
    if (summary.result.frames_per_sum > 0)
        text +=
            fmt::format("single frames have too little signal: sums of {} frames were registered "
                        "first, then each frame to the average\n",
                        summary.result.frames_per_sum);
    text += inverted_text(summary);
    if (const std::string rows = rows_text(summary.result); !rows.empty())
        text += rows + "\n";
    if (const std::int64_t columns = summary.result.flyback; columns > 0)
        text += fmt::format("the first {} of every frame are disturbed, for example by the flyback "
                            "of the scan, and have no weight\n",
                            report::counted(columns, "column"));
    text += canvas_text(transforms);
    text += aligned_text(summary);
    const auto& seconds = summary.result.seconds;
    text += fmt::format(
        "inspect {:.2f} s  register {:.2f} s  stages {:.2f} s  combine {:.2f} s  write {:.2f} s\n",
        seconds.inspection, seconds.registration, seconds.stages, seconds.average, seconds.writing);
    return text + fmt::format("{}\n", fmt::join(summary.files, "\n")) + closing_of(summary, places);
}

std::string to_json(const RegisterSummary& summary) {
    const SeriesTransforms& transforms = summary.transforms;
    const std::vector<FrameRegistration> places = registered(summary);
    Json left_out = Json::array();
    for (const FrameRegistration& place : transforms.frames) {
        if (!place.left_out.empty())
            left_out.add({{"frame", place.frame}, {"why", place.left_out}});
    }
    Json flags = Json::array();
    for (const auto& [flag, count] : counts_of(places))
        flags.add({{"flag", flag}, {"frames", count}});
    Record record = results_of("register");
    record
        .include({{"series", transforms.series},
                  {"output", summary.output},
                  {"width", transforms.shape.width},
                  {"height", transforms.shape.height},
                  {"frames", transforms.frames.size()},
                  {"registered", places.size()},
                  {"left_out", left_out},
                  {"flagged", flagged(places)},
                  {"flags", flags}})
        .include(record_of(summary.result))
        .include({{"relative_to", transforms.relative_to},
                  {"model", transforms.model},
                  {"stages", transforms.stages},
                  {"ranks", summary.ranks},
                  {"team", summary.team},
                  {"transport", summary.transport}},
                 "reference")
        .add_result("aligned", aligned_json(summary.aligned))
        .add_result("streak_pixels", summary.streaks.pixels)
        .add_result("largest_displacement", farthest(places))
        .add_result("advice", advice_of(summary))
        .add_result("files", summary.files)
        .include(provenance_of_run(summary.warnings));
    return sextant::to_json(record);
}

} // namespace sextant::command
