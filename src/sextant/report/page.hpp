// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

struct PngSize {
    std::uint32_t width, height;
};

/// Read off the header of a PNG file, so that a page keeps its shape while pictures are decoded.
/// Throws    std::logic_error for other bytes.
PngSize png_size(std::span<const std::byte> png);

/// The image that a run made. `alternative` says what is on it to those who cannot see it.
struct Picture {
    std::vector<std::byte> png;
    std::string alternative, caption;
};

/// One thing that ran, and why: "algorithm", "radix-k, radices 4,2".
struct Fact {
    std::string label, value;
};

/// A part of a run and how long it took.
struct Phase {
    std::string name;
    Seconds seconds = 0;
};

/// A drawing from `draw` or `timeline`.
struct Figure {
    std::string svg, caption;
};

/// As it stands in a page, for sections that have drawings.
std::string to_html(const Figure& figure);

/// A line for the shell and what it is good for.
struct NextStep {
    std::string sentence, line;
};

/// A part of a page that a file of its own makes: `*_section`.
struct Section {
    std::string title;
    std::string html;             ///< well-formed, of ours; without content there is no section
    std::string_view script = {}; ///< what makes it move; said once, however many sections ask
};

/// What a page tells. Empty parts are left out of it.
struct Page {
    std::string title, subtitle;
    Picture picture;
    std::vector<Section> shown; ///< above all that is told: pictures that do something
    std::vector<Fact> facts;
    std::vector<Phase> phases;
    std::vector<Section> sections;
    std::vector<Figure> figures;
    std::vector<NextStep> next_steps;
};

/// One HTML page that needs nothing else: no network, and no script but those of its sections. It
/// suits a phone, a wide screen, paper, light and dark.
///
/// Input     any text: it is escaped. Only `svg` and sections are taken as they are, so they must
///           be ours.
/// Output    HTML that is also well-formed XML.
/// Requires  `png` empty or a PNG file, `svg` one svg element, seconds finite and not negative;
///           otherwise throws std::logic_error.
/// Deterministic.
std::string render(const Page& page);

/// The parts of an HTML file that needs nothing else: markup of ours, well-formed.
struct Document {
    std::string title;  ///< escaped
    std::string header; ///< what stands on top
    std::string main;
    std::vector<std::string> scripts; ///< each is said once, however often it stands here
};

/// The whole file, with the style of all pages. It may run its scripts and fetch nothing.
std::string to_html(const Document& document);

/// The parts of such a file again. Throws InvalidFile, naming the path, for one that to_html did
/// not make, or that is cut.
Document read_document(const std::string& path, const std::string& html);

/// Pages of several runs as one: links to each, then one after another.
///
/// Input     a title as text; the pages' parts.
Document joined(std::string_view title, std::span<const Document> pages);

} // namespace sextant::report
