// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/bench_filter_cases.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/names.hpp"
#include "sextant/operation/bench/case_reader.hpp"
#include "sextant/operation/filter/filter_parameters.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

using Json = nlohmann::json;

struct NamedSamples {
    std::string_view name;
    const ElementFormat* element;
};

const NamedSamples samples[] = {{"f32", &gray_f32}, {"u8", &gray_u8}, {"u16", &gray_u16}};

ElementFormat samples_named(const CaseReader& reader, const std::string& name) {
    std::vector<std::string_view> names;
    for (const NamedSamples& each : samples) {
        if (each.name == name)
            return *each.element;
        names.push_back(each.name);
    }
    reader.fail(unknown_name("element", name, names));
}

void name_it(FilterCase& made) {
    if (made.name.empty())
        made.name =
            fmt::format("{}x{} {}, sigma {}, {} derivatives", made.shape.width, made.shape.height,
                        made.element.name, made.filter.sigma, made.filter.features.size());
}

FilterCase read_case(const CaseReader& reader, const Json& json) {
    FilterCase made;
    distributed::Filter& filter = made.filter;
    CaseReader::Fields fields = {
        {"name", [&](const Json& v) { made.name = v.get<std::string>(); }},
        {"element",
         [&](const Json& v) { made.element = samples_named(reader, v.get<std::string>()); }},
        {"sigma", [&](const Json& v) { filter.sigma = v.get<double>(); }},
        {"kernel",
         [&](const Json& v) { filter.kernel.weights = weights_named(v.get<std::string>()); }},
        {"derivatives", [&](const Json& v) { v.get_to(filter.features); }},
        {"most",
         [&](const Json& v) { made.most = static_cast<int>(reader.whole("most", v, 1, 1000)); }},
    };
    fields.merge(reader.size_fields(made.shape));
    reader.each_field(json, fields);
    try {
        distributed::bank_of(filter);
    } catch (const InvalidTask& error) {
        reader.fail(error.what());
    }
    name_it(made);
    return made;
}

} // namespace

std::vector<FilterCase> read_filter_cases(const std::string& path) {
    std::vector<FilterCase> cases;
    for (const Json& json : read_cases(path))
        cases.push_back(read_case({path, cases.size()}, json));
    return cases;
}

FilterCase usual_filter_case() {
    FilterCase usual;
    name_it(usual);
    return usual;
}

} // namespace sextant::operation
