// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/registration_sections.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/report/charts.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::report {

std::span<const FrameFlag> frame_flags() {
    static constexpr FrameFlag all[] = {
        {"ambiguous", "another motion was nearly as likely, such as a jump by one lattice period",
         "record at shorter intervals or in a region with more amorphous material, or try "
         "--reference N"},
        {"mended", "disagreed with its neighbours; registered again, starting from their motion",
         "compare them with their neighbours in the aligned stack"},
        {"in-doubt", "neighbouring frames disagree about its motion",
         "compare them with their neighbours in the aligned stack, and average only correct ones "
         "(--frames LIST)"},
        {"static", "a static pattern of the detector seems to bias the motion towards zero",
         "try --dark, --gain or --defects, or --flatten on for a background; or record more frames "
         "while the specimen moves"},
        {"implausible",
         "the motion is outside the search range, or the NCC is lower than without it",
         "try --rotation 180 if they are rotated, --model auto if they are distorted, or record at "
         "shorter intervals"},
        {"unrelated", "no more similar to the reference than noise",
         "compare them with their neighbours in the aligned stack, and average only correct ones "
         "(--frames LIST)"},
        {"not-converged", "the search ended before it converged",
         "try --model nonrigid if frames are distorted"},
        {"gaps", "some samples are not finite, or in blank rows or columns; these have no weight",
         "nothing to do; samples that are not finite or in blank rows or columns have no weight"}};
    return all;
}

namespace {

constexpr std::size_t most_named = 12;   // maximum number of frames named in a line
constexpr std::size_t most_reasons = 20; // maximum number of left-out frames in the table

std::string_view meaning_of(std::string_view flag) {
    for (const FrameFlag& each : frame_flags()) {
        if (each.name == flag)
            return each.meaning;
    }
    return "";
}

using Of = std::function<double(const RegisteredFrame&)>;

/// Returns a value of each frame as a curve, with its standard deviation if one is given.
Curve curve(const std::string& name, std::span<const RegisteredFrame> frames, const Of& value,
            const Of& deviation = {}) {
    Curve made{name, {}};
    for (const RegisteredFrame& frame : frames) {
        const bool known = frame.left_out.empty();
        made.values.push_back(known ? value(frame) : std::numeric_limits<double>::quiet_NaN());
        if (deviation)
            made.deviations.push_back(known ? deviation(frame) : 0);
    }
    return made;
}

/// Returns the flagged frames by flag; frames that were left out come last.
std::vector<MarkedPlaces> marks_of(std::span<const RegisteredFrame> frames) {
    std::map<std::string, std::vector<std::int64_t>> flagged;
    MarkedPlaces left_out{"left out", {}};
    for (const RegisteredFrame& frame : frames) {
        for (const std::string& flag : frame.flags)
            flagged[flag].push_back(frame.frame);
        if (!frame.left_out.empty())
            left_out.places.push_back(frame.frame);
    }
    std::vector<MarkedPlaces> marks;
    for (auto& [flag, places] : flagged)
        marks.push_back({flag, std::move(places)});
    if (!left_out.places.empty())
        marks.push_back(std::move(left_out));
    return marks;
}

std::string listed(const std::vector<std::int64_t>& places) {
    std::string text;
    for (std::size_t i = 0; i < std::min(places.size(), most_named); ++i)
        text += fmt::format("{}{}", i > 0 ? ", " : "", places[i]);
    if (places.size() > most_named)
        text += fmt::format(" and {} more",
                            grouped(static_cast<std::int64_t>(places.size() - most_named)));
    return text;
}

std::string table_of(std::span<const RegisteredFrame> frames,
                     const std::vector<MarkedPlaces>& marks) {
    if (marks.empty())
        return "<p>No frame is flagged, and none was left out.</p>\n";
    Table table{{{"Flag", ""}, "Frames", {"Frame numbers and meaning of the flag", "words"}}};
    for (const MarkedPlaces& mark : marks) {
        const std::string_view meaning = meaning_of(mark.name);
        const std::string text =
            listed(mark.places) + (meaning.empty() ? "" : fmt::format(": {}", meaning));
        table.rows.push_back({escape(mark.name), grouped(std::ssize(mark.places)), escape(text)});
    }
    std::size_t said = 0;
    for (const RegisteredFrame& frame : frames) {
        if (!frame.left_out.empty() && said++ < most_reasons)
            table.rows.push_back(
                {fmt::format("frame {}", frame.frame), "", escape("left out: " + frame.left_out)});
    }
    return to_html(table);
}

double farthest(std::span<const RegisteredFrame> frames) {
    double most = 0;
    for (const RegisteredFrame& frame : frames) {
        if (frame.left_out.empty())
            most = std::max(most, std::hypot(frame.x, frame.y));
    }
    return most;
}

/// Returns a chart for pages and one for phones; the style sheet of the page shows one of them.
std::string chart_of(const CurveChart& chart) {
    return figure_of(fmt::format("<div class=\"drawing page-wide\" tabindex=\"0\">\n{}</div>\n"
                                 "<div class=\"drawing phone-wide\">\n{}</div>\n",
                                 curves(chart), curves(chart, ChartWidth::phone)),
                     "");
}

} // namespace

Section drift_section(std::span<const RegisteredFrame> frames, std::int64_t reference,
                      const std::string& pixel) {
    CurveChart drift{"Shift of the content",
                     fmt::format("motion relative to frame {}, to the right (x) and downward (y); "
                                 "bands: one standard deviation",
                                 reference),
                     "frame", "px"};
    drift.curves = {curve("x", frames, &RegisteredFrame::x, &RegisteredFrame::sigma_x),
                    curve("y", frames, &RegisteredFrame::y, &RegisteredFrame::sigma_y)};
    drift.marks = marks_of(frames);
    drift.figures = {{fmt::format("{:.2f} px", farthest(frames)), "at most"}};
    if (!pixel.empty())
        drift.figures.push_back({pixel, "per pixel"});
    return {"Drift", chart_of(drift)};
}

Section rotation_section(std::span<const RegisteredFrame> frames) {
    CurveChart turn{"Rotation", "clockwise, about the centre of the frame", "frame", "degrees"};
    turn.curves = {curve("angle", frames, &RegisteredFrame::angle, &RegisteredFrame::sigma_angle)};
    return {"Rotation and flags", chart_of(turn) + table_of(frames, marks_of(frames))};
}

namespace {

/// Returns the fraction of a frame's variance that no multiple of the reference explains.
double residual(double ncc) {
    return 1 - ncc * ncc;
}

KeyFigure median_of(const Curve& curve, bool is_correlation) {
    std::vector<double> values;
    std::copy_if(curve.values.begin(), curve.values.end(), std::back_inserter(values),
                 [](double value) { return std::isfinite(value); });
    if (values.empty())
        return {"no value", curve.name};
    const double value = median(values);
    return {is_correlation ? correlation_to_text(value) : fmt::format("{:.3g}", value),
            curve.name + " (median)"};
}

std::string chart(CurveChart chart) {
    for (const Curve& each : chart.curves)
        chart.figures.push_back(median_of(each, chart.are_correlations));
    return chart_of(chart);
}

} // namespace

Section likeness_section(std::span<const RegisteredFrame> frames, const std::string& before) {
    CurveChart ncc{"Correlation",
                   "normalised cross-correlation (NCC) of filtered frames with their references",
                   "frame", ""};
    ncc.are_correlations = true;
    ncc.curves = {curve("registered", frames, &RegisteredFrame::ncc_after),
                  curve(before, frames, &RegisteredFrame::ncc_before)};
    CurveChart rest{
        "Residual",
        "fraction of variance that the matched frame does not explain: noise and residual motion",
        "frame", ""};
    rest.curves = {
        curve("registered", frames, [](const auto& frame) { return residual(frame.ncc_after); }),
        curve(before, frames, [](const auto& frame) { return residual(frame.ncc_before); })};
    CurveChart sigma{"Uncertainty", "standard deviation of a frame's motion", "frame", "px"};
    sigma.curves = {curve("deviation", frames, &RegisteredFrame::sigma)};
    return {"Quality of the registration", chart(ncc) + chart(rest) + chart(sigma)};
}

Section resolution_section(std::span<const double> values, std::int64_t side, double threshold,
                           const std::string& text) {
    if (values.empty())
        return {};
    CurveChart rings{fmt::format("Fourier ring correlation, by cycles per {} pixels", side), text,
                     "cycles", ""};
    rings.curves = {{"every second frame", {values.begin(), values.end()}},
                    {"threshold 1/7", std::vector<double>(values.size(), threshold)}};
    return {"Resolution of the average", chart_of(rings)};
}

Section rows_section(const ScannedRows& rows) {
    if (rows.jitter.empty())
        return {};
    CurveChart frames{"Jitter and drift",
                      "RMS jitter of rows, and drift from the first row of a frame to the last",
                      "frame", "px"};
    frames.curves = {{"jitter", rows.jitter}, {"drift x", rows.drift_x}, {"drift y", rows.drift_y}};
    CurveChart one{fmt::format("Rows of frame {}", rows.frame),
                   "displacements to the right (x) and downward (y); band: one standard deviation",
                   "row", "px"};
    one.curves = {{"x", rows.dx, rows.sigma}, {"y", rows.dy}};
    return {"Motion within frames", chart_of(frames) + chart_of(one)};
}

namespace {

std::string remarks_on(const RegisteredFrame& frame) {
    if (!frame.left_out.empty())
        return escape("left out: " + frame.left_out);
    const std::string text = escape(fmt::format("{}", fmt::join(frame.flags, ", ")));
    return fmt::format("<p>{}</p><p>x {:.2f}, y {:.2f} ± {:.2g} px, NCC {}</p>", text, frame.x,
                       frame.y, frame.sigma, correlation_to_text(frame.ncc_after));
}

} // namespace

Section frames_section(std::span<const PicturedFrame> frames, std::int64_t others) {
    if (frames.empty())
        return {};
    std::string html = "<table class=\"frames\">\n<thead><tr><th scope=\"col\">Frame</th><th "
                       "scope=\"col\">As recorded</th><th scope=\"col\">Remarks</th></tr></thead>"
                       "\n<tbody>\n";
    for (const auto& [frame, png] : frames)
        html +=
            fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n", frame.frame,
                        png.empty() ? "" : image_of(png, fmt::format("frame {}", frame.frame)),
                        remarks_on(frame));
    html += "</tbody>\n</table>\n";
    if (others > 0)
        html += fmt::format("<p>{} more are flagged or left out.</p>\n", grouped(others));
    return {"Flagged and omitted frames", html};
}

namespace {

/// Returns the largest of 1, 2 or 5 times a power of ten that is at most `number`.
double round_down(double number) {
    const double power = std::pow(10, std::floor(std::log10(number)));
    const double rest = number / power;
    return power * (rest >= 5 ? 5 : rest >= 2 ? 2 : 1);
}

} // namespace

Section field_section(const FieldPicture& field) {
    if (!(field.width > 0 && field.height > 0 && field.spacing > 0))
        throw std::logic_error("a displacement field without a size");
    double longest = 0;
    for (const FieldArrow& arrow : field.arrows) {
        if (arrow.known)
            longest = std::max(longest, std::hypot(arrow.dx, arrow.dy));
    }
    const double factor = longest > 0 ? round_down(1.5 * field.spacing / longest) : 1;
    constexpr double width = 480; // of the drawing; arrows are visible on a phone
    const double zoom = width / field.width;
    const auto place = [zoom](double pixels) { return pixels * zoom; };
    std::string known, extrapolated;
    for (const FieldArrow& arrow : field.arrows) {
        const double x = place(arrow.x), y = place(arrow.y);
        const double dx = place(arrow.dx * factor), dy = place(arrow.dy * factor);
        // The arrowhead consists of two strokes from the tip, at 30 degrees to the shaft.
        const double cosine = .866 * .35, sine = .5 * .35;
        (arrow.known ? known : extrapolated) +=
            fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}m{:.1f} {:.1f}L{:.1f} {:.1f}l{:.1f} {:.1f}", x,
                        y, dx, dy, -cosine * dx + sine * dy, -cosine * dy - sine * dx, x + dx,
                        y + dy, -cosine * dx - sine * dy, -cosine * dy + sine * dx);
    }
    const double height = place(field.height);
    const std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"field\" role=\"img\" viewBox=\"-8 -8 "
        "{:.0f} {:.0f}\">\n<title>Displacement field of frame {}</title>\n<rect width=\"{:.1f}\" "
        "height=\"{:.1f}\"/>\n<path class=\"unknown\" d=\"{}\"/>\n<path d=\"{}\"/>\n</svg>\n",
        width + 16, height + 16, field.frame, width, height, extrapolated, known);
    return {"Displacement field",
            figure_of(svg, fmt::format("Frame {}, whose field has the largest standard deviation: "
                                       "displacement beyond the nearest rigid motion, at most "
                                       "{:.2f} px, with arrows {:g} times as long. Grey arrows are "
                                       "extrapolated.",
                                       field.frame, longest, factor))};
}

} // namespace sextant::report
