// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter_parameters.hpp"

#include <sstream>
#include <string>

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
             .help = "scale of the filter, .5 to 1000"},
            {.name = "derivatives",
             .value = "D,D,...",
             .fallback = "x,y,xx,xy,yy",
             .help = "of the filter, or other features (docs/filters.md)"}};
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

} // namespace sextant::operation
