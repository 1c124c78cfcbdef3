// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/schedules/explanation.hpp"

#include "sextant/comm/waiting.hpp"
#include "sextant/command/schedules/trials.hpp"
#include "sextant/contour/tile_lists.hpp"
#include "sextant/contours/merging_plan.hpp"
#include "sextant/core/error.hpp"
#include "sextant/registration/series/division.hpp"
#include "sextant/registration/transform/array_choices.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::command {

namespace {

using planner::Setting;

/// Returns the predicted time; its lower bound if the schedule has too many messages to evaluate.
template <class Configuration>
model::Span time_of(const planner::Alternative<Configuration>& alternative) {
    if (const auto& expected = alternative.expected)
        return {expected->seconds, expected->low, expected->high};
    return model::Span(alternative.bound.value_or(0));
}

constexpr const char* not_measured =
    "not measured: SEXTANT_PROBE is off, or a launcher started this process";

/// Sorts candidates and chooses the first: predicted ones first, then those with the lowest bounds.
/// Candidates with equal times keep their order.
NamedPlan plan_of(std::vector<planner::Alternative<NamedConfiguration>> all,
                  const std::string& model, const std::string& machine) {
    std::ranges::stable_sort(all, {}, [](const auto& each) {
        return std::tuple(!each.expected, each.expected ? each.expected->seconds : 0,
                          each.bound.value_or(0));
    });
    return {.configuration = all.front().configuration,
            .reason = fmt::format("{} of {} by {} on {}",
                                  all.front().expected ? "fastest" : "not predicted; first",
                                  report::counted(std::ssize(all), "candidate"), model, machine),
            .model = model,
            .machine = machine,
            .alternatives = std::move(all)};
}

/// The candidates of an operation, each with the time of the busiest rank's strips and of messages.
class Candidates {
  public:
    /// `work`: the time on this machine, if it was measured.
    Candidates(const Setting& setting, std::optional<SharedTime> work)
        : setting_(setting), work_(std::move(work)) {}

    /// Adds a candidate that uses this number of cores, and the time of its messages.
    void add(std::string name, int cores, const model::Span& messages = {}) {
        planner::Alternative<NamedConfiguration> one{.configuration = {std::move(name)}};
        if (work_) {
            const model::Span all = work_->on(cores) + messages;
            one.expected = {all.median, all.low, all.high};
        } else {
            if (messages.low > 0)
                one.bound = messages.low;
            one.remark = not_measured;
        }
        all_.push_back(std::move(one));
    }

    /// Returns the time of a collective operation by one algorithm.
    model::Span collective(CollectiveKind kind, std::string_view algorithm, Elements count,
                           Bytes size, int ranks) {
        const CollectivePlan plan = plan_collective(
            {kind, {count}, size}, {.algorithm = std::string(algorithm)}, ranks, setting_);
        model_ = "short runs and " + plan.model;
        return time_of(plan.alternatives.front());
    }

    NamedPlan plan() { return plan_of(std::move(all_), model_, setting_.machine.name); }

  private:
    const Setting& setting_;
    const std::optional<SharedTime> work_;
    std::string model_ = "short runs";
    std::vector<planner::Alternative<NamedConfiguration>> all_;
};

/// The largest number of ranks to compare. A node rarely has more cores, and predictions for more
/// ranks take seconds.
constexpr int most_ranks = 512;

/// Returns the divisors of the number of cores up to a limit, in ascending order.
std::vector<int> divisors(int cores, int most = most_ranks) {
    std::vector<int> all;
    for (int each = 1; each <= std::min(cores, most); ++each) {
        if (cores % each == 0)
            all.push_back(each);
    }
    return all;
}

/// Plans the merging of the lists of tiles, with entries of `size` bytes.
distributed::MergingPlan merging(const Grid& grid, double density, Bytes size,
                                 const Setting& setting) {
    Setting with_size = setting;
    with_size.element_size = size;
    return distributed::plan_merging(grid, density, with_size);
}

/// Adds a candidate of tiles for each pattern that merges them. `more`: the time of other messages.
void add_patterns(Candidates& candidates, const Grid& grid, const distributed::MergingPlan& plan,
                  const model::Span& more) {
    for (const auto& each : plan.alternatives) {
        if (each.expected)
            candidates.add(fmt::format("{}, {}x{} tiles, {}", report::counted(grid.ranks(), "rank"),
                                       grid.columns, grid.rows, each.configuration->name),
                           grid.ranks(), time_of(each) + more);
    }
}

/// Measures the command on this machine, if that is possible.
std::optional<SharedTime> measured(const PlannedTask& task, const std::string& options = "",
                                   double density = 1) {
    if (!Trials::allowed())
        return std::nullopt;
    return Trials(task, density).shared_time(options);
}

std::string shape_text(const PlannedTask& task) {
    return task.depth
               ? fmt::format("volume of {}x{}x{} voxels", task.width, task.height, *task.depth)
               : fmt::format("image of {}x{} pixels", task.width, task.height);
}

/// States where ranks are. Setting::nodes is empty if the profile has no costs within a node.
std::string places(const Setting& setting) {
    if (setting.nodes.empty())
        return "each rank is on its own node";
    const auto on_first = std::ranges::count(setting.nodes, setting.nodes.front());
    return fmt::format("ranks are {}, at most {} on a node; more threads than cores take turns",
                       setting.within_node == machine::Link::same_process ? "threads" : "processes",
                       on_first);
}

constexpr const char* included =
    "times are scaled from short runs with synthetic data on this machine, with files in the page "
    "cache; starting programs takes no time";

} // namespace

Explained explain_collective(const PlannedTask& task, const std::optional<Operator>& op, int ranks,
                             const Setting& setting) {
    const bool has_cost =
        op && setting.machine.find_operator(op->name, channels(op->element)) != nullptr;
    const bool states_cost = task.collective.operator_seconds > 0;
    if (has_cost && states_cost)
        throw InvalidTask(fmt::format("operator_seconds has no effect here: {} has the cost of {}",
                                      setting.machine.name, op->name));
    const CollectivePlan plan = plan_collective({task.kind, {task.count}, task.element_size, op},
                                                task.collective, ranks, setting);
    const Bytes size = op ? op->element.size : task.element_size;
    Explained explained{
        .question =
            fmt::format("{} of {} per rank, {} each, on {}{}", name(task.kind),
                        report::counted(task.count, "element"), report::counted(size, "byte"),
                        report::counted(ranks, "rank"),
                        has_root(task.kind) ? fmt::format(", root {}", task.collective.root) : ""),
        .plan = {.configuration = {plan.text()},
                 .reason = plan.reason,
                 .model = plan.model,
                 .machine = plan.machine,
                 .rivals = plan.rivals},
        .assumptions = {"all ranks call the operation at the same time, with equal counts",
                        "links and memory are otherwise idle"}};
    for (const auto& each : plan.alternatives)
        explained.plan.alternatives.push_back({.configuration = {each.configuration.text()},
                                               .bound = each.bound,
                                               .expected = each.expected,
                                               .remark = each.remark});
    if (op && !has_cost && !states_cost)
        explained.assumptions.push_back(fmt::format(
            "operator {} takes no time: profile lacks it; state --operator-seconds", op->name));
    return explained;
}

Explained explain_label(const PlannedTask& task, const Setting& setting) {
    // Fractions of noise that is foreground: few samples, usual, and most components.
    constexpr double least = .001, usual = .025, most = .5;
    // Per 1024 samples of the border of strips: components that touch it.
    constexpr Elements touching = 16;
    constexpr double frontier = 1.5; // list entries per pixel of a tile's border
    const char* const parts = task.depth ? "slabs" : "strips";
    const Elements samples = task.samples();
    const Elements border = task.width * (task.depth ? task.height : 1);
    std::optional<SharedTime> work = measured(task, "", task.density.value_or(usual));
    if (work && !task.density)
        work->cover(*measured(task, "", least)).cover(*measured(task, "", most));
    Candidates candidates(setting, work);
    const auto add = [&](int ranks, int threads) {
        const std::string name = fmt::format("{} of {}, {}", report::counted(ranks, "rank"),
                                             report::counted(threads, "thread"), parts);
        const Elements own = (samples + ranks - 1) / ranks;
        if (ranks == 1)
            return candidates.add(name, threads);
        const model::Span labels = candidates.collective(CollectiveKind::gather, "flat-gather", own,
                                                         sizeof(std::uint32_t), ranks);
        constexpr Bytes pair = 2 * sizeof(std::uint64_t);
        candidates.add(name, ranks * threads,
                       labels + candidates.collective(CollectiveKind::all_gather,
                                                      "direct-all-gather",
                                                      border * touching / 1024 + 1, pair, ranks));
        if (task.depth || threads > 1)
            return;
        const Grid grid = near_square(ranks, task.width, task.height);
        add_patterns(candidates, grid,
                     merging(grid, frontier, sizeof(contour::BorderPixel), setting), labels);
    };
    add(1, task.cores);
    for (const int ranks : divisors(task.cores)) {
        if (task.cores > 1)
            add(ranks, ranks > 1 ? task.cores / ranks : 1);
    }
    return {
        .question =
            fmt::format("label {} on {}", shape_text(task), report::counted(task.cores, "core")),
        .plan = candidates.plan(),
        .assumptions = {
            fmt::format("noise, {:.4g} % of it foreground (--density){}",
                        task.density.value_or(usual) * 100,
                        task.density ? "" : "; the interval covers .1 to 50 %"),
            fmt::format("{} components per 1024 samples touch the border of a rank's {}; rank 0 "
                        "receives all labels",
                        touching, parts),
            places(setting), included}};
}

Explained explain_contours(const PlannedTask& task, const Setting& setting) {
    constexpr Elements usual = 64;                // edge pixels per 1024 pixels
    constexpr double crossings = .05, edges = .1; // list entries per pixel of a tile's border
    Candidates candidates(setting, measured(task));
    for (const int ranks : divisors(task.cores)) {
        const Elements own = (task.samples() + ranks - 1) / ranks;
        if (ranks == 1) {
            candidates.add("1 rank, no messages", 1);
            continue;
        }
        const Grid grid = near_square(ranks, task.width, task.height);
        const distributed::MergingPlan hysteresis =
            merging(grid, edges, sizeof(contour::BorderPixel), setting);
        const model::Span points =
            candidates.collective(CollectiveKind::gather, "flat-gather", own * usual / 1024 + 1,
                                  2 * sizeof(Elements), ranks);
        add_patterns(candidates, grid, merging(grid, crossings, sizeof(contour::Crossing), setting),
                     points + time_of(hysteresis.alternatives.front()));
    }
    return {.question = fmt::format("trace the contours of {} on {}", shape_text(task),
                                    report::counted(task.cores, "core")),
            .plan = candidates.plan(),
            .assumptions = {
                "a lattice with little noise; default thresholds, which are quantiles; sigma 1",
                fmt::format("{} contours and {} edges per pixel of a tile's border enter the tile",
                            crossings, edges),
                places(setting), included}};
}

Explained explain_apply(const PlannedTask& task, const Setting& setting) {
    std::string method;
    for (const auto& each : registration::align_by_names()) {
        if (each.value == task.by)
            method = each.name;
    }
    Candidates candidates(setting, measured(task, "--by " + method));
    for (const int parts : divisors(task.cores, task.cores)) {
        const int threads = task.cores / parts; // the largest first
        candidates.add(report::counted(threads, "thread"), threads);
    }
    return {.question = fmt::format("apply motions by {} to {} of {}x{} pixels on {}", method,
                                    report::counted(task.frames, "frame"), task.width, task.height,
                                    report::counted(task.cores, "core")),
            .plan = candidates.plan(),
            .assumptions = {"the result has the shape of the frames, which are rotated; f32",
                            places(setting), included}};
}

Explained explain_register(const PlannedTask& task) {
    const registration::FrameCosts costs =
        registration::default_costs({task.width, task.height}, 3, false);
    const std::optional<Trials> trials =
        Trials::allowed() ? std::make_optional<Trials>(task) : std::nullopt;
    const int here = Cores::available().count();
    std::optional<model::Span> scale; // of divisions that cannot be measured here
    std::vector<planner::Alternative<NamedConfiguration>> candidates;
    std::vector<registration::Division> all =
        registration::divisions(task.cores, task.frames, costs);
    std::ranges::stable_partition(
        all, [&](const auto& each) { return each.ranks * each.threads <= here; });
    for (const registration::Division& each : all) {
        auto& one = candidates.emplace_back();
        one.configuration.name = fmt::format("{} of {}{}", report::counted(each.ranks, "rank"),
                                             report::counted(each.threads, "thread"),
                                             each.threads == 1   ? ""
                                             : each.whole_frames ? ", whole frames"
                                                                 : ", strips of rows");
        if (!trials) {
            one.remark = not_measured;
            continue;
        }
        if (each.ranks * each.threads > here && scale) {
            one.remark = "scaled from fewer cores by times per pixel";
        } else {
            const model::Span time = trials->time(
                here, fmt::format("--ranks {} --threads {}", each.ranks, each.threads));
            scale = time * (1 / each.expected);
        }
        const model::Span time = *scale * each.expected;
        one.expected = {time.median, time.low, time.high};
    }
    return {.question = fmt::format("register {} of {}x{} pixels on {}",
                                    report::counted(task.frames, "frame"), task.width, task.height,
                                    report::counted(task.cores, "core")),
            .plan = plan_of(std::move(candidates), "short runs", "this machine"),
            .assumptions = {"rigid motions of f32 frames, each registered to 3 earlier ones",
                            included}};
}

} // namespace sextant::command
