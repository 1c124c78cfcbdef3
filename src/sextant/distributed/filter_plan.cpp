// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/filter_plan.hpp"

#include "sextant/distributed/filter_candidate.hpp"
#include "sextant/distributed/filter_ways.hpp"
#include "sextant/planner/ranking.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::distributed {

namespace {

using filtering::Way;

/// What is not known to be read at some rate is not weighed against messages.
FilterTask weighed_task(FilterTask task, const machine::Profile& machine) {
    if (task.distribute == "any" && !machine::FileCosts(machine).reading(1, true))
        task.distribute = "read";
    return task;
}

/// Ways, weighed set by set, each set against the fastest of those before.
class Weighing {
  public:
    Weighing(const FilterTask& task, const planner::Setting& setting)
        : task_(task), files_(setting.machine), kernels_(kernels_of(task)), setting_(setting) {
        setting_.kernels = kernels_;
    }

    /// Whether another is the fastest now.
    bool weigh(std::vector<Way> ways) {
        std::erase_if(ways, [&](const Way& way) { return is_found(way); });
        if (ways.empty())
            return false;
        if (!found_.empty())
            setting_.most_messages = messages_of_later_sets();
        const std::vector<Found> before = std::exchange(found_, {});
        if (!before.empty())
            ways.insert(ways.begin(), before.front().way);
        choice_ = planner::choose(candidates_of(ways), setting_);
        for (const planner::Weighed& weighed : choice_.ranking)
            found_.push_back({ways[weighed.candidate], weighed});
        if (!before.empty())
            add_behind({before.begin() + 1, before.end()});
        return before.empty() || !(best() == before.front().way);
    }

    const Way& best() const { return found_.front().way; }

    /// The fastest on each grid of as many ranks as the best has, all filters on the same tiles.
    std::vector<Way> grids() const {
        std::vector<Way> all;
        for (const Found& found : found_) {
            const auto same = [&](const Way& way) {
                return way.columns == found.way.columns && way.rows == found.way.rows;
            };
            if (found.way.retilings.empty() && found.way.ranks() == best().ranks() &&
                std::none_of(all.begin(), all.end(), same))
                all.push_back(found.way);
        }
        return all;
    }

    FilterPlan plan() const {
        FilterPlan plan;
        for (const Found& found : found_) {
            plan.alternatives.push_back({found.way, {}, found.weighed.remark});
            if (found.weighed.predicted)
                plan.alternatives.back().seconds = found.weighed.predicted->seconds;
        }
        plan.way = best();
        plan.window = task_.image.height;
        plan.machine = setting_.machine.name;
        plan.model = choice_.model;
        plan.reason = reason();
        return plan;
    }

  private:
    struct Found {
        Way way;
        planner::Weighed weighed;
    };

    bool is_found(const Way& way) const {
        return std::any_of(found_.begin(), found_.end(),
                           [&](const Found& found) { return found.way == way; });
    }

    std::vector<Candidate> candidates_of(const std::vector<Way>& ways) const {
        std::vector<Candidate> candidates;
        for (const Way& way : ways) {
            candidates.push_back(candidate_of(task_, way, task_.image.height));
            candidates.back().before = reading(task_, way, task_.image.height, files_).value_or(0);
        }
        return candidates;
    }

    /// Half of what is walked at first.
    std::int64_t messages_of_later_sets() const {
        const std::int64_t ranks = task_.ranks;
        return std::clamp<std::int64_t>(ranks * ranks, 4'000, 300'000);
    }

    /// By their predictions, those without last.
    void add_behind(const std::vector<Found>& before) {
        sets_ = true;
        found_.insert(found_.end(), before.begin(), before.end());
        const auto key = [](const Found& found) {
            const auto& predicted = found.weighed.predicted;
            return std::pair(!predicted, predicted ? predicted->seconds : 0);
        };
        std::stable_sort(found_.begin() + 1, found_.end(),
                         [&](const Found& a, const Found& b) { return key(a) < key(b); });
    }

    std::string reason() const {
        const auto& chosen = found_.front().weighed.predicted;
        if (!sets_ || !chosen)
            return choice_.reason;
        const auto count = [&](auto&& holds) {
            return std::count_if(found_.begin(), found_.end(), [&](const Found& found) {
                return found.weighed.predicted && holds(*found.weighed.predicted);
            });
        };
        return planner::reason_of(static_cast<int>(found_.size()), choice_.model,
                                  setting_.machine.name,
                                  static_cast<int>(count([&](const model::Prediction& other) {
                                      return other.low <= chosen->high;
                                  })),
                                  static_cast<int>(count([](const auto&) { return true; })));
    }

    const FilterTask& task_;
    const machine::FileCosts files_;
    const std::vector<model::KernelUse> kernels_;
    planner::Setting setting_;
    planner::Choice choice_; ///< of the last set
    std::vector<Found> found_;
    bool sets_ = false; ///< more than one
};

} // namespace

std::string text_of(const Way& way) {
    if (way.ranks() == 1)
        return "rank 0 alone";
    return fmt::format("{}, {}, {}{}", way.tiles_text(),
                       way.distribute ? way.distribute->name : "each rank reads its own",
                       way.collect ? way.collect->name : "planes straight to rank 0",
                       way.packs ? ", packed" : "");
}

FilterPlan plan_filter(const FilterTask& asked, const planner::Setting& setting) {
    const FilterTask task = weighed_task(asked, setting.machine);
    const FilterWays ways(task, setting.machine);
    Weighing weighing(task, setting);
    weighing.weigh(ways.first());
    std::vector<int> known;
    for (auto others = ways.of_other_ranks(weighing.best(), known); !others.empty();
         others = ways.of_other_ranks(weighing.best(), known))
        weighing.weigh(std::move(others));
    const std::vector<Way> grids = task.filters.size() > 1 ? weighing.grids() : std::vector<Way>{};
    // From there on once more: a change may pay only beside another.
    for (std::size_t k = 1; k < task.filters.size(); ++k) {
        if (!weighing.weigh(ways.retiled(weighing.best(), grids)))
            break;
    }
    return weighing.plan();
}

FilterPlan strips_plan(const FilterTask& task, const std::string& reason) {
    FilterPlan plan;
    plan.way = task.columns > 0 ? Way{task.columns, task.rows} : Way{1, task.ranks};
    if (task.ranks > 1)
        plan.way.distribute = distributions_of(task).front();
    plan.window = task.image.height;
    plan.reason = reason;
    return plan;
}

FilterPlan usual_filter_plan(const FilterTask& task, const planner::Setting& setting) {
    distributions_of(task); // refuses what is none, also where nothing is distributed
    if (task.ranks == 1)
        return strips_plan(task, "nothing to choose: one rank");
    try {
        return plan_filter(task, setting);
    } catch (const model::CannotExpress& why) {
        return strips_plan(task, fmt::format("rule, not predicted: {}", why.what()));
    }
}

} // namespace sextant::distributed
