// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/registration_sections.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/report/assets.hpp"
#include "sextant/report/curves.hpp"
#include "sextant/report/page.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr std::size_t most_named = 12;   // maximum number of frames named in a line
constexpr std::size_t most_reasons = 20; // maximum number of left-out frames in the table

/// Explains a flag to users.
std::string_view meaning_of(std::string_view flag) {
    struct Meaning {
        std::string_view flag, text;
    };
    constexpr Meaning all[] = {
        {"ambiguous",
         "another motion was nearly as likely, for example one lattice period further"},
        {"unrelated", "the correlation is no higher than that of noise"},
        {"not-converged", "the search ended before it converged"},
        {"mended", "the frame disagreed with its neighbours and was registered again, starting "
                   "from their motion"},
        {"in-doubt", "neighbouring frames disagree about the motion of the frame"},
        {"gaps", "some samples are not finite"}};
    for (const Meaning& meaning : all) {
        if (meaning.flag == flag)
            return meaning.text;
    }
    return "";
}

Curve curve(const std::string& name, std::span<const RegisteredFrame> frames,
            double RegisteredFrame::*value, double RegisteredFrame::*deviation) {
    Curve made{name, {}, {}};
    for (const RegisteredFrame& frame : frames) {
        const bool known = frame.left_out.empty();
        made.values.push_back(known ? frame.*value : std::numeric_limits<double>::quiet_NaN());
        made.deviations.push_back(known ? frame.*deviation : 0);
    }
    return made;
}

/// Returns the flagged frames by flag; those left out come last.
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

std::string row(const std::string& name, const std::string& count, const std::string& text) {
    return fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td "
                       "class=\"words\">{}</td></tr>\n",
                       escape(name), count, escape(text));
}

std::string table(std::span<const RegisteredFrame> frames, const std::vector<MarkedPlaces>& marks) {
    if (marks.empty())
        return "<p>No frame is flagged, and none was left out.</p>\n";
    std::string html =
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Flag</th><th "
        "scope=\"col\" class=\"number\">Frames</th><th scope=\"col\" "
        "class=\"words\">Frame numbers and meaning of the flag</th></tr></thead>\n<tbody>\n";
    for (const MarkedPlaces& mark : marks) {
        const std::string_view meaning = meaning_of(mark.name);
        html += row(mark.name, grouped(std::ssize(mark.places)),
                    listed(mark.places) + (meaning.empty() ? "" : fmt::format(": {}", meaning)));
    }
    std::size_t said = 0;
    for (const RegisteredFrame& frame : frames) {
        if (!frame.left_out.empty() && said++ < most_reasons)
            html += row(fmt::format("frame {}", frame.frame), "", "left out: " + frame.left_out);
    }
    return html + "</tbody>\n</table></div>\n";
}

double farthest(std::span<const RegisteredFrame> frames) {
    double most = 0;
    for (const RegisteredFrame& frame : frames) {
        if (frame.left_out.empty())
            most = std::max(most, std::hypot(frame.x, frame.y));
    }
    return most;
}

} // namespace

Section drift_section(std::span<const RegisteredFrame> frames, std::int64_t reference,
                      const std::string& pixel) {
    const std::vector<MarkedPlaces> marks = marks_of(frames);
    CurveChart drift{"Drift",
                     fmt::format("motion relative to frame {}, to the right (x) and downward (y); "
                                 "bands: one standard deviation",
                                 reference),
                     "frame", "px"};
    drift.curves = {curve("x", frames, &RegisteredFrame::x, &RegisteredFrame::sigma_x),
                    curve("y", frames, &RegisteredFrame::y, &RegisteredFrame::sigma_y)};
    drift.marks = marks;
    drift.figures = {{fmt::format("{:.2f} px", farthest(frames)), "at most"}};
    if (!pixel.empty())
        drift.figures.push_back({pixel, "per pixel"});
    CurveChart turn{"Rotation", "clockwise, about the centre of the frame", "frame", "degrees"};
    turn.curves = {curve("angle", frames, &RegisteredFrame::angle, &RegisteredFrame::sigma_angle)};
    return {"Motion of the frames", to_html(Figure{curves(drift), ""}) +
                                        to_html(Figure{curves(turn), ""}) + table(frames, marks)};
}

namespace {

using Of = std::function<double(const RegisteredFrame&)>;

/// Returns the fraction of a frame's variance that no multiple of the reference explains.
double residual(double ncc) {
    return 1 - ncc * ncc;
}

Curve curve(const std::string& name, std::span<const RegisteredFrame> frames, const Of& of) {
    Curve made{name, {}};
    for (const RegisteredFrame& frame : frames) {
        made.values.push_back(frame.left_out.empty() ? of(frame)
                                                     : std::numeric_limits<double>::quiet_NaN());
    }
    return made;
}

KeyFigure median_of(const Curve& curve) {
    std::vector<double> values;
    std::copy_if(curve.values.begin(), curve.values.end(), std::back_inserter(values),
                 [](double value) { return std::isfinite(value); });
    if (values.empty())
        return {"no value", curve.name};
    return {fmt::format("{:.3g}", median(values)), curve.name + " (median)"};
}

std::string chart(CurveChart chart) {
    for (const Curve& each : chart.curves)
        chart.figures.push_back(median_of(each));
    return to_html(Figure{curves(chart), ""});
}

} // namespace

Section likeness_section(std::span<const RegisteredFrame> frames, const std::string& before) {
    CurveChart ncc{"Correlation",
                   "NCC of filtered frames with the frames that they were registered to", "frame",
                   ""};
    ncc.curves = {curve("registered", frames, [](const auto& frame) { return frame.ncc_after; }),
                  curve(before, frames, [](const auto& frame) { return frame.ncc_before; })};
    CurveChart rest{
        "Residual",
        "fraction of variance that the matched frame does not explain: noise and residual motion",
        "frame", ""};
    rest.curves = {
        curve("registered", frames, [](const auto& frame) { return residual(frame.ncc_after); }),
        curve(before, frames, [](const auto& frame) { return residual(frame.ncc_before); })};
    CurveChart sigma{"Uncertainty", "standard deviation of a frame's motion", "frame", "px"};
    sigma.curves = {curve("deviation", frames, [](const auto& frame) { return frame.sigma; })};
    return {"Quality of the registration", chart(ncc) + chart(rest) + chart(sigma)};
}

namespace {

std::string picture(std::string_view name, const std::vector<std::byte>& png) {
    const PngSize size = png_size(png);
    return fmt::format("<div class=\"{0}\"><img width=\"{1}\" height=\"{2}\" alt=\"{0}\" "
                       "src=\"data:image/png;base64,{3}\"/><span>{0}</span></div>\n",
                       name, size.width, size.height, base64(png));
}

} // namespace

Section before_after_section(const BeforeAfter& pictures) {
    return {pictures.title,
            "<figure class=\"compare\">\n<div class=\"both\">\n" +
                picture("after", pictures.after) + picture("before", pictures.before) +
                "</div>\n<div class=\"controls\"><label class=\"wide\">before<input type=\"range\" "
                "min=\"0\" max=\"100\" value=\"50\" aria-label=\"Visible part of the image before "
                "registration, in percent\"/>after</label></div>\n" +
                fmt::format("<figcaption>{}</figcaption>\n</figure>\n", escape(pictures.caption)),
            assets::slider_js};
}

} // namespace sextant::report
