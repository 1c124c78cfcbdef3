// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series_identity.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

// Members are bound by name, so that a new member must be added here before this compiles.

Checkpoint::Identity identity_of(const RigidOptions& options) {
    const auto& [most_steps, stop, least_lead, most_rotation, inverts, reserved] = options;
    return {{"rigid.most_steps", fmt::to_string(most_steps)},
            {"rigid.stop", fmt::to_string(stop)},
            {"rigid.least_lead", fmt::to_string(least_lead)},
            {"rigid.most_rotation", fmt::to_string(most_rotation)},
            {"rigid.inverts", fmt::to_string(inverts)}};
}

Checkpoint::Identity identity_of(const SplineFitOptions& options) {
    const auto& [steps, stop, reach, weak_steps, share_of_strain, reserved] = options;
    return {{"nonrigid.fit.steps", fmt::to_string(steps)},
            {"nonrigid.fit.stop", fmt::to_string(stop)},
            {"nonrigid.fit.reach", fmt::to_string(reach)},
            {"nonrigid.fit.weak_steps", fmt::to_string(weak_steps)},
            {"nonrigid.fit.share_of_strain", fmt::to_string(share_of_strain)}};
}

Checkpoint::Identity identity_of(const NonrigidOptions& options) {
    const auto& [prefilter, levels, fit, reserved] = options;
    Checkpoint::Identity identity = {{"nonrigid.prefilter", fmt::to_string(prefilter)},
                                     {"nonrigid.levels", fmt::to_string(levels)}};
    std::ranges::move(identity_of(fit), std::back_inserter(identity));
    return identity;
}

Checkpoint::Identity identity_of(const FrameLimits& options) {
    const auto& [least_brightness, most_gaps, reserved] = options;
    return {{"limits.least_brightness", fmt::to_string(least_brightness)},
            {"limits.most_gaps", fmt::to_string(most_gaps)}};
}

} // namespace

Checkpoint::Identity identity_of(const RegistrationOptions& options,
                                 std::span<const std::string_view> without) {
    RegistrationOptions listed = options;
    Record record = record_of(listed);
    for (const std::string_view name : without) {
        (void)record[name]; // throws if there is no such field
        record.without(name);
    }
    Checkpoint::Identity identity;
    for (const Field& field : record.fields) {
        const std::string text = field.text();
        identity.emplace_back(field.name, text.empty() ? "the default" : text);
    }
    for (Checkpoint::Identity members :
         {identity_of(options.rigid), identity_of(options.nonrigid), identity_of(options.limits)})
        std::ranges::move(members, std::back_inserter(identity));
    return identity;
}

Record compared_options(RegistrationOptions& options) {
    Record record = record_of(options);
    for (const auto& [name, value] : identity_of(options, {})) {
        if (!record.find(name))
            record.add(name, Codec{[value = value] { return value; }, nullptr}, "", "");
    }
    return record;
}

std::span<const std::string_view> options_without_effect_on_checkpoints() {
    // `reproducible` has an effect, together with the number of ranks; it is stated as the order of
    // association.
    static constexpr std::array<std::string_view, 10> names = {
        "reproducible", "recorded_mean", "threads", "thread_work", "memory",
        "checkpoint",   "restart",       "average", "frames",      "canvas"};
    return names;
}

std::span<const std::string_view> options_without_effect_on_links() {
    // Those of the checkpoint, and those that only choose which frames are registered to which, or
    // what is done with the links. Links of frames with removed shading or outliers are not taken.
    static constexpr std::array<std::string_view, 18> names = {
        "model",       "reference", "stages",     "reproducible", "recorded_mean", "threads",
        "thread_work", "memory",    "checkpoint", "restart",      "farthest",      "tolerance",
        "average",     "frames",    "despike",    "flatten",      "canvas",        "scan_rows"};
    return names;
}

} // namespace sextant::registration
