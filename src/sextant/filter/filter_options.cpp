// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filter/filter_options.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant {

using distributed::Filter;
using distributed::Filters;

std::string text_of(const kernel::Scales& scales) {
    if (scales.z < 0)
        return fmt::format("{},{}", scales.y, scales.x);
    return scales == kernel::Scales(scales.x)
               ? fmt::format("{}", scales.x)
               : fmt::format("{},{},{}", scales.z, scales.y, scales.x);
}

namespace {

kernel::GaussianKernel kernel_of(const FilterOptions& options) {
    using Weights = kernel::GaussianKernel::Weights;
    if (!options.truncate) {
        if (options.kernel == Weights::truncated)
            throw InvalidTask(
                "kernel truncated: expected the kernel gaussian with the option truncate");
        return {options.kernel, 0};
    }
    return {Weights::truncated, *options.truncate};
}

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        parts.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

/// Converts feature names to and from text such as "x,y,xx".
Codec codec_of(std::vector<std::string>& names) {
    return {[&names] { return fmt::format("{}", fmt::join(names, ",")); },
            [&names](const Field&, std::string_view text) {
                names = split(text);
                return "";
            }};
}

/// True for a number in the range of scales, in any unit.
bool is_scale(double number) {
    constexpr double most = 1e30;
    return number >= 1 / most && number <= most;
}

/// Converts filters to and from text such as "smooth@2.5,x@1".
Codec codec_of(std::vector<EarlierFilter>& filters) {
    return {
        [&filters] {
            std::string text;
            for (const EarlierFilter& filter : filters)
                text +=
                    fmt::format("{}{}@{}", text.empty() ? "" : ",", filter.feature, filter.sigma);
            return text;
        },
        [&filters](const Field&, std::string_view text) {
            filters.clear();
            for (const std::string& each : split(text)) {
                const auto at = std::min(each.find('@'), each.size());
                const auto sigma = parsed_number<double>(
                    std::string_view(each).substr(std::min(at + 1, each.size())));
                if (!sigma || !is_scale(*sigma)) // the range in pixels is checked later
                    return fmt::format(
                        "a derivative or feature, @ and a sigma from {} to {}, such as smooth@2",
                        kernel::smallest_sigma, kernel::largest_sigma);
                filters.push_back({each.substr(0, at), *sigma});
            }
            return std::string();
        }};
}

/// Returns the text after the last number, without spaces: "um" for "4,2,2 um".
std::string_view unit_after_number(std::string_view text) {
    std::string_view last = text.substr(text.find_last_of(',') + 1);
    std::size_t end = last.size();
    while (end > 0 && !parsed_number<double>(last.substr(0, end)))
        --end;
    if (end == 0) // no number
        return "";
    last.remove_prefix(end);
    last.remove_prefix(std::min(last.find_first_not_of(' '), last.size()));
    return last;
}

} // namespace

Codec codec_of(kernel::Scales& scales, std::string* unit) {
    return {[&scales, unit] { return text_of(scales) + (unit ? *unit : ""); },
            [&scales, unit](const Field& field, std::string_view text) {
                const std::string stated(unit ? unit_after_number(text) : "");
                text.remove_suffix(stated.size());
                while (!stated.empty() && text.ends_with(' '))
                    text.remove_suffix(1);
                std::vector<double> numbers;
                for (const std::string& each : split(text)) {
                    const auto number = parsed_number<double>(each);
                    const bool fits =
                        number && (stated.empty() ? *number >= field.least && *number <= field.most
                                                  : *number == 0 || is_scale(*number));
                    if (!fits)
                        break;
                    numbers.push_back(*number);
                }
                const std::size_t count = split(text).size();
                if (numbers.size() != count || count < 1 || count > 3)
                    return fmt::format("a number from {} to {}, or one each for y,x of an image "
                                       "and z,y,x of a volume{}",
                                       field.least, field.most,
                                       unit ? "; or with a unit, such as 2um" : "");
                scales = count == 1   ? kernel::Scales(numbers[0])
                         : count == 2 ? kernel::Scales(numbers[1], numbers[0])
                                      : kernel::Scales(numbers[2], numbers[1], numbers[0]);
                if (unit)
                    *unit = stated;
                return std::string();
            }};
}

Record record_of(FilterOptions& options) {
    using kernel::Border;
    using Weights = kernel::GaussianKernel::Weights;
    constexpr double most_sample = 1e30; // largest border_value
    Record record;
    Field& sigma = record.add("sigma", codec_of(options.sigma, &options.unit), "SCALE",
                              "scale in pixels, 0 to 1000, or with unit (2um); also y,x or z,y,x");
    sigma.kind = options.unit.empty() ? Field::Kind::number : Field::Kind::text;
    sigma.between(0, kernel::largest_sigma);
    record.add("derivatives", codec_of(options.derivatives), "D,D,...",
               "derivatives or other features (docs/filters.md)");
    record.add("kernel", options.kernel, {{"gaussian", Weights::gaussian}, {"p3pc", Weights::p3pc}},
               "NAME", "filter weights of SciPy or of P-3PC");
    record
        .add("truncate", options.truncate, "SIGMAS",
             "truncation radius in sigmas; default: where weights are negligible")
        .between(0, kernel::largest_truncation);
    record.add("before", codec_of(options.before), "D@PIXELS,...",
               "filters to apply first, one after the other, such as smooth@2");
    record.add("border", options.border,
               {{"replicate", Border::replicate},
                {"mirror", Border::mirror},
                {"reflect", Border::reflect},
                {"constant", Border::constant},
                {"wrap", Border::wrap}},
               "HOW", "border handling");
    record
        .add("border_value", options.border_value, "V",
             "value outside the image, -1e30 to 1e30, for border constant")
        .between(-most_sample, most_sample);
    record.add_memory("memory", options.memory,
                      "memory limit for image and results; larger images are streamed");
    record.add("grid", options.grid,
               "columns x rows (x layers) of tiles; default: predicted to be fastest");
    record.add("distribute", options.distribute, "HOW",
               "how ranks get tiles: read (each its own), scatter, broadcast, any");
    record
        .add("shared_memory", options.shared_memory, "WHEN",
             "share memory between processes of a node")
        .one_of({"auto", "on", "off"});
    planner::declare_planning(record, options.machine, options.probing);
    return record;
}

Effects effects_of(const FilterOptions& options) {
    Effects effects = planner::effects_of_planning(options.machine);
    effects.push_back({{"border_value"}, "expected {border} constant", [&] {
                           return options.border == kernel::Border::constant;
                       }});
    effects.push_back({{"truncate"}, "the kernel p3pc has a fixed size", [&] {
                           return options.kernel != kernel::GaussianKernel::Weights::p3pc;
                       }});
    return effects;
}

namespace {

/// The scales of options, converted to pixels. Throws InvalidTask, naming the option.
class ScalesInPixels {
  public:
    ScalesInPixels(const FilterOptions& options, kernel::Dimensions dimensions)
        : options_(options), dimensions_(dimensions) {
        const std::string text = text_of(options.sigma) + options.unit;
        const bool of_image =
            options.sigma.z < 0; // otherwise for a volume, or one number for all axes
        if (dimensions == kernel::Dimensions::two && !of_image &&
            options.sigma != kernel::Scales(options.sigma.x))
            throw InvalidTask(fmt::format(
                "sigma {}: expected one number, or one each for y,x, for an image", text));
        if (dimensions == kernel::Dimensions::three && of_image)
            throw InvalidTask(fmt::format(
                "sigma {}: expected one number, or one each for z,y,x, for a volume", text));
        if (!options.unit.empty() && !options.pixel)
            throw InvalidTask(fmt::format(
                "sigma {}: the size of a pixel is unknown, expected a scale in pixels", text));
        if (!options.unit.empty())
            pixel_ = *options.pixel;
        sigma_ = {options.sigma.x / pixel_.x, options.sigma.y / pixel_.y,
                  options.sigma.z / pixel_.z};
        if (dimensions == kernel::Dimensions::two)
            sigma_ = sigma_.x == sigma_.y ? kernel::Scales(sigma_.x)
                                          : kernel::Scales(sigma_.x, sigma_.y);
        if (const std::string wrong = wrong_scale(sigma_, dimensions); !wrong.empty())
            throw InvalidTask(fmt::format("sigma {}: {}", text, wrong));
    }

    const kernel::Scales& pixel() const { return pixel_; }
    const kernel::Scales& sigma() const { return sigma_; }

    kernel::Scales before(const EarlierFilter& earlier) const {
        return in_pixels("before", earlier.feature, earlier.sigma, 0);
    }

    /// The features, with integration scales in pixels.
    std::vector<std::string> features() const {
        std::vector<std::string> all = options_.derivatives;
        for (std::string& feature : all) {
            const std::size_t at = feature.find('@');
            if (at == std::string::npos)
                continue;
            const auto scale = parsed_number<double>(std::string_view(feature).substr(at + 1));
            if (!scale || !is_scale(*scale))
                continue; // the kernel rejects the name later
            const double pixels =
                in_pixels("derivatives", feature.substr(0, at), *scale, kernel::smallest_sigma).x;
            if (!options_.unit.empty())
                feature = fmt::format("{}@{}", feature.substr(0, at), pixels);
        }
        return all;
    }

  private:
    kernel::Scales in_pixels(const char* option, const std::string& feature, double scale,
                             double least) const {
        if (sigma_.x == 0)
            throw InvalidTask(
                fmt::format("{} {}@{}{}: scales after @ are relative to sigma along x, which is 0",
                            option, feature, scale, options_.unit));
        const kernel::Scales scales = kernel::in_proportion(sigma_, scale / pixel_.x);
        const std::string wrong = wrong_scale(scales, dimensions_, least);
        if (!wrong.empty())
            throw InvalidTask(fmt::format("{} {}@{}{}: {}{}", option, feature, scale, options_.unit,
                                          wrong, proportions()));
        return scales;
    }

    /// Describes how scales after @ differ between axes; empty if they are equal.
    std::string proportions() const {
        if (sigma_ == kernel::Scales(sigma_.x))
            return "";
        return fmt::format(
            " (scales after @ have the same ratios between axes as sigma, {} pixels)",
            text_of(sigma_));
    }

    const FilterOptions& options_;
    const kernel::Dimensions dimensions_;
    kernel::Scales pixel_ = 1, sigma_ = 1;
};

} // namespace

Filters filters_of(const FilterOptions& options, kernel::Dimensions dimensions) {
    constexpr std::size_t most_before = 16, most_derivatives = 64;
    FilterOptions declared = options;
    const Record record = record_of(declared);
    record.check();
    check_effects(declared, record);
    const auto check = [](const char* option, std::size_t names, std::size_t most) {
        if (names > most)
            throw InvalidTask(
                fmt::format("{} lists {} names, expected {} or fewer", option, names, most));
    };
    check("before", options.before.size(), most_before);
    check("derivatives", options.derivatives.size(), most_derivatives);
    const ScalesInPixels scales(options, dimensions);
    Filters filters;
    for (const EarlierFilter& earlier : options.before)
        filters.push_back({scales.before(earlier), {earlier.feature}, {}, {}});
    filters.push_back({scales.sigma(), scales.features(), {}, {}});
    for (Filter& filter : filters) {
        filter.border = {options.border, static_cast<float>(options.border_value)};
        filter.kernel = kernel_of(options);
        filter.pixel = scales.pixel();
        distributed::bank_of(filter, dimensions); // throws if the filter is invalid
    }
    return filters;
}

} // namespace sextant
