// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/filter/filter_plan.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/text.hpp"
#include "sextant/filter/filter_configurations.hpp"
#include "sextant/machine/interpolate.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/planner/plan_file.hpp"
#include "sextant/schedule/loans.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace sextant::distributed {

namespace {

using filtering::Configuration;

/// Returns the kernels of a task's program, by their names in profiles.
std::vector<model::KernelUse> kernels_of(const FilterTask& task) {
    std::vector<model::KernelUse> kernels;
    for (const Filter& filter : task.filters)
        kernels.push_back({filter_kernel,
                           (bank_of(filter, task.dimensions()).multiply_adds() + task.threads - 1) /
                               task.threads});
    return kernels;
}

/// Returns the task for `rows` rows or planes in the middle of the image or volume.
filtering::WindowTask rows_of(const FilterTask& task, const Configuration& configuration,
                              Elements rows) {
    std::vector<halo::Margin> margins;
    for (const Filter& filter : task.filters)
        margins.push_back(margin_of(bank_of(filter, task.dimensions())));
    return window_task({task.image, (task.length() - rows) / 2, rows, configuration, task.depth},
                       task.filters, margins, task.element, true, configuration.ranks() > 1);
}

/// Returns this task as a candidate for the planner.
Candidate candidate_of(const FilterTask& task, const Configuration& configuration, Elements rows) {
    const filtering::WindowTask window = rows_of(task, configuration, rows);
    return {"filter", configuration.text(), configuration.ranks(), [=](int rank) {
                return filtering::window_program(window, configuration, rank).program;
            }};
}

/// Returns the largest number of bytes that any rank reads for `rows` rows or planes in the middle
/// of the image or volume. Ranks read whole rows.
Bytes most_read(const FilterTask& task, const Configuration& configuration, Elements rows) {
    const halo::Grid grid = rows_of(task, configuration, rows).filters.front().grid;
    const auto part = [](Elements size, int parts) { return (size + parts - 1) / parts; };
    const Tile all = grid.at_hand();
    const Elements own_rows = std::min(all.height, part(grid.height, grid.rows) + grid.above);
    const Elements own_planes = std::min(all.depth, part(grid.depth, grid.layers) + grid.before);
    const Elements read = configuration.distribute ? all.height * all.depth : own_rows * own_planes;
    return read * task.image.width * task.element.size;
}

/// Returns the time to read these rows; nullopt if the profile has no file rates.
std::optional<Seconds> reading(const FilterTask& task, const Configuration& configuration,
                               Elements rows, const machine::FileCosts& files) {
    return files.reading(most_read(task, configuration, rows),
                         configuration.distribute || configuration.ranks() == 1);
}

/// Returns the task to plan. If the profile has no rates for reading files, reading cannot be
/// compared with messages, so each rank reads its own tile.
FilterTask weighed_task(FilterTask task, const machine::Profile& machine) {
    if (task.distribute == "any" && !machine::FileCosts(machine).reading(1, true))
        task.distribute = "read";
    return task;
}

/// Ranks sets of configurations by predicted time, one set after another. The fastest
/// configurations so far are compared again with each new set.
class Weighing {
    using Alternative = planner::Alternative<Configuration>;

  public:
    /// Predicts `rows` rows or planes in the middle of the image or volume.
    Weighing(const FilterTask& task, const planner::Setting& setting, Elements rows)
        : task_(task),
          rows_(rows),
          files_(setting.machine),
          kernels_(kernels_of(task)),
          setting_(setting) {
        setting_.kernels = kernels_;
    }

    /// Adds a set of configurations. Returns true if the fastest configuration changed.
    bool weigh(std::vector<Configuration> configurations) {
        std::erase_if(configurations,
                      [&](const Configuration& configuration) { return is_found(configuration); });
        if (configurations.empty())
            return false;
        if (!plan_.alternatives.empty())
            setting_.most_messages = messages_of_later_sets();
        const std::vector<Alternative> before = std::exchange(plan_.alternatives, {});
        if (!before.empty())
            configurations.insert(configurations.begin(), before.front().configuration);
        plan_ = planner::plan_of<Configuration>(
            planner::choose(candidates_of(configurations), setting_), configurations,
            setting_.machine.name);
        if (!before.empty())
            add_behind({before.begin() + 1, before.end()});
        return before.empty() || !(best() == before.front().configuration);
    }

    const Configuration& best() const { return plan_.configuration; }

    /// Returns, for each grid with the same number of ranks as the best configuration, the fastest
    /// configuration with this grid for all filters.
    std::vector<Configuration> grids() const {
        std::vector<Configuration> all;
        for (const Alternative& found : plan_.alternatives) {
            const auto same = [&](const Configuration& configuration) {
                return configuration.tiles() == found.configuration.tiles();
            };
            if (found.configuration.retilings.empty() &&
                found.configuration.ranks() == best().ranks() &&
                std::none_of(all.begin(), all.end(), same))
                all.push_back(found.configuration);
        }
        return all;
    }

    /// Returns the plan. Its times are for the whole image or volume.
    FilterPlan plan() const {
        FilterPlan plan{plan_, task_.length()};
        const double parts = static_cast<double>(task_.length()) / static_cast<double>(rows_);
        for (Alternative& found : plan.alternatives) {
            if (rows_ == task_.length())
                break;
            if (found.bound)
                *found.bound *= parts;
            if (auto& expected = found.expected)
                expected = {expected->seconds * parts, expected->low * parts,
                            expected->high * parts};
        }
        return plan;
    }

  private:
    bool is_found(const Configuration& configuration) const {
        return std::any_of(
            plan_.alternatives.begin(), plan_.alternatives.end(),
            [&](const Alternative& found) { return found.configuration == configuration; });
    }

    std::vector<Candidate> candidates_of(const std::vector<Configuration>& configurations) const {
        std::vector<Candidate> candidates;
        for (const Configuration& configuration : configurations) {
            candidates.push_back(candidate_of(task_, configuration, rows_));
            candidates.back().before = reading(task_, configuration, rows_, files_).value_or(0);
        }
        return candidates;
    }

    /// Returns half the planner's usual limit on replayed messages.
    std::int64_t messages_of_later_sets() const {
        const std::int64_t ranks = task_.ranks;
        return std::clamp<std::int64_t>(ranks * ranks, 4'000, 300'000);
    }

    /// Appends the earlier alternatives and sorts all by predicted time; those without a prediction
    /// come last.
    void add_behind(const std::vector<Alternative>& before) {
        std::vector<Alternative>& all = plan_.alternatives;
        all.insert(all.end(), before.begin(), before.end());
        const auto key = [](const Alternative& found) {
            return std::pair(!found.expected, found.expected ? found.expected->seconds : 0);
        };
        std::stable_sort(
            all.begin() + 1, all.end(),
            [&](const Alternative& a, const Alternative& b) { return key(a) < key(b); });
        if (const auto& chosen = all.front().expected) {
            const auto count = [&](Seconds most) {
                return std::count_if(all.begin(), all.end(), [&](const Alternative& found) {
                    return found.expected && found.expected->low <= most;
                });
            };
            plan_.rivals = static_cast<std::size_t>(count(chosen->high));
            plan_.reason = planner::reason_of(
                static_cast<int>(all.size()), plan_.model, plan_.machine,
                static_cast<int>(plan_.rivals),
                static_cast<int>(count(std::numeric_limits<Seconds>::infinity())));
        }
    }

    const FilterTask& task_;
    const Elements rows_;
    const machine::FileCosts files_;
    const std::vector<model::KernelUse> kernels_;
    planner::Setting setting_;
    planner::Plan<Configuration> plan_; ///< plan over all sets of configurations so far
};

} // namespace

halo::Margin wrapped_margin(const FilterTask& task) {
    halo::Margin margin;
    for (const Filter& filter : task.filters) {
        if (filter.border.border != kernel::Border::wrap)
            continue;
        const halo::Margin own = margin_of(bank_of(filter, task.dimensions()));
        margin.x += own.x, margin.y += own.y, margin.z += own.z;
    }
    return margin;
}

FilterTask padded(FilterTask task) {
    const halo::Margin margin = wrapped_margin(task);
    task.image = {task.image.width + 2 * margin.x, task.image.height + 2 * margin.y};
    task.depth += 2 * margin.z;
    for (Filter& filter : task.filters) {
        if (filter.border.border == kernel::Border::wrap)
            filter.border.border = kernel::Border::replicate;
    }
    return task;
}

FilterPlan plan_filter(const FilterTask& requested, const planner::Setting& setting,
                       Elements rows) {
    const FilterTask task = weighed_task(requested, setting.machine);
    const FilterConfigurations configurations(task, setting.machine);
    // Programs for boxes have regions for each plane, so predicting more planes takes long, and it
    // hardly changes the result.
    constexpr Elements most_planes = 256;
    const Elements all = task.is_volume() ? std::min(task.length(), most_planes) : task.length();
    Weighing weighing(task, setting, rows > 0 ? std::min(rows, all) : all);
    weighing.weigh(configurations.first());
    std::vector<int> known;
    for (auto others = configurations.of_other_ranks(weighing.best(), known); !others.empty();
         others = configurations.of_other_ranks(weighing.best(), known))
        weighing.weigh(std::move(others));
    const std::vector<Configuration> grids =
        task.filters.size() > 1 ? weighing.grids() : std::vector<Configuration>{};
    // One pass per further filter, because a change may only be faster together with another
    // change.
    for (std::size_t k = 1; k < task.filters.size(); ++k) {
        if (!weighing.weigh(configurations.retiled(weighing.best(), grids)))
            break;
    }
    return weighing.plan();
}

FilterPlan strips_plan(const FilterTask& task, const std::string& reason) {
    FilterPlan plan;
    const Tiles slabs{1, 1, task.ranks}, strips{1, task.ranks};
    plan.configuration =
        filtering::configuration_on(task.grid.value_or(task.is_volume() ? slabs : strips));
    if (task.ranks > 1)
        plan.configuration.distribute = distributions_of(task).front();
    plan.window = task.length();
    plan.reason = reason;
    return plan;
}

FilterPlan default_filter_plan(const FilterTask& task, const planner::Setting& setting,
                               Elements rows) {
    distributions_of(task); // throws for an unknown distribution, even without a distribution step
    if (task.ranks == 1)
        return strips_plan(task, "nothing to choose: there is only one rank");
    try {
        return plan_filter(task, setting, rows);
    } catch (const model::CannotExpress& why) {
        return strips_plan(task,
                           fmt::format("chosen by rule, without a prediction: {}", why.what()));
    }
}

void check(const FilterPlan& plan, const FilterTask& task) {
    using enum CollectiveKind;
    if (plan.configuration.ranks() > task.ranks)
        throw InvalidTask(fmt::format("{}: expected at most one tile for each of the {} ranks",
                                      plan.configuration.tiles_text(), task.ranks));
    if (plan.window < 1 || plan.window > task.length())
        throw InvalidTask(fmt::format("windows of {} {}, expected 1 to {}", plan.window,
                                      task.is_volume() ? "planes" : "rows", task.length()));
    for (const filtering::Retiling& change : plan.configuration.all_tiles()) {
        if (change.tiles.layers != 1 && !task.is_volume())
            throw InvalidTask(fmt::format("{}: only volumes have layers of tiles",
                                          plan.configuration.tiles_text()));
    }
    filtering::check_role(plan.configuration.distribute, {scatter, broadcast}, "distribute");
    filtering::check_role(plan.configuration.collect, {gather}, "collect");
    filtering::check_tiles(plan.configuration, static_cast<int>(task.filters.size()));
}

namespace {

/// Returns the time during which rank 0 writes and the others wait. With several windows of an
/// image, all planes but the first are also written to a temporary file and read back.
std::optional<Seconds> writing(const FilterTask& task, Elements rows,
                               const machine::FileCosts& files) {
    const Bytes plane = task.image.elements() * std::max<Elements>(1, task.depth) * gray_f32.size;
    const auto planes = static_cast<Bytes>(task.features().size());
    const Bytes waits = !task.is_volume() && rows < task.image.height ? (planes - 1) * plane : 0;
    const auto writes = files.writing(planes * plane + waits, true);
    const auto reads = files.reading(waits, true);
    return writes && reads ? std::optional(*writes + *reads) : std::nullopt;
}

/// Returns the size of buffers that are never touched, because the rank computes these planes
/// directly in another rank's memory.
Bytes made_elsewhere(const Program& program) {
    const Dependences dependences(program);
    const Loans loans(program, dependences);
    Bytes bytes = 0;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        const Bytes sent =
            program.steps[s].verb == Verb::send && loans.takes_made(static_cast<int>(s))
                ? program.bytes_of(program.steps[s], gray_f32.size)
                : 0;
        bytes += sent >= least_promised_room ? sent : 0;
    }
    return bytes;
}

/// Returns the memory that kernels need, on all ranks.
Bytes kernel_memory(const FilterTask& task, const filtering::WindowTask& window) {
    Bytes bytes = 0;
    for (std::size_t k = 0; k < task.filters.size(); ++k) {
        const kernel::FilterBank bank = bank_of(task.filters[k], task.dimensions());
        const halo::Grid& grid = window.filters[k].grid;
        for (int rank = 0; rank < grid.ranks(); ++rank) {
            const Tile box = tile(grid, rank);
            if (box.elements() == 0)
                continue;
            const std::vector<Tile> parts = divided(box, task.threads, bank);
            const Bytes working = std::min<Bytes>(task.threads, std::ssize(parts));
            bytes +=
                working * bank.memory(parts.back(), task.image, std::max<Elements>(1, task.depth));
        }
    }
    return bytes;
}

} // namespace

Bytes memory_of(const Configuration& configuration, const FilterTask& task, Elements rows) {
    const filtering::WindowTask window = rows_of(task, configuration, rows);
    Bytes bytes = kernel_memory(task, window);
    // Rank 0 receives the results of another rank in one region, unless they are parts of several
    // planes.
    const halo::Grid& last = window.filters.back().grid;
    const bool lies_in_one_region = !task.is_volume() || last.columns * last.rows == 1;
    for (int rank = 0; rank < configuration.ranks(); ++rank) {
        const Program program = filtering::window_program(window, configuration, rank).program;
        for (int b = 0; b < static_cast<int>(program.buffers.size()); ++b)
            bytes += program.buffers[static_cast<std::size_t>(b)].size *
                     program.element_size(b, gray_f32.size);
        if (task.shares_memory && rank > 0 && lies_in_one_region)
            bytes -= made_elsewhere(program);
    }
    return bytes;
}

void set_window(FilterPlan& plan, const FilterTask& task, Bytes budget) {
    const auto memory = [&](Elements rows) { return memory_of(plan.configuration, task, rows); };
    if (memory(1) > budget) {
        const std::string plane =
            fmt::format("plane of {}x{}", task.image.width, task.image.height);
        const auto results = task.features().size();
        const int ranks = plan.configuration.ranks();
        throw InvalidTask(fmt::format(
            "memory {} is too small for one {} samples, the {} needed around it and {} result{} on "
            "{} rank{}, expected {} or more",
            text_of_memory(budget),
            task.is_volume() ? plane : fmt::format("row of {}", task.image.width),
            task.is_volume() ? "planes" : "rows", results, results == 1 ? "" : "s", ranks,
            ranks == 1 ? "" : "s", text_of_memory((memory(1) + 1023) / 1024 * 1024)));
    }
    Elements fits = 1, too_many = task.length() + 1;
    while (too_many - fits > 1) {
        const Elements rows = fits + (too_many - fits) / 2;
        (memory(rows) <= budget ? fits : too_many) = rows;
    }
    plan.window = fits;
    plan.memory = memory(fits);
}

void predict_windows(FilterPlan& plan, const FilterTask& task, const planner::Setting& setting) {
    if (!setting.machine.find_kernel(filter_kernel, "f32"))
        return;
    const std::vector<model::KernelUse> kernels = kernels_of(task);
    planner::Setting filters = setting;
    filters.kernels = kernels;
    const Candidate candidate = candidate_of(task, plan.configuration, plan.window);
    try {
        const planner::Choice choice = planner::choose({&candidate, 1}, filters);
        if (!choice.chosen().predicted)
            return;
        const model::Prediction& window = *choice.chosen().predicted;
        const double windows =
            static_cast<double>(task.length()) / static_cast<double>(plan.window);
        const machine::FileCosts files(setting.machine);
        const auto read = reading(task, plan.configuration, plan.window, files);
        plan.predicted = {{window.seconds * windows, window.low * windows, window.high * windows},
                          read ? std::optional(*read * windows) : std::nullopt,
                          writing(task, plan.window, files)};
        plan.machine = setting.machine.name;
        plan.model = choice.model;
    } catch (const model::CannotExpress&) {
        // Without a prediction, plan.predicted stays empty.
    }
}

FilterPlan plan_windows(const FilterTask& task, const planner::Setting& setting, Bytes budget) {
    const auto windows_of = [&](FilterPlan plan) {
        set_window(plan, task, budget);
        predict_windows(plan, task, setting);
        return plan;
    };
    const FilterPlan whole = default_filter_plan(task, setting);
    const bool is_open = task.is_volume() && !task.grid && task.ranks > 1;
    const auto memory = [&](const FilterPlan& plan, Elements rows) {
        return memory_of(plan.configuration, task, rows);
    };
    if (!is_open || memory(whole, task.length()) <= budget)
        return windows_of(whole);
    // Slabs are fast for a whole volume, but each slab needs the planes around it. In windows of
    // few planes, tiles with fewer layers take less memory, and all ranks have planes.
    std::optional<FilterPlan> best;
    for (const FilterPlan& plan : {whole, default_filter_plan(task, setting, 1)}) {
        if (memory(plan, 1) > budget)
            continue;
        FilterPlan made = windows_of(plan);
        const bool faster = best && made.predicted && best->predicted &&
                            made.predicted->seconds < best->predicted->seconds;
        if (!best || faster || (!made.predicted && made.window > best->window))
            best = std::move(made);
    }
    if (best)
        return *std::move(best);
    FilterTask alone = task;
    alone.ranks = 1;
    return windows_of(strips_plan(alone, "several ranks need more than " + text_of_memory(budget)));
}

namespace {

void add_tiles(Json& json, const Tiles& tiles) {
    json.set("columns", tiles.columns);
    json.set("rows", tiles.rows);
    if (tiles.layers != 1)
        json.set("layers", tiles.layers);
}

void add_filter(Json& json, const Configuration& configuration) {
    const auto name = [](const collective::Algorithm* row) {
        return row ? Json(row->name) : Json();
    };
    add_tiles(json, configuration.tiles());
    json.set("distribute", name(configuration.distribute));
    json.set("collect", name(configuration.collect));
    json.set("packs", configuration.packs);
    Json retilings;
    for (const filtering::Retiling& change : configuration.retilings) {
        Json made{{"filter", change.filter + 1}};
        add_tiles(made, change.tiles);
        retilings.add(std::move(made));
    }
    if (!configuration.retilings.empty())
        json.set("retilings", std::move(retilings));
}

/// Returns the collective named in a field; null if the field is null or missing.
const collective::Algorithm* collective_of(const JsonField& plan, const char* name) {
    const std::optional<JsonField> field = plan.find(name);
    if (!field || field->is_null())
        return nullptr;
    try {
        return &collective::find(field->text());
    } catch (const InvalidTask& unknown) {
        field->fail(std::string("names an ") + unknown.what());
    }
}

Configuration configuration_in(const JsonField& plan, const FilterTask& task) {
    const auto tiles_in = [&](const JsonField& fields) {
        const auto side = [&](const char* name) {
            return static_cast<int>(fields.at(name).integer(1, task.ranks));
        };
        return Tiles{side("columns"), side("rows"), fields.find("layers") ? side("layers") : 1};
    };
    Configuration configuration = filtering::configuration_on(tiles_in(plan));
    configuration.distribute = collective_of(plan, "distribute");
    configuration.collect = collective_of(plan, "collect");
    if (const auto packs = plan.find("packs"))
        configuration.packs = packs->boolean();
    for (const JsonField& change : plan.items_or_none("retilings"))
        configuration.retilings.push_back(
            {static_cast<int>(change.at("filter").integer(1, std::ssize(task.filters)) - 1),
             tiles_in(change)});
    return configuration;
}

} // namespace

Json json_of(const FilterPlan& plan) {
    Json json = planner::plan_file("filter");
    add_filter(json, plan.configuration);
    json.set("window", plan.window);
    if (const auto& predicted = plan.predicted) {
        Json times{{"seconds", predicted->seconds},
                   {"interval", Json::array({predicted->low, predicted->high})}};
        if (predicted->read)
            times.set("read", predicted->read);
        if (predicted->write)
            times.set("write", predicted->write);
        json.set("predicted", std::move(times));
    }
    planner::add_plan(json, plan, add_filter, {.ranges = false});
    return json;
}

std::string to_json(const FilterPlan& plan) {
    return json_of(plan).text();
}

FilterPlan parse_filter_plan(const std::string& text, const std::string& path,
                             const FilterTask& unpadded) {
    const FilterTask task = padded(unpadded);
    const JsonField file = JsonField::parse(text, path);
    FilterPlan plan{planner::plan_in<Configuration>(
        file, "filter", [&](const JsonField& fields) { return configuration_in(fields, task); })};
    plan.window = file.at("window").integer(1, task.length());
    try {
        check(plan, task);
    } catch (const InvalidTask& wrong) {
        throw InvalidFile(path, wrong.what());
    }
    return plan;
}

FilterPlan read_filter_plan(const std::string& path, const FilterTask& unpadded) {
    const FilterTask task = padded(unpadded);
    FilterPlan plan = parse_filter_plan(read_text(path, JsonLimits{}.bytes), path, task);
    plan.reason = "the plan of " + path;
    plan.memory = memory_of(plan.configuration, task, plan.window);
    return plan;
}

} // namespace sextant::distributed
