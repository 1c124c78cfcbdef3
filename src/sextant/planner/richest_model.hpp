// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace sextant::planner {

/// The cost model that is asked for by name; where none is, the richest that the profile has
/// parameters for: the first of which `predict` does not throw model::CannotExpress.
/// Throws    model::CannotExpress with what each said, if none has words for `what`.
const model::Model& richest_model(const std::string& asked, std::string_view what,
                                  const std::function<void(const model::Model&)>& predict);

} // namespace sextant::planner
