// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// A colour for light and for dark backgrounds: "#rrggbb".
struct Colour {
    std::string light, dark;
};

/// Returns the colour of a hue in degrees. All hues have the same perceived lightness (OKLCH). The
/// chroma is `chroma`, or the highest chroma that screens can show.
/// Source    Ottosson 2020, "A perceptual color space for image processing".
Colour colour_of_hue(double hue, double chroma = 0.16);

/// Returns colours for `count` ordered items. Up to six colours are chosen to be easy to
/// distinguish; more colours are spread evenly over the hues. Returns at most 24 colours; with more
/// items, neighbouring items share a colour (`colour_index`).
std::vector<Colour> ordered_colours(int count);

/// Returns the index into `ordered_colours(count)` of the i-th item.
int colour_index(int i, int count);

/// A key figure below the heading: an emphasised value and its label.
struct KeyFigure {
    std::string value, label;
};

/// Returns "1 message" or "56 messages" as a key figure; the number is its value.
KeyFigure key_figure(std::int64_t number, std::string_view thing);

/// A symbol and its meaning. The symbol is SVG in a box of `width` by 12 units with a corner at (0,
/// 0).
struct LegendEntry {
    std::string symbol, label;
    double width = 18;
};

/// An SVG under construction: heading, key figures, legend, added markup, notes. The SVG is
/// scalable and follows the viewer's light or dark scheme. Its styles apply only to itself, so that
/// several SVGs can share a page.
///
/// Input     any text, which is escaped. Markup passed to `add` and in symbols is inserted
///           unchanged.
class Svg {
  public:
    Svg(std::string_view title, std::string_view subtitle, double width);

    /// Adds a style for the elements of this SVG that match a selector. `colour` sets a property
    /// for light and dark schemes.
    void style(std::string_view selector, std::string_view declarations);
    void colour(std::string_view selector, std::string_view property, const Colour& colour);

    /// Adds figures, a legend or a note below the previous items; `bottom` is the position of the
    /// next item.
    void figures(const std::vector<KeyFigure>& figures);
    void legend(const std::vector<LegendEntry>& entries);
    void note(std::string_view text);
    double bottom() const { return bottom_; }
    void skip(double height) { bottom_ += height; }

    void add(std::string_view markup) { body_ += markup; }
    void text(double x, double y, std::string_view classes, std::string_view text);
    void line(double x1, double y1, double x2, double y2, std::string_view classes);
    void rectangle(double x, double y, double width, double height, std::string_view classes);

    /// Returns the complete SVG.
    std::string finish() const;

  private:
    std::string style_sheet(std::string_view scope) const;

    struct Rule {
        std::string selector, always, dark;
    };
    std::string title_, body_;
    double width_, bottom_ = 0;
    std::vector<Rule> rules_;
};

/// Returns the approximate width of a text with a font size of 11 units.
double width_of_text(std::string_view text);

/// The hues of up to four kinds of marks.
using KindHues = std::array<int, 4>;

/// Returns a rectangle filled by a style class, for legends.
std::string swatch(std::string_view style_class);

/// Adds style classes "kind-0", "kind-1", ... that fill marks, one per kind.
void add_kind_styles(Svg& svg, std::size_t kinds, const KindHues& hues);
/// Adds one legend entry per kind.
void add_kind_legend(Svg& svg, const std::vector<std::string>& names);

} // namespace sextant::report
