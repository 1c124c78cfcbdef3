// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace sextant {

/// What a JSON library says is wrong with a text, for people: without the number of its exception,
/// and without bytes of the text that no terminal can show.
std::string json_complaint(std::string_view what);

} // namespace sextant
