// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench_filter.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/command/filter/filter.hpp"
#include "sextant/core/error.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/alternatives_section.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

namespace {

using distributed::WindowFilter;

/// A configuration, ready to run on one rank.
struct Contestant {
    FilterResult result;
    std::unique_ptr<WindowFilter> filter; ///< null if this rank is not used

    void run() const {
        if (filter)
            filter->run();
    }
};

std::uint32_t noise_at(Elements place) {
    return static_cast<std::uint32_t>(place) * 2654435761u;
}

/// Writes the pseudo-random sample of a pixel, which depends only on the pixel's index.
void put_sample(const ElementFormat& element, Elements place, std::byte* to) {
    const std::uint32_t noise = noise_at(place);
    const float real = static_cast<float>(noise >> 8) * 0x1p-24f;
    if (element == gray_f32)
        std::memcpy(to, &real, sizeof real);
    else
        std::memcpy(to, reinterpret_cast<const std::byte*>(&noise) + 2,
                    static_cast<std::size_t>(element.size));
}

/// Computes multiplications and additions in registers; one unit takes some tens of microseconds.
float arithmetic(int units) {
    constexpr int a_unit = 16384;
    float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int i = 0; i < units * a_unit; ++i) {
        for (float& value : values)
            value = value * .999f + .5f;
    }
    return *std::max_element(std::begin(values), std::end(values));
}

std::string name_of(const filtering::Configuration& configuration) {
    if (configuration.ranks() == 1)
        return "one rank";
    std::string name = configuration.tiles_text();
    for (const collective::Algorithm* row : {configuration.distribute, configuration.collect}) {
        if (row)
            name += fmt::format(", {}", row->name);
    }
    return name + (configuration.packs ? ", packed" : "") +
           (configuration.collect ? "" : ", sent directly to rank 0");
}

distributed::FilterTask task_of(const FilterCase& what, int ranks) {
    return {.filters = {what.filter},
            .image = what.shape,
            .element = what.element,
            .ranks = ranks,
            .distribute = "read"};
}

/// All contestants of a case, on one rank.
class Field {
  public:
    Field(const Communicator& communicator, const FilterCase& what)
        : communicator_(communicator),
          what_(what),
          task_(task_of(what, communicator.size())),
          plan_(planned()) {
        const auto shown =
            std::min<std::size_t>(plan_.alternatives.size(), static_cast<std::size_t>(what.most));
        left_out_ = static_cast<int>(plan_.alternatives.size() - shown);
        add(plan_.configuration, {});
        for (std::size_t i = 0; i < shown; ++i) {
            const auto& one = plan_.alternatives[i];
            std::optional<Seconds> predicted;
            if (one.expected)
                predicted = one.expected->seconds;
            if (one.configuration == plan_.configuration)
                contestants_[0].result.predicted = predicted;
            else
                add(one.configuration, predicted);
        }
        configurations_ = contestants_.size();
        add(plan_.configuration, {}); // measured twice, to determine the noise
        add({1, 1}, {});
        add(staying(plan_.configuration), {}, false);
    }

    const distributed::FilterPlan& plan() const { return plan_; }
    int left_out() const { return left_out_; }
    /// Returns the number of compared configurations, the chosen one first. contestants() lists
    /// three more after them: the chosen configuration again, one rank, and the chosen
    /// configuration with planes left in tiles.
    std::size_t configurations() const { return configurations_; }
    std::vector<Contestant>& contestants() { return contestants_; }

    /// Compares the planes of each configuration with those of one rank. Collective.
    void check() const {
        for (const Contestant& contestant : contestants_)
            contestant.run();
        agree(communicator_, [&] {
            if (communicator_.rank() > 0)
                return;
            for (std::size_t i = 0; i <= configurations_; ++i)
                check(contestants_[i]);
        });
    }

  private:
    /// Plans on every rank; throws InvalidTask unless all plans are equal. Collective.
    distributed::FilterPlan planned() const {
        const bool threads = communicator_.shares_memory();
        const std::vector<int> nodes = nodes_of(communicator_);
        const planner::DefaultPlanner usual =
            calibrate::planner_here(communicator_, nodes, "", planner::Probing::now);
        agree(communicator_, [&] { calibrate::require_planner(usual); });
        distributed::FilterPlan plan = distributed::default_filter_plan(
            task_,
            {.machine = usual.planner->machine(),
             .element_size = gray_f32.size,
             .nodes = nodes,
             .within_node = threads ? machine::Link::same_process : machine::Link::same_node});
        std::string configurations = plan.text();
        for (const auto& one : plan.alternatives)
            configurations += "; " + one.configuration.text();
        const auto hashes = communicator_.all_gather(std::hash<std::string>()(configurations));
        if (std::count(hashes.begin(), hashes.end(), hashes[0]) != communicator_.size())
            throw InvalidTask(
                "the ranks chose different plans: expected the same machine profile on all ranks");
        return plan;
    }

    static filtering::Configuration staying(filtering::Configuration configuration) {
        configuration.collect = nullptr;
        return configuration;
    }

    void add(const filtering::Configuration& configuration, std::optional<Seconds> predicted,
             bool collects = true) {
        Contestant& made = contestants_.emplace_back();
        made.result.name = name_of(configuration);
        made.result.ranks = configuration.ranks();
        made.result.predicted = predicted;
        const bool takes_part = communicator_.rank() < configuration.ranks();
        auto [found, is_new] = groups_.try_emplace(configuration.ranks());
        if (is_new)
            found->second = std::make_unique<Communicator>(
                communicator_.split(takes_part ? 0 : -1, communicator_.rank()));
        if (!takes_part)
            return;
        made.filter =
            std::make_unique<WindowFilter>(*found->second, task_.filters, what_.element, collects);
        made.filter->prepare({what_.shape, 0, what_.shape.height, configuration});
        made.filter->fill([&](const Tile& part, std::span<std::byte> to) { fill(part, to); });
    }

    void fill(const Tile& part, std::span<std::byte> to) const {
        std::byte* at = to.data();
        for (Elements y = part.y; y < part.y + part.height; ++y) {
            for (Elements x = part.x; x < part.x + part.width; ++x, at += what_.element.size)
                put_sample(what_.element, y * what_.shape.width + x, at);
        }
    }

    void check(const Contestant& contestant) const {
        for (int k = 0; k < static_cast<int>(what_.filter.features.size()); ++k) {
            const auto ours = contestant.filter->plane(k);
            const auto serial = contestants_[configurations_ + 1].filter->plane(k);
            if (ours.size_bytes() != serial.size_bytes() ||
                std::memcmp(ours.data(), serial.data(), ours.size_bytes()) != 0)
                throw std::logic_error(
                    fmt::format("{} in case '{}': {} differs from the result of one rank",
                                contestant.result.name, what_.name,
                                what_.filter.features[static_cast<std::size_t>(k)]));
        }
    }

    const Communicator& communicator_;
    const FilterCase& what_;
    const distributed::FilterTask task_;
    const distributed::FilterPlan plan_;
    int left_out_ = 0;
    std::size_t configurations_ = 0;
    std::map<int, std::unique_ptr<Communicator>> groups_; ///< [n]: the first n ranks
    std::vector<Contestant> contestants_;
};

/// Returns the controls: the same arithmetic on rank 0 alone, and divided among all ranks.
std::vector<std::function<void()>> controls(const Communicator& communicator) {
    constexpr int units = 64;
    const int ranks = communicator.size(), rank = communicator.rank();
    const int share = units * (rank + 1) / ranks - units * rank / ranks;
    const auto work = [](int amount) {
        return [amount] { // volatile prevents the compiler from removing the arithmetic
            [[maybe_unused]] const volatile float seen = arithmetic(amount);
        };
    };
    return {work(rank == 0 ? units : 0), work(share)};
}

FilterGain gain(const Score& one, const Score& all, int ranks) {
    FilterGain gain{estimate_ratio(one.wall, all.wall), estimate_ratio(one.cpu, all.cpu)};
    for (double* each : {&gain.cpu.median, &gain.cpu.interval.low, &gain.cpu.interval.high})
        *each *= ranks;
    return gain;
}

/// Returns the CPU time per rank.
std::vector<Seconds> each_rank(const Score& score, int ranks) {
    std::vector<Seconds> times = score.cpu;
    for (Seconds& time : times)
        time /= ranks;
    return times;
}

/// Returns the regret of choosing the first configuration.
FilterResults::Regret regret(const std::vector<FilterResult>& results,
                             const std::vector<std::vector<Seconds>>& times) {
    const auto best = std::min_element(times.begin(), times.end(),
                                       [](auto& a, auto& b) { return median(a) < median(b); });
    return {results[static_cast<std::size_t>(best - times.begin())].name,
            estimate_ratio(times.front(), *best)};
}

} // namespace

FilterResults bench_filter(const Communicator& communicator, const FilterCase& what,
                           const ContestOptions& options) {
    Field field(communicator, what);
    field.check();
    std::vector<std::function<void()>> runs;
    for (const Contestant& contestant : field.contestants())
        runs.emplace_back([&contestant] { contestant.run(); });
    for (auto& control : controls(communicator))
        runs.push_back(std::move(control));
    ContestOptions apart = options;
    apart.barriers = true; // without barriers, idle ranks would run ahead
    const std::vector<Score> scores = contest(communicator, runs, apart);

    const std::size_t again = field.configurations(), alone = again + 1, stay = alone + 1,
                      control = stay + 1;
    FilterResults results;
    results.what = what;
    results.ranks = communicator.size();
    results.reason = field.plan().reason;
    results.left_out = field.left_out();
    std::vector<std::vector<Seconds>> wall, cpu;
    for (std::size_t i = 0; i < field.configurations(); ++i) {
        results.results.push_back(field.contestants()[i].result);
        results.results.back().set(scores[i], scores[0]);
        wall.push_back(scores[i].wall);
        cpu.push_back(each_rank(scores[i], results.results[i].ranks));
    }
    results.by_wall = regret(results.results, wall);
    results.by_cpu = regret(results.results, cpu);
    results.wall_noise = estimate_ratio(scores[0].wall, scores[again].wall);
    results.cpu_noise = estimate_ratio(scores[0].cpu, scores[again].cpu);
    const int used = field.plan().configuration.ranks();
    results.filter = gain(scores[alone], scores[0], used);
    results.stay = gain(scores[alone], scores[stay], used);
    results.control = gain(scores[control], scores[control + 1], communicator.size());
    return results;
}

namespace {

/// Throws InvalidTask if no such filter exists; sets the default name.
void complete(FilterCase& what) {
    distributed::bank_of(what.filter);
    if (what.name.empty())
        what.name =
            fmt::format("{}x{} {}, sigma {}, {} derivatives", what.shape.width, what.shape.height,
                        what.element.name, what.filter.sigma.x, what.filter.features.size());
}

} // namespace

Record record_of(FilterCase& what) {
    using Weights = kernel::GaussianKernel::Weights;
    Record record;
    record.add("name", what.name, "NAME", "name of the case");
    declare_shape(record, what.shape);
    record.add("element", what.element, {{"f32", gray_f32}, {"u8", gray_u8}, {"u16", gray_u16}},
               "TYPE", "element type of the samples");
    auto& sigma =
        record.add("sigma", codec_of(what.filter.sigma), "PIXELS", "scale of the filter (sigma)");
    sigma.kind = sextant::Field::Kind::number;
    sigma.between(kernel::smallest_sigma, kernel::largest_sigma);
    record.add("kernel", what.filter.kernel.weights,
               {{"gaussian", Weights::gaussian}, {"p3pc", Weights::p3pc}}, "NAME",
               "filter weights");
    record.add("derivatives", what.filter.features, "NAME", "derivatives or features to compute");
    record.add("most", what.most, "N", "number of configurations to time").between(1, 1000);
    return record;
}

std::vector<FilterCase> read_filter_cases(const std::string& path) {
    return read_cases<FilterCase>(path, complete);
}

std::vector<FilterCase> usual_filter_cases() {
    std::vector<FilterCase> usual;
    for (const Elements side : {1024, 256}) {
        for (const double sigma : {3, 1}) {
            FilterCase& one = usual.emplace_back();
            one.shape = {side, side};
            one.filter.sigma = {sigma, sigma};
            complete(one);
        }
    }
    return usual;
}

namespace {

std::string gain_text(const char* name, const FilterGain& gain) {
    return fmt::format("{} {} by wall time, {} by CPU time", name, to_text(gain.wall, 1, 2),
                       to_text(gain.cpu, 1, 2));
}

std::string regret_text(const char* name, const FilterResults::Regret& regret,
                        const Estimate& noise) {
    return fmt::format("  {} {} of {} ({})\n", name, to_text(regret.ratio, 1, 3), regret.best,
                       to_text(noise, 1, 3));
}

nlohmann::ordered_json to_json(const FilterResults::Regret& regret, const Estimate& noise) {
    return {{"best", regret.best}, {"ratio", to_json(regret.ratio)}, {"noise", to_json(noise)}};
}

nlohmann::ordered_json to_json(const FilterGain& gain) {
    return {{"wall", to_json(gain.wall)}, {"cpu", to_json(gain.cpu)}};
}

} // namespace

std::string to_text(const FilterResults& results, const std::string& transport, int rounds) {
    std::string text = fmt::format("{}: {} ranks over {}; medians of {} rounds, [95 %]\n",
                                   results.what.name, results.ranks, transport, rounds);
    text += fmt::format("{}: {}\n", results.results.front().name, results.reason);
    text += fmt::format("  {:<44} {:>9} {:>24} {:>22} {:>9}\n", "", "predicted", "ms",
                        "ratio to chosen plan", "CPU ms");
    for (const FilterResult& result : results.results) {
        text += fmt::format("  {:<44} {:>9} {:>24} {:>22} {:>9.2f}\n", result.name,
                            result.predicted ? fmt::format("{:.2f}", *result.predicted * 1e3) : "",
                            to_text(result.wall, 1e3, 2), to_text(result.ratio, 1, 3),
                            result.cpu.median * 1e3);
    }
    if (results.left_out > 0)
        text += fmt::format("  {} configurations that were predicted to be slower were not timed\n",
                            results.left_out);
    text += "time of the chosen configuration relative to the best (noise: relative to itself):\n";
    text += regret_text("by wall time          ", results.by_wall, results.wall_noise);
    text += regret_text("by CPU time per rank  ", results.by_cpu, results.cpu_noise);
    text += fmt::format("gain over one rank:\n  {}\n  {}\n  {}\n",
                        gain_text("filter                 ", results.filter),
                        gain_text("planes left distributed", results.stay),
                        gain_text("arithmetic alone       ", results.control));
    return text;
}

nlohmann::ordered_json to_json(const FilterResults& results) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const FilterResult& result : results.results) {
        list.push_back(to_json(result));
        list.back()["ranks"] = result.ranks;
    }
    return {{"name", results.what.name},
            {"width", results.what.shape.width},
            {"height", results.what.shape.height},
            {"element", results.what.element.name},
            {"kernel", command::text_of(results.what.filter.kernel)},
            {"sigma", results.what.filter.sigma.x},
            {"derivatives", results.what.filter.features},
            {"reason", results.reason},
            {"left_out", results.left_out},
            {"regret", to_json(results.by_wall, results.wall_noise)},
            {"cpu_regret", to_json(results.by_cpu, results.cpu_noise)},
            {"gain", to_json(results.filter)},
            {"stay_gain", to_json(results.stay)},
            {"control_gain", to_json(results.control)},
            {"results", list}};
}

std::vector<TimedConfiguration> configurations_of(const FilterResults& results) {
    std::vector<TimedConfiguration> configurations;
    for (const FilterResult& result : results.results)
        configurations.push_back({results.what.name, result.name, result.predicted, result.wall,
                                  static_cast<double>(results.what.shape.elements())});
    return configurations;
}

report::Section section_of(const FilterResults& results) {
    report::Alternatives configurations{
        results.what.name, fmt::format("{} ranks; {}", results.ranks, results.reason), {}};
    for (const FilterResult& result : results.results) {
        report::Alternative& configuration =
            configurations.all.emplace_back(alternative_of(result));
        configuration.remark =
            fmt::format("ratio to the chosen plan: {}", to_text(result.ratio, 1, 3));
    }
    return alternatives_section(configurations);
}

} // namespace sextant::lab
