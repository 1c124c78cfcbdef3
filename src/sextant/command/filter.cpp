// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/filter.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/filter_run.hpp"
#include "sextant/command/options.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

int run_filter(const Values& values) {
    launch_tiles(values, [&](Communicator communicator) {
        FilterRun(values, std::move(communicator)).run();
    });
    return 0;
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = {
        {.name = "image",
         .type = Type::file,
         .value = "IMAGE",
         .help = "a gray image, or a series with --frame (docs/frames.md)",
         .positional = true,
         .required = true},
        {.name = "output",
         .type = Type::file,
         .value = "OUT",
         .help = "a frame of float32 a derivative: .npy, .tif or .mrc",
         .letter = 'o',
         .required = true}};
    for (auto* some : {filter_parameters, border_parameters}) {
        for (Parameter& parameter : some())
            all.push_back(std::move(parameter));
    }
    const std::vector<Parameter> rest = {
        frame_parameter(),
        channel_parameter(),
        slice_parameter(),
        external_parameter(),
        ranks_parameter(),
        {.name = "grid",
         .value = "XxY",
         .help = "tiles: so many columns and rows; default: predicted to be fastest"},
        distribute_parameter(),
        memory_parameter("64", "for the image and what is made of it; larger ones stream"),
        shared_memory_parameter(),
        machine_parameter(),
        no_probe_parameter(),
        {.name = "plan",
         .type = Type::file,
         .value = "FILE",
         .help = "do as this plan says; if there is none, write it there"},
        report_parameter(),
        json_parameter()};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

} // namespace

Operation filter_operation() {
    return {"filter", "Gaussian derivatives of a gray image, in tiles over ranks",
            "  sextant filter scan.tif -o derivatives.npy --sigma 3 --derivatives x,y,xx,xy,yy\n"
            "  mpirun -n 2 sextant filter scan.npy -o edges.tif --derivatives gradient-magnitude",
            parameters(), run_filter};
}

namespace {

using Weights = kernel::GaussianKernel::Weights;

/// The largest value of a constant border, in units of the samples.
constexpr double most_sample = 1e30;
constexpr std::size_t most_before = 16, most_derivatives = 64;

kernel::Border border_named(const std::string& name) {
    return name == "mirror"     ? kernel::Border::mirror
           : name == "constant" ? kernel::Border::constant
                                : kernel::Border::replicate;
}

/// Splits at commas; at most `most` parts.
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

/// Parses "smooth@2.5".
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

std::string text_of(const distributed::Filters& filters) {
    std::string text;
    for (const distributed::Filter& filter : filters)
        text += fmt::format("{}{} at sigma {}", text.empty() ? "" : ", then ",
                            fmt::join(filter.features, ", "), filter.sigma);
    const kernel::GaussianKernel& kernel = filters.back().kernel;
    return kernel == kernel::GaussianKernel{} ? text : text + ", kernel " + text_of(kernel);
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

Parameter distribute_parameter() {
    return {.name = "distribute",
            .value = "HOW",
            .help = "read: each its tile; scatter, broadcast, a collective: rank 0"};
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
        distributed::bank_of(filter); // throws if the filter is not valid
    }
    return filters;
}

} // namespace sextant::command
