// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/transforms.hpp"
#include "sextant/command/work_log.hpp"
#include "sextant/registration/series_registration.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// Parameters and results of a run of `sextant register`.
struct RegisterSummary {
    SeriesTransforms transforms;
    std::string output, transport;
    int ranks = 1, team = 1;   ///< number of ranks, and of threads per rank
    RegistrationResult result; ///< without its frames, which are in `transforms`
    std::vector<std::string> files, warnings;
    std::optional<GatheredWork> work; ///< set only for a report page
};

std::string to_text(const RegisterSummary& summary);
/// One JSON object; docs/json.md describes its fields.
std::string to_json(const RegisterSummary& summary);
/// A self-contained HTML page. Requires `summary.work` and the mean of the frames as recorded.
std::string to_page(const RegisterSummary& summary);

} // namespace sextant::command
