// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter_parameters.hpp"

#include "sextant/core/error.hpp"

#include <charconv>
#include <sstream>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

kernel::Border border_named(const std::string& name) {
    return name == "mirror"     ? kernel::Border::mirror
           : name == "constant" ? kernel::Border::constant
                                : kernel::Border::replicate;
}

} // namespace

std::vector<Parameter> filter_parameters() {
    return {{.name = "sigma",
             .type = Type::number,
             .value = "PIXELS",
             .fallback = "1",
             .help = "the scale, .5 to 1000"},
            {.name = "derivatives",
             .value = "D,D,...",
             .fallback = "x,y,xx,xy,yy",
             .help = "letters for orders, or names of docs/filters.md"}};
}

std::vector<Parameter> border_parameters() {
    return {{.name = "border",
             .type = Type::choice,
             .value = "HOW",
             .fallback = "replicate",
             .help = "what is seen beyond it",
             .choices = {"replicate", "mirror", "constant"}},
            {.name = "border-value",
             .type = Type::number,
             .value = "V",
             .fallback = "0",
             .help = "what a constant border shows"}};
}

distributed::Filter filter_from(const Values& values) {
    distributed::Filter filter;
    filter.sigma = values.number("sigma");
    std::istringstream names(values.text("derivatives"));
    for (std::string name; std::getline(names, name, ',');)
        filter.features.push_back(name);
    if (values.has("border"))
        filter.border = {border_named(values.text("border")),
                         static_cast<float>(values.number("border-value"))};
    kernel::FilterBank(filter.sigma, filter.features, filter.border); // refuses what it cannot do
    return filter;
}

Sides sides_from(const std::string& parameter, const std::string& text) {
    const char* const end = text.data() + text.size();
    Sides sides;
    auto [at, error] = std::from_chars(text.data(), end, sides.columns);
    if (error == std::errc() && at != end && *at == 'x')
        error = std::from_chars(at + 1, end, sides.rows).ec;
    const bool whole = fmt::format("{}x{}", sides.columns, sides.rows) == text;
    if (error != std::errc() || !whole || sides.columns < 1 || sides.rows < 1)
        throw InvalidTask(
            fmt::format("{} {}: expected COLUMNSxROWS, each 1 or more", parameter, text));
    return sides;
}

} // namespace sextant::operation
