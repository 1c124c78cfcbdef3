// SPDX-License-Identifier: BSD-3-Clause
// Slices of volumes, drawn to scale; counts on a logarithmic axis.
#include "sextant/report/charts.hpp"
#include "sextant/report/picture_sections.hpp"

#include <array>
#include <cmath>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/report/markup.hpp"
#include <gmock/gmock.h>

namespace sextant::report {
namespace {

using namespace std::string_view_literals;
using testing::HasSubstr;

/// The start of a PNG file of one pixel.
std::vector<std::byte> png() {
    constexpr std::string_view text = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1"sv;
    std::vector<std::byte> bytes;
    for (const char c : text)
        bytes.push_back(static_cast<std::byte>(c));
    return bytes;
}

SlicedVolume sliced(double depth, double height, double width) {
    SlicedVolume volume{"Slices", "a caption with <"};
    volume.volumes = {{"a & b", png(), png(), png()}, {"labels", png(), png(), png()}};
    volume.lengths = {depth, height, width};
    volume.through = {.5, .25, .75};
    volume.positions = {"z = 5", "y = 25", "x = 75"};
    volume.unit = "µm";
    return volume;
}

/// Position and size of the first image of a class.
std::vector<double> box_of(const std::string& html, const std::string& name) {
    std::smatch found;
    const std::regex pattern("<image class=\"" + name +
                             "\" x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" "
                             "height=\"([0-9.]+)\"");
    if (!std::regex_search(html, found, pattern))
        return std::vector<double>(4);
    std::vector<double> box;
    for (std::size_t i = 1; i < found.size(); ++i)
        box.push_back(std::stod(found[i]));
    return box;
}

TEST(SlicesSection, draws_all_slices_with_one_scale) {
    for (const auto& [depth, height, width] :
         std::vector<std::array<double, 3>>{{10, 100, 200}, {300, 20, 30}, {1, 1, 1}}) {
        const Section section = slices_section(sliced(depth, height, width));
        EXPECT_EQ(test::markup_error(section.html), "");
        EXPECT_EQ(test::occurrences(section.html, "<image "), 6);
        const auto xy = box_of(section.html, "xy"), zy = box_of(section.html, "zy"),
                   xz = box_of(section.html, "xz");
        const double zoom = xy[2] / width;
        EXPECT_GT(zoom, 0);
        EXPECT_NEAR(xy[3], zoom * height, .02);
        EXPECT_NEAR(zy[2], zoom * depth, .02);
        EXPECT_NEAR(zy[3], zoom * height, .02);
        EXPECT_NEAR(xz[2], zoom * width, .02);
        EXPECT_NEAR(xz[3], zoom * depth, .02);
        EXPECT_GE(zy[0], xy[2]) << "zy is to the right of xy";
        EXPECT_GE(xz[1], xy[3]) << "xz is below xy";
    }
}

TEST(SlicesSection, marks_where_slices_cross_and_the_scale) {
    const Section section = slices_section(sliced(100, 100, 100));
    EXPECT_EQ(section.title, "Slices");
    const double side = box_of(section.html, "xy")[2];
    std::smatch found;
    ASSERT_TRUE(std::regex_search(section.html, found,
                                  std::regex("<path d=\"M0.00 ([0-9.]+)h[0-9.]+M([0-9.]+) ")));
    EXPECT_NEAR(std::stod(found[1]), .25 * side, .01);
    EXPECT_NEAR(std::stod(found[2]), .75 * side, .01);
    for (const std::string text :
         {"xy, z = 5<", "zy, x = 75<", "xz, y = 25<", "20 µm", "a &amp; b", "a caption with &lt;"})
        EXPECT_THAT(section.html, HasSubstr(text));
    EXPECT_THAT(slices_section(sliced(.1, 100, 100)).html, Not(HasSubstr("xz, y = 25<")))
        << "a text is larger than its slice";
}

TEST(SlicesSection, refuses_volumes_without_a_size_and_pictures_that_are_not_PNG) {
    EXPECT_THROW(slices_section(sliced(0, 1, 1)), std::logic_error);
    SlicedVolume volume = sliced(1, 1, 1);
    volume.volumes[1].xz.resize(4);
    EXPECT_THROW(slices_section(volume), std::logic_error);
}

TEST(ColumnChart, draws_counts_on_a_logarithmic_axis) {
    ColumnChart chart;
    chart.places = {"1", "2", "4", "8"};
    chart.kinds = {{"components", {1, 10, 0, 1000}}};
    chart.text = [](double count) { return std::to_string(std::lround(count)); };
    chart.counts = true;
    const std::string svg = columns(chart);
    EXPECT_EQ(test::markup_error(svg), "");
    std::vector<double> heights;
    const std::regex column("class=\"column [^>]*height=\"([0-9.]+)\"");
    for (std::sregex_iterator found(svg.begin(), svg.end(), column), end; found != end; ++found)
        heights.push_back(std::stod((*found)[1]));
    ASSERT_EQ(heights.size(), 3U) << "no column for 0";
    EXPECT_GT(heights[0], 5);
    EXPECT_NEAR(heights[2] - heights[1], 2 * (heights[1] - heights[0]), .1);
    for (const std::string label : {">1<", ">10<", ">100<", ">1000<"})
        EXPECT_THAT(svg, HasSubstr(label));
    chart.kinds[0].values = {0, 0, 0, 0};
    EXPECT_EQ(test::markup_error(columns(chart)), "");
}

} // namespace
} // namespace sextant::report
