// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

struct PngSize {
    std::uint32_t width, height;
};

/// Reads the image size from the header of a PNG file, so that the layout of a page does not change
/// while images load.
/// Throws    std::logic_error if the bytes are not a PNG file.
PngSize png_size(std::span<const std::byte> png);

/// Returns a PNG file as a data URI. Throws the same as png_size().
std::string png_uri(std::span<const std::byte> png);

/// Returns an image element; `alternative` describes the image as text. Throws the same as
/// png_size().
std::string image_of(std::span<const std::byte> png, std::string_view alternative);

/// Returns a figure with HTML content, a text caption, which may be empty, and a style class.
std::string figure_of(std::string_view html, std::string_view caption, std::string_view style = {});

/// An image made by a run. `alternative` describes the image for readers who cannot see it.
struct Picture {
    std::vector<std::byte> png;
    std::string alternative, caption;
};

/// A fact about a run: "algorithm", "radix-k, radices 4,2".
struct Fact {
    std::string label, value;
};

/// A phase of a run and its time.
struct Phase {
    std::string name;
    Seconds seconds = 0;
    std::optional<Seconds> predicted = {};
};

/// A drawing made by `draw` or `timeline`.
struct Figure {
    std::string svg, caption;
};

/// Returns a figure as HTML, for sections with drawings.
std::string to_html(const Figure& figure);

/// A table for sections.
struct Table {
    /// A column and the style class of its cells: "number", "words" or none.
    struct Column {
        Column(const char* its_title, std::string_view its_style = "number")
            : title(its_title), style(its_style) {}
        std::string_view title, style;
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows = {}; ///< cells as HTML
    bool names_rows = true; ///< true if the first cell of each row is its name
};

/// Returns a table as HTML; the table can be scrolled if it is too wide.
std::string to_html(const Table& table);

/// Returns a table that is hidden until the reader opens it.
std::string folded(std::string_view summary, const Table& table);

/// A shell command and its purpose.
struct NextStep {
    std::string sentence, line;
};

/// A part of a page. Each `*_section` function, in its own file, makes one.
struct Section {
    std::string title;
    std::string html;             ///< well-formed and trusted; if empty, the page omits the section
    std::string_view script = {}; ///< emitted once per page, even if several sections need it
};

/// The content of a page. Empty parts are omitted.
struct Page {
    std::string title, subtitle;
    Picture picture;
    std::vector<Section> shown; ///< interactive images, shown at the top
    std::vector<Fact> facts;
    std::vector<Phase> phases;
    std::vector<Section> sections;
    std::vector<Figure> figures;
    std::vector<NextStep> next_steps;
};

/// Renders a self-contained HTML page: no network access, and no scripts except those of its
/// sections. The layout adapts to phones, wide screens, paper, and light and dark schemes.
///
/// Input     any text, which is escaped, except `svg` and sections: these are inserted unchanged
///           and must therefore be trusted.
/// Output    HTML that is also well-formed XML.
/// Requires  `png` empty or a PNG file, `svg` one svg element, seconds finite and not negative;
///           otherwise throws std::logic_error.
/// Deterministic.
std::string render(const Page& page);

/// The parts of a self-contained HTML file, well-formed and trusted.
struct Document {
    std::string title;  ///< already escaped
    std::string header; ///< content above the main part
    std::string main;
    std::vector<std::string> scripts; ///< each is emitted once, even if listed several times
    bool receives_events = false;     ///< true if scripts may connect to the page's server
};

/// Returns the complete file with the style sheet of all pages. The page may run its own scripts,
/// but cannot load other resources, except events.
std::string to_html(const Document& document);

/// Parses a file written by to_html(). Throws InvalidFile with the path if the file is truncated or
/// was not written by to_html().
Document read_document(const std::string& path, const std::string& html);

/// Joins the pages of several runs into one page: links to each page, then all pages one after
/// another.
///
/// Input     a title as text, and the parts of the pages.
Document joined(std::string_view title, std::span<const Document> pages);

/// Returns a page that shows a series while it is registered: its provisional average, and the
/// drift, rotation and flags of its frames. The page receives the data as server-sent events from
/// `events` next to the page (assets/live.js describes the events).
std::string live_page(std::string_view series);

} // namespace sextant::report
