// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/richest_model.hpp"

#include <array>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

/// From the richest to the simplest.
constexpr std::array<std::string_view, 4> models_by_wealth = {"p3pc-extended", "loggp", "hockney",
                                                              "c3"};

} // namespace

const model::Model& richest_model(const std::string& asked, std::string_view what,
                                  const std::function<void(const model::Model&)>& predict) {
    if (!asked.empty())
        return model::find(asked);
    std::string refusals;
    for (const std::string_view name : models_by_wealth) {
        const model::Model& model = model::find(name);
        try {
            predict(model);
            return model;
        } catch (const model::CannotExpress& why) {
            refusals += fmt::format("\n  {}: {}", name, why.what());
        }
    }
    throw model::CannotExpress(
        fmt::format("no cost model can say what {} would take here:{}", what, refusals));
}

} // namespace sextant::planner
