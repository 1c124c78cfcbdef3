// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter/filter_parameters.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/names.hpp"
#include "sextant/core/number_text.hpp"
#include "sextant/core/printable.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using Weights = kernel::GaussianKernel::Weights;

/// Of what a constant border shows, in the samples' units.
constexpr double most_sample = 1e30;
constexpr std::size_t most_before = 16, most_derivatives = 64;

kernel::Border border_named(const std::string& name) {
    return name == "mirror"     ? kernel::Border::mirror
           : name == "constant" ? kernel::Border::constant
                                : kernel::Border::replicate;
}

/// What commas separate, no more than `most`.
std::vector<std::string> listed(const Values& values, std::string_view option, std::size_t most) {
    std::vector<std::string> all;
    const std::string text = values.text(option);
    std::istringstream names(text);
    for (std::string name; std::getline(names, name, ',');)
        all.push_back(name);
    if (all.size() > most)
        throw InvalidTask(
            fmt::format("--{} names {}, expected {} or fewer", option, all.size(), most));
    return all;
}

struct NamedWeights {
    std::string_view name;
    Weights weights;
};
constexpr NamedWeights all_weights[] = {{"gaussian", Weights::gaussian}, {"p3pc", Weights::p3pc}};

kernel::GaussianKernel kernel_from(const Values& values) {
    const Weights weights = weights_named(values.text("kernel"));
    if (!values.has("truncate"))
        return {weights, 0};
    if (weights != Weights::gaussian)
        refuse_given(values, {"truncate"}, "the kernel p3pc has a reach of its own");
    return {Weights::truncated, values.number("truncate")};
}

/// "smooth@2.5".
distributed::Filter earlier_filter(const std::string& text) {
    const auto at = std::min(text.find('@'), text.size());
    const auto sigma = parsed_number<double>(text.substr(std::min(at + 1, text.size())));
    if (!sigma || *sigma < kernel::smallest_sigma || *sigma > kernel::largest_sigma)
        throw InvalidTask(fmt::format("--before {}: expected a derivative or feature @ its sigma "
                                      "from {} to {}, as smooth@2",
                                      shortened(text), kernel::smallest_sigma,
                                      kernel::largest_sigma));
    return {*sigma, {text.substr(0, at)}, {}, {}};
}

} // namespace

Weights weights_named(std::string_view name) {
    return find_by_name<NamedWeights>("kernel", name, all_weights).weights;
}

std::string text_of(const kernel::GaussianKernel& kernel) {
    for (const NamedWeights& named : all_weights) {
        if (named.weights == kernel.weights)
            return std::string(named.name);
    }
    return fmt::format("gaussian, truncated at {} sigmas", kernel.truncation);
}

std::vector<Parameter> filter_parameters() {
    return {{.name = "sigma",
             .type = Type::number,
             .value = "PIXELS",
             .fallback = "1",
             .help = "scale of the filter, .5 to 1000",
             .least = kernel::smallest_sigma,
             .most = kernel::largest_sigma},
            {.name = "derivatives",
             .value = "D,D,...",
             .fallback = "x,y,xx,xy,yy",
             .help = "of the filter, or other features (docs/filters.md)"},
            {.name = "kernel",
             .type = Type::choice,
             .value = "NAME",
             .fallback = "gaussian",
             .help = "weights: as in SciPy, or the few of P-3PC",
             .choices = {all_weights[0].name, all_weights[1].name}},
            {.name = "truncate",
             .type = Type::number,
             .value = "SIGMAS",
             .help = "cut the Gaussian there, as SciPy does; default: where it counts no more",
             .least = 0,
             .most = kernel::largest_truncation},
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
             .least = -most_sample,
             .most = most_sample}};
}

distributed::Filters filters_from(const Values& values) {
    kernel::BorderRule border;
    if (values.has("border") && values.text("border") != "constant")
        refuse_given(values, {"border-value"}, "expected --border constant");
    if (values.has("border"))
        border = {border_named(values.text("border")),
                  static_cast<float>(values.number("border-value"))};
    distributed::Filters filters;
    for (const std::string& text : listed(values, "before", most_before))
        filters.push_back(earlier_filter(text));
    filters.push_back(
        {values.number("sigma"), listed(values, "derivatives", most_derivatives), {}, {}});
    for (distributed::Filter& filter : filters) {
        filter.border = border;
        filter.kernel = kernel_from(values);
        distributed::bank_of(filter); // refuses what cannot be
    }
    return filters;
}

} // namespace sextant::operation
