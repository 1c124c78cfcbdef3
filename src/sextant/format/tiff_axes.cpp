// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/tiff_axes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>

namespace sextant::format {

namespace {

/// Steps beyond this lead out of any file, and positions can still be counted.
constexpr std::int64_t most_planes = std::int64_t{1} << 29;

} // namespace

PlanePosition PageAxes::position_of(std::int64_t page) const {
    const auto on = [&](const PageAxis& axis) { return page / axis.step % axis.count; };
    return {on(channels), on(slices), on(frames)};
}

std::int64_t PageAxes::planes() const {
    const PageAxis slowest = std::max({channels, slices, frames}, [](auto& a, auto& b) {
        return a.step < b.step || (a.step == b.step && a.count < b.count);
    });
    return slowest.step * slowest.count;
}

std::int64_t PageAxes::page_of(const PlanePosition& position) const {
    return position.channel * channels.step + position.slice * slices.step +
           position.frame * frames.step;
}

PageAxes in_order(PageAxes axes, std::string_view order) {
    std::int64_t step = 1;
    for (const char letter : order) {
        PageAxis& axis = letter == 'C' ? axes.channels : letter == 'Z' ? axes.slices : axes.frames;
        axis.step = step;
        step = step > most_planes / axis.count ? most_planes : step * axis.count;
    }
    return axes;
}

std::int64_t without_samples(std::int64_t channels, int samples) {
    return channels % samples == 0 ? channels / samples : channels;
}

double decimal_in(std::string_view text) {
    return std::strtod(std::string(text.substr(0, 64)).c_str(), nullptr);
}

std::int64_t whole_number_in(std::string_view text, std::int64_t otherwise) {
    std::int64_t value = otherwise;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && value >= 0 ? value : otherwise;
}

std::int64_t length_of_axis(std::string_view text) {
    return std::clamp<std::int64_t>(whole_number_in(text, 1), 1, longest_axis);
}

} // namespace sextant::format
