// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter/filter_parameters.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

kernel::Border border_named(const std::string& name) {
    return name == "mirror"     ? kernel::Border::mirror
           : name == "constant" ? kernel::Border::constant
                                : kernel::Border::replicate;
}

std::vector<std::string> listed(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream names(text);
    for (std::string name; std::getline(names, name, ',');)
        all.push_back(name);
    return all;
}

/// "smooth@2.5".
distributed::Filter earlier_filter(const std::string& text, kernel::BorderRule border) {
    const auto at = std::min(text.find('@'), text.size());
    const char* const last = text.data() + text.size();
    double sigma = 0;
    const auto [end, error] =
        std::from_chars(text.data() + std::min(at + 1, text.size()), last, sigma);
    if (at == text.size() || error != std::errc{} || end != last)
        throw InvalidTask(fmt::format(
            "--before {}: expected a derivative or feature @ its sigma, as smooth@2", text));
    return {sigma, {text.substr(0, at)}, border};
}

} // namespace

std::vector<Parameter> filter_parameters() {
    return {{.name = "sigma",
             .type = Type::number,
             .value = "PIXELS",
             .fallback = "1",
             .help = "scale of the filter, .5 to 1000"},
            {.name = "derivatives",
             .value = "D,D,...",
             .fallback = "x,y,xx,xy,yy",
             .help = "of the filter, or other features (docs/filters.md)"},
            {.name = "before",
             .value = "D@PIXELS,...",
             .help = "filters that come first, each on what the one before made: smooth@2"}};
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
             .help = "what a constant border shows",
             .least = -(std::int64_t{1} << 40)}};
}

distributed::Filters filters_from(const Values& values) {
    kernel::BorderRule border;
    if (values.has("border") && values.text("border") != "constant")
        refuse_given(values, {"border-value"}, "expected --border constant");
    if (values.has("border"))
        border = {border_named(values.text("border")),
                  static_cast<float>(values.number("border-value"))};
    distributed::Filters filters;
    for (const std::string& text : listed(values.text("before")))
        filters.push_back(earlier_filter(text, border));
    filters.push_back({values.number("sigma"), listed(values.text("derivatives")), border});
    for (const distributed::Filter& filter : filters) // refuses what cannot be
        kernel::FilterBank(filter.sigma, filter.features, filter.border);
    return filters;
}

} // namespace sextant::operation
