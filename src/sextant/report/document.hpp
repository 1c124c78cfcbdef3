// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::report {

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

} // namespace sextant::report
