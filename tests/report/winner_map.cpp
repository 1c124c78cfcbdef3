// SPDX-License-Identifier: BSD-3-Clause
// A map of the fastest algorithms: one cell per case, one colour per algorithm.
#include "sextant/lab/winner_map.hpp"

#include <stdexcept>

#include <gmock/gmock.h>

namespace sextant::lab {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
        ++found;
    return found;
}

WinnerMap small() {
    return {"map",
            "",
            {"few", "many"},
            {"16 ranks", "64 ranks"},
            {{{"radix-k", "4,4"}, {"direct-send", ""}}, {{"radix-k", "8,8 & more"}, {}}}};
}

TEST(WinnerMap, colours_each_known_case_by_its_winner) {
    const std::string picture = winner_map(small());
    EXPECT_EQ(count(picture, "<svg"), 1u);
    EXPECT_EQ(count(picture, "class=\"w0\""), 1 + 1u); // direct-send: its cell and the legend
    EXPECT_EQ(count(picture, "class=\"w1\""), 2 + 1u); // radix-k: its two cells and the legend
    EXPECT_EQ(count(picture, "8,8 &amp; more"), 1u);
    EXPECT_EQ(count(picture, "64 ranks"), 1u);
}

/// The width of the first cell of the map.
double width_of_field(const std::string& picture) {
    const std::size_t row = picture.find("16 ranks"), field = picture.find("<rect", row);
    return std::stod(picture.substr(picture.find("width=\"", field) + 7));
}

TEST(WinnerMap, widens_cells_to_fit_their_text) {
    WinnerMap map = small();
    const double before = width_of_field(winner_map(map));
    map.cells.back().front().detail = "4,2,2,4,2,2; 4 % before parallel-pipeline";
    EXPECT_GT(width_of_field(winner_map(map)), before + 50);
}

TEST(WinnerMap, may_have_more_winners_than_colours) {
    WinnerMap map{"map", "", {"few"}, {}, {}};
    for (int i = 0; i < 60; ++i) {
        map.rows.push_back(std::to_string(i) + " ranks");
        map.cells.push_back({{"algorithm " + std::to_string(i), ""}});
    }
    EXPECT_EQ(count(winner_map(map), "class=\"w59\""), 1 + 1u);
}

TEST(WinnerMap, refuses_rows_of_unequal_length) {
    WinnerMap map = small();
    map.cells.back().pop_back();
    EXPECT_THROW(winner_map(map), std::logic_error);
}

} // namespace
} // namespace sextant::lab
