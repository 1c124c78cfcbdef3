// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/planner.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/record.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/machine/profile_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::planner {

void declare_planning(Record& record, std::string& machine, Probing& probing) {
    record
        .add("machine", machine, "FILE", "machine profile for predictions; default: this machine's")
        .file()
        .by_rank();
    record
        .add("probe", probing,
             {{"now", Probing::now}, {"kept", Probing::kept}, {"off", Probing::off}}, "WHEN",
             "if this machine has no profile, measure it for a tenth of the time of the work, at "
             "most a second")
        .by_rank();
}

Effects effects_of_planning(const std::string& machine) {
    return {{{"probe"}, "{machine} names a profile", [&] { return machine.empty(); }}};
}

namespace {

/// Returns a cache key that contains everything that a plan depends on. The structured bindings do
/// not compile if a member is added, so no member can be forgotten.
std::string key(const compositing::Task& task, const Work& work,
                const compositing::Tuning& requested) {
    const auto& [ranks, elements, order, layers, root] = task;
    const auto& [operator_name, element_name, element_size, folds_at_once, nodes, within_node,
                 model, density, sparse] = work;
    const auto& [radices, window, interlace] = requested;
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}", ranks, elements,
                       fmt::join(order, ","), fmt::join(layers, ","), root, operator_name,
                       element_name, element_size, folds_at_once, fmt::join(nodes, ","),
                       static_cast<int>(within_node), model, fmt::join(radices, ","), window,
                       interlace, density, static_cast<int>(sparse));
}

/// Compression rarely pays off above this density.
constexpr double most_worth_coding = .75;

/// True if compression may pay off. Between threads it never does, because threads move no data.
bool may_be_sparse(const Work& work) {
    return work.sparse != Sparse::off && work.density <= most_worth_coding &&
           work.within_node != machine::Link::same_process;
}

/// Returns the faster of two plans, with the reason.
CompositingPlan faster(CompositingPlan dense, CompositingPlan sparse, double density) {
    const auto& d = dense.alternatives.front().expected;
    const auto& s = sparse.alternatives.front().expected;
    const bool wins = d && s && s->seconds < d->seconds;
    CompositingPlan& best = wins ? sparse : dense;
    if (d && s)
        best.reason += fmt::format("; {:.0f} % of pixels active: sparse {:.3g} ms, dense {:.3g} ms",
                                   density * 100, s->seconds * 1e3, d->seconds * 1e3);
    return best;
}

/// Without a prediction, messages within one node are compressed only up to this density: there a
/// message is a copy, and finding the empty pixels costs half a copy (docs/measurements.md).
constexpr double worth_coding_on_a_node = .25;

} // namespace

bool sparse_by_rule(const Work& work) {
    if (work.sparse == Sparse::on)
        return true;
    const bool one_node = std::adjacent_find(work.nodes.begin(), work.nodes.end(),
                                             std::not_equal_to<>()) == work.nodes.end();
    return may_be_sparse(work) && (!one_node || work.density <= worth_coding_on_a_node);
}

CompositingPlan Planner::plan(const compositing::Task& task, const Work& work,
                              const compositing::Tuning& requested) {
    const std::string question = key(task, work, requested);
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = known_.find(question); found != known_.end())
            return found->second;
    }
    CompositingPlan plan = predict(task, work, requested);
    const std::lock_guard lock(mutex_);
    return known_.emplace(question, std::move(plan)).first->second;
}

Setting Planner::setting(const Work& work, bool sparse) const {
    return {.machine = machine_,
            .element_size = work.element_size,
            .operator_name = work.operator_name,
            .element_name = work.element_name,
            .folds_at_once = work.folds_at_once,
            .nodes = work.nodes,
            .wires = wires_ ? &*wires_ : nullptr,
            .within_node = work.within_node,
            .density = sparse ? work.density : 1,
            .coded = sparse,
            .model = work.model};
}

std::optional<model::Prediction> Planner::predict(const compositing::Task& task,
                                                  const compositing::Configuration& configuration,
                                                  const Setting& setting) const {
    const Candidate candidate = compositing::candidate(task, configuration);
    try {
        return choose(std::span(&candidate, 1), setting).chosen().predicted;
    } catch (const model::CannotExpress&) {
        return std::nullopt;
    }
}

std::optional<Seconds> Planner::seconds(const compositing::Task& task,
                                        const compositing::Configuration& configuration,
                                        const Work& work) const {
    const auto predicted = predict(task, configuration, setting(work, work.sparse == Sparse::on));
    return predicted ? std::optional(predicted->seconds) : std::nullopt;
}

std::optional<model::Prediction>
Planner::prediction(const compositing::Task& task, const compositing::Configuration& configuration,
                    const Work& work) const {
    Setting with_timeline = setting(work, work.sparse == Sparse::on);
    with_timeline.timeline = true;
    return predict(task, configuration, with_timeline);
}

CompositingPlan Planner::predict(const compositing::Task& task, const Work& work,
                                 const compositing::Tuning& requested) const {
    if (work.sparse == Sparse::on)
        return predict(task, work, requested, true);
    CompositingPlan dense = predict(task, work, requested, false);
    if (!may_be_sparse(work) || dense.alternatives.empty())
        return dense;
    return faster(std::move(dense), predict(task, work, requested, true), work.density);
}

CompositingPlan Planner::predict(const compositing::Task& task, const Work& work,
                                 const compositing::Tuning& requested, bool sparse) const {
    std::vector<compositing::Configuration> configurations = configurations_with(task, requested);
    for (compositing::Configuration& configuration : configurations)
        configuration.sparse = sparse;
    if (task.positions() < 2) {
        return {.configuration = configurations.front(),
                .reason = "nothing to choose: fewer than two ranks hold images",
                .machine = machine_.name};
    }
    const std::vector<Candidate> candidates = compositing::candidates(task, configurations);
    return plan_of<compositing::Configuration>(choose(candidates, setting(work, sparse)),
                                               configurations, machine_.name);
}

namespace {

/// The largest ratio of interlaced to plain traffic for which images are interlaced: predictions of
/// traffic are not accurate enough for smaller gains (docs/measurements.md).
constexpr double most_worth_interlacing = .9;

/// The minimum block size, in pixels: shorter blocks would cause many calls with little work each.
constexpr Elements least_block = 256;

/// Returns the active pixels of part i of p, as a fraction of the image.
double drawn_in(const DrawnBands& bands, int i, int p) {
    const double from = static_cast<double>(i) * drawn_bands / p,
                 to = static_cast<double>(i + 1) * drawn_bands / p;
    double sum = 0;
    for (int band = static_cast<int>(from); band < drawn_bands && band < to; ++band) {
        const double within = std::min<double>(to, band + 1) - std::max<double>(from, band);
        sum += bands[static_cast<std::size_t>(band)] * std::max(0.0, within);
    }
    return sum / drawn_bands;
}

double mean(const DrawnBands& bands) {
    return std::accumulate(bands.begin(), bands.end(), 0.0) / drawn_bands;
}

/// Returns the active pixels of part i of p, as a fraction of the image; the same for all parts if
/// interlaced.
double share(const DrawnBands& bands, int i, int p, bool interlaced) {
    return interlaced ? mean(bands) / p : drawn_in(bands, i, p);
}

} // namespace

double busiest_traffic(const compositing::Task& task, std::span<const DrawnBands> drawn,
                       bool interlaced) {
    // Active fractions, summed over all layers; fractions that no layer covers.
    DrawnBands all{}, nowhere{};
    nowhere.fill(1);
    const int p = task.positions();
    for (int i = 0; i < p; ++i) {
        for (std::size_t b = 0; b < all.size(); ++b) {
            const double here = drawn[static_cast<std::size_t>(i)][b];
            for (int layer = 0; layer < task.layers_at(i); ++layer) {
                all[b] += here;
                nowhere[b] *= 1 - here;
            }
        }
    }
    DrawnBands picture{};
    std::transform(nowhere.begin(), nowhere.end(), picture.begin(),
                   [](double none) { return 1 - none; });
    double busiest = 0, collected = 0, root = 0;
    for (int i = 0; i < p; ++i) {
        const DrawnBands& own = drawn[static_cast<std::size_t>(i)];
        const double layers = task.layers_at(i), kept = layers * share(own, i, p, interlaced);
        const double exchanged = layers * mean(own) - kept + share(all, i, p, interlaced) - kept;
        const double piece = share(picture, i, p, interlaced);
        if (task.order[static_cast<std::size_t>(i)] == task.root) {
            root = exchanged;
            continue;
        }
        const double given = task.root == compositing::Task::distributed ? 0 : piece;
        collected += given;
        busiest = std::max(busiest, exchanged + given);
    }
    return std::max(busiest, root + collected);
}

bool interlacing_pays(const compositing::Task& task, std::span<const DrawnBands> drawn) {
    if (task.positions() < 2 || task.root == compositing::Task::distributed)
        return false;
    return busiest_traffic(task, drawn, true) <
           most_worth_interlacing * busiest_traffic(task, drawn, false);
}

Elements interlaced_block(Elements row) {
    return row > 0 ? (least_block + row - 1) / row * row : least_block;
}

namespace {

std::string named_by_user(const std::string& requested) {
    if (!requested.empty())
        return requested;
    const char* named = std::getenv("SEXTANT_MACHINE");
    return named ? named : "";
}

DefaultPlanner with(machine::Profile profile, const std::string& path = "") {
    return {std::make_shared<Planner>(std::move(profile)), path, {}};
}

DefaultPlanner read_own(const std::string& path) {
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored))
        return with(machine::built_in());
    try {
        return with(machine::read_profile(path), path);
    } catch (const InvalidFile& damaged) {
        DefaultPlanner planner = with(machine::built_in());
        planner.warnings.push_back(fmt::format("{}; planned with a built-in machine profile; run "
                                               "sextant calibrate to measure this machine",
                                               damaged.what()));
        return planner;
    }
}

/// Reads a profile. If the environment names the profile, the error names the variable, because the
/// user may have forgotten it.
DefaultPlanner read_named(const std::string& path, bool by_environment) {
    try {
        return with(machine::read_profile(path), path);
    } catch (const InvalidFile& unreadable) {
        if (by_environment)
            throw InvalidFile("SEXTANT_MACHINE", unreadable.what());
        throw;
    }
}

} // namespace

DefaultPlanner default_planner(std::string_view transport, const std::string& requested) {
    static std::mutex mutex;
    static std::map<std::string, DefaultPlanner> made;
    const std::string named = named_by_user(requested);
    const std::string path = named.empty() ? machine::default_profile_path(transport) : named;
    const std::lock_guard lock(mutex);
    if (const auto found = made.find(path); found != made.end())
        return found->second;
    DefaultPlanner planner = named.empty() ? read_own(path) : read_named(path, requested.empty());
    return made.emplace(path, std::move(planner)).first->second;
}

CompositingPlan plan_or_built_in(const DefaultPlanner& usual, const compositing::Task& task,
                                 const Work& work, const compositing::Tuning& requested,
                                 std::vector<std::string>& warnings) {
    try {
        return usual.planner->plan(task, work, requested);
    } catch (const model::CannotExpress& why) {
        static Planner built_in(machine::built_in());
        warnings.push_back(
            fmt::format("{}; planned with a built-in machine profile instead", why.what()));
        return built_in.plan(task, work, requested);
    }
}

} // namespace sextant::planner
