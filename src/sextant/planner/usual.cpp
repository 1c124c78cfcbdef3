// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/usual.hpp"

#include "sextant/core/error.hpp"
#include "sextant/machine/built_in.hpp"
#include "sextant/machine/places.hpp"
#include "sextant/machine/profile_file.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

std::string named_by_user(const std::string& asked) {
    if (!asked.empty())
        return asked;
    const char* named = std::getenv("SEXTANT_MACHINE");
    return named ? named : "";
}

UsualPlanner with(machine::Profile profile, const std::string& path = "") {
    return {std::make_shared<Planner>(std::move(profile)), path, {}};
}

UsualPlanner read_own(const std::string& path) {
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored))
        return with(machine::built_in());
    try {
        return with(machine::read_profile(path), path);
    } catch (const InvalidFile& damaged) {
        UsualPlanner planner = with(machine::built_in());
        planner.warnings.push_back(
            fmt::format("{}; planned with a built-in machine; sextant calibrate measures this one",
                        damaged.what()));
        return planner;
    }
}

/// Who named it in the environment may have forgotten that.
UsualPlanner read_named(const std::string& path, bool by_environment) {
    try {
        return with(machine::read_profile(path), path);
    } catch (const InvalidFile& unreadable) {
        if (by_environment)
            throw InvalidFile("SEXTANT_MACHINE", unreadable.what());
        throw;
    }
}

} // namespace

UsualPlanner usual_planner(std::string_view transport, const std::string& asked) {
    static std::mutex mutex;
    static std::map<std::string, UsualPlanner> made;
    const std::string named = named_by_user(asked);
    const std::string path = named.empty() ? machine::default_profile_path(transport) : named;
    const std::lock_guard lock(mutex);
    if (const auto found = made.find(path); found != made.end())
        return found->second;
    UsualPlanner planner = named.empty() ? read_own(path) : read_named(path, asked.empty());
    return made.emplace(path, std::move(planner)).first->second;
}

Plan plan_or_built_in(const UsualPlanner& usual, const compositing::Task& task, const Work& work,
                      const compositing::Tuning& asked, std::vector<std::string>& warnings) {
    try {
        return usual.planner->plan(task, work, asked);
    } catch (const model::CannotExpress& why) {
        static Planner built_in(machine::built_in());
        warnings.push_back(fmt::format("{}; planned with a built-in machine instead", why.what()));
        return built_in.plan(task, work, asked);
    }
}

} // namespace sextant::planner
