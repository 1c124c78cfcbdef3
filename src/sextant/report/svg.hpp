// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

/// One colour as it is on light paper and on dark: "#rrggbb".
struct Colour {
    std::string light, dark;
};

/// The colour of a hue in degrees, equally light to the eye whatever the hue (the OKLCH space), and
/// as vivid as screens can show up to `chroma`.
/// Source    Ottosson 2020, "A perceptual color space for image processing".
Colour colour_of_hue(double hue, double chroma = 0.16);

/// Colours for things in an order: up to six are told apart at a glance, more run through the hues.
/// From 25 on neighbours share one; ask `colour_index`.
std::vector<Colour> ordered_colours(int count);

/// Which of `ordered_colours(count)` the i-th thing has.
int colour_index(int i, int count);

/// A figure under the heading: its value stands out, its label explains it.
struct KeyFigure {
    std::string value, label;
};

/// "1 message", "56 messages": the number stands out.
KeyFigure key_figure(std::int64_t number, std::string_view thing);

/// What a kind of mark means. The symbol is SVG drawn in a box `width` by 12 from (0, 0).
struct LegendEntry {
    std::string symbol, label;
    double width = 18;
};

/// An SVG picture being made: heading, key figures, legend, whatever is added, notes. It scales,
/// follows the viewer's light or dark scheme, and its style holds inside it only, so that several
/// can stand in one page.
///
/// Input     any text: it is escaped. Markup given to `add` and in symbols is taken as it is.
class Svg {
  public:
    Svg(std::string_view title, std::string_view subtitle, double width);

    /// A style for what a selector finds in this picture; in the colour's two shades.
    void style(std::string_view selector, std::string_view declarations);
    void colour(std::string_view selector, std::string_view property, const Colour& colour);

    /// These stack from the top; `bottom` is where the next thing goes.
    void figures(const std::vector<KeyFigure>& figures);
    void legend(const std::vector<LegendEntry>& entries);
    void note(std::string_view text);
    double bottom() const { return bottom_; }
    void skip(double height) { bottom_ += height; }

    void add(std::string_view markup) { body_ += markup; }
    void text(double x, double y, std::string_view classes, std::string_view text);
    void line(double x1, double y1, double x2, double y2, std::string_view classes);
    void rectangle(double x, double y, double width, double height, std::string_view classes);

    /// The whole picture.
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

/// How wide a text of 11 units' height is, roughly.
double width_of_text(std::string_view text);

/// Hues of up to four kinds of marks in a picture.
using KindHues = std::array<int, 4>;

/// A patch filled as a style class says, for legends.
std::string swatch(std::string_view style_class);

/// Style classes "kind-0", "kind-1", ... that fill marks, one a name.
void add_kind_styles(Svg& svg, std::size_t kinds, const KindHues& hues);
/// And what they mean.
void add_kind_legend(Svg& svg, const std::vector<std::string>& names);

} // namespace sextant::report
