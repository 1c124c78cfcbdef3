// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/list.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/kernel/catalogue.hpp"
#include "sextant/model/model.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

struct Row {
    std::string name, summary, detail;
};

struct Section {
    std::string name;
    std::vector<Row> rows;
};

std::vector<Section> sections() {
    Section algorithms{"algorithms", {}}, operators{"operators", {}}, formats{"formats", {}},
        models{"models", {}};
    for (const auto& row : compositing::catalogue()) {
        algorithms.rows.push_back({std::string(row.name), std::string(row.summary),
                                   fmt::format("{} ranks; {}", row.takes, row.source)});
    }
    for (const Operator& row : kernel::catalogue()) {
        operators.rows.push_back(
            {std::string(row.name), std::string(row.summary),
             fmt::format("on {}{}", row.element.name, row.commutative ? ", commutative" : "")});
    }
    for (const auto& row : format::catalogue()) {
        formats.rows.push_back({std::string(row.extension),
                                fmt::format("{}: {}", row.name, row.summary),
                                row.write ? "read and written" : "read only"});
    }
    for (const model::Model& row : model::catalogue()) {
        models.rows.push_back(
            {std::string(row.name), std::string(row.summary), std::string(row.source)});
    }
    return {algorithms, operators, models, formats};
}

std::size_t widest_name(const std::vector<Section>& sections) {
    std::size_t width = 0;
    for (const Section& section : sections) {
        for (const Row& row : section.rows)
            width = std::max(width, row.name.size());
    }
    return width;
}

int run_list(const Values& values) {
    const std::string wanted = values.text("what");
    const std::vector<Section> all = sections();
    const std::size_t width = widest_name(all);
    nlohmann::ordered_json json;
    for (const Section& section : all) {
        if (wanted != "all" && wanted != section.name)
            continue;
        if (!values.flag("json"))
            std::fputs((section.name + "\n").c_str(), stdout);
        for (const Row& row : section.rows) {
            json[section.name].push_back(
                {{"name", row.name}, {"summary", row.summary}, {"detail", row.detail}});
            if (values.flag("json"))
                continue;
            std::fputs(fmt::format("  {:<{}} {}\n  {:<{}} {}\n", row.name, width, row.summary, "",
                                   width, row.detail)
                           .c_str(),
                       stdout);
        }
    }
    if (values.flag("json"))
        std::fputs((json.dump(2) + "\n").c_str(), stdout);
    return 0;
}

} // namespace

Operation list_operation() {
    return {"list",
            "what there is: algorithms, operators, cost models, file formats",
            "  sextant list algorithms",
            {{"what",
              Type::choice,
              "WHAT",
              "all",
              "which catalogue",
              0,
              true,
              false,
              {"all", "algorithms", "operators", "models", "formats"}},
             {"json", Type::flag, "", "", "as JSON"}},
            run_list};
}

} // namespace sextant::operation
