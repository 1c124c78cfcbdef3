// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/schedule/programs.hpp"
#include "sextant/schedule/prove.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::command {

/// A schedule of a family, and the claim that proofs check.
struct NamedSchedule {
    std::string algorithm; ///< name within the family
    std::string title;     ///< name and tuning
    Programs programs;
    Claim claim;
    std::optional<Grid> grid; ///< grid of processors, if groups of ranks are submachines of it
    /// The collective operation, if the claim is that of a schedule file.
    std::optional<CollectiveKind> kind = {};
    bool commutative = false;
    Elements elements = 0; ///< size of the data

    int ranks() const { return programs.ranks(); }
    /// Makes the programs of all ranks.
    Schedule schedule() const {
        return sextant::make_schedule(ranks(), [this](int rank) { return programs.of(rank); });
    }
};

/// An algorithm as listed by `list`.
struct FamilyAlgorithm {
    std::string_view family, name, summary;
    std::string_view takes; ///< supported numbers of ranks
    std::string_view source;
};

/// Returns the algorithms of all families.
std::vector<FamilyAlgorithm> family_algorithms();

struct ScheduleRequest {
    std::string family = "compositing";
    std::string algorithm = {};      ///< name; if empty, all algorithms or the default one
    compositing::Tuning tuning = {}; ///< for compositing; if unset, every tuning or the default one
    /// For collectives: the parameters of logp-lev-rec (gamma) and 2-lev-rec (alpha).
    std::optional<double> gamma = {}, alpha = {};
    int ranks = 8;
    Elements elements = 0;
    int root = compositing::Task::distributed; ///< only for compositing
};

/// Declares all fields except the root.
Record record_of(ScheduleRequest& request);

/// True if the request is for a schedule in a file, whose name ends in .json, instead of a family.
bool is_file(const ScheduleRequest& request);
/// States that options of the request, and these, have no effect on a schedule in a file.
Effects effects_of(const ScheduleRequest& request, std::vector<std::string_view> others = {});

/// Calls `use` for a schedule of the request. Errors of a schedule in a file, such as a deadlock,
/// are then thrown as InvalidFile.
template <class Use>
auto with_errors_of(const ScheduleRequest& request, Use use) {
    try {
        return use();
    } catch (const std::logic_error& error) {
        if (is_file(request))
            throw InvalidFile(request.family, error.what());
        throw;
    }
}

/// The maximum number of messages of a schedule. Schedules are held in memory, with about half a
/// kilobyte and some microseconds per message. Making the programs of a larger schedule, from rank
/// 0 on, throws InvalidTask.
inline constexpr std::int64_t most_messages = 2'000'000;

/// Makes or reads one schedule: that of a file, or of the named algorithm, or of the default
/// algorithm of its family, with the requested tuning or the default one. Throws InvalidTask if the
/// request is invalid or has parameters that the family does not use.
NamedSchedule make_schedule(const ScheduleRequest& request);

/// An algorithm with one tuning.
struct Configuration {
    std::string_view algorithm;
    std::function<NamedSchedule(const ScheduleRequest& request)> make;
};

/// The configurations of a family for a number of ranks: each algorithm (or the named one) with
/// each tuning (or the given one, if the algorithm uses it). Empty if the algorithm does not
/// support this number of ranks. Throws InvalidTask.
std::vector<Configuration> configurations_of(const ScheduleRequest& request);

/// The rows of the catalogue of families (families.cpp).

/// The algorithms of a family, for any number of ranks.
struct Family {
    std::string_view name;
    std::vector<FamilyAlgorithm> algorithms = {};   ///< listed by `list`
    std::vector<Configuration> configurations = {}; ///< by algorithm; its default tuning first
    /// Returns the configurations for a request; null if they do not depend on the request.
    std::vector<Configuration> (*configurations_for)(const ScheduleRequest& request) = nullptr;
    /// Returns the default configuration for a request; null if it is the first one.
    Configuration (*usual)(const ScheduleRequest& request) = nullptr;

    void add(std::string_view algorithm, std::string_view summary, std::string_view source) {
        algorithms.push_back({name, algorithm, summary, "any number", source});
    }
    void add(std::string_view algorithm, std::string_view summary, std::string_view source,
             NamedSchedule (*make)(const ScheduleRequest& request)) {
        add(algorithm, summary, source);
        configurations.push_back({algorithm, make});
    }
};

/// Returns the programs of all ranks, which throw InvalidTask once those made since rank 0 have
/// more than `most_messages` messages.
Programs all_programs(const ScheduleRequest& request, std::string_view title,
                      std::function<Program(int rank)> program);

Family compositing_family();
Family scan_family();   ///< each scan, inclusive and exclusive; its native form first
Family series_family(); ///< each strategy with each scan
Family collective_family();
Family halo_family();
Family merging_family();

} // namespace sextant::command
