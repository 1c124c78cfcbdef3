// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/likeness_section.hpp"

#include "sextant/core/statistics.hpp"
#include "sextant/report/curves.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

namespace sextant::report {

namespace {

using Of = std::function<double(const RegisteredFrame&)>;

/// The share of a frame's variance that no multiple of the reference explains.
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
        return {"nothing", curve.name};
    return {fmt::format("{:.3g}", median(values)), curve.name + " (median)"};
}

std::string chart(CurveChart chart) {
    for (const Curve& each : chart.curves)
        chart.figures.push_back(median_of(each));
    return to_html({curves(chart), ""});
}

} // namespace

Section likeness_section(std::span<const RegisteredFrame> frames, const std::string& before) {
    CurveChart ncc{"Likeness", "NCC of filtered frames with what they were registered to", "frame",
                   ""};
    ncc.curves = {curve("registered", frames, [](const auto& frame) { return frame.ncc_after; }),
                  curve(before, frames, [](const auto& frame) { return frame.ncc_before; })};
    CurveChart rest{"Residual",
                    "share of a frame's variance that the other does not explain: "
                    "noise, and what moved otherwise",
                    "frame", ""};
    rest.curves = {
        curve("registered", frames, [](const auto& frame) { return residual(frame.ncc_after); }),
        curve(before, frames, [](const auto& frame) { return residual(frame.ncc_before); })};
    CurveChart sigma{"Uncertainty", "standard deviation of where a frame lies", "frame", "px"};
    sigma.curves = {curve("deviation", frames, [](const auto& frame) { return frame.sigma; })};
    return {"How well they fit", chart(ncc) + chart(rest) + chart(sigma)};
}

} // namespace sextant::report
