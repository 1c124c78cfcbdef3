// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/bench_composite.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/command/composite/composite.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/region.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/lab/mpi_baselines.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

namespace {

/// An implementation, ready to run.
struct Contestant {
    CompositeResult result;
    std::vector<Elements> pixels; ///< indices of the pixels in this rank's result
    std::function<void()> run;
    std::function<std::span<const std::byte>()> shown;
    std::function<Sent()> sent; ///< null for baselines
};

/// A transport, and this rank's image in memory that the transport can access.
struct Carrier {
    std::string name;
    Communicator communicator;
    std::span<const std::byte> image;
};

/// Sets the maximum numbers of messages and of pixels that a rank sends.
void count_messages(CompositeResult& result, const compositing::Algorithm& algorithm,
                    const compositing::Task& task, const compositing::Tuning& tuning) {
    for (int rank = 0; rank < task.ranks; ++rank) {
        const Program program = compositing::program(algorithm, task, tuning, rank);
        std::int64_t messages = 0;
        Elements pixels = 0;
        for (const Step& step : program.steps) {
            if (step.verb != Verb::send)
                continue;
            ++messages;
            pixels += program.elements_of(step);
        }
        result.messages = std::max(result.messages, messages);
        result.pixels = std::max(result.pixels, pixels);
    }
}

/// Returns the planner's description of compositing over a transport.
planner::Work work_of(const Operator& op, const std::vector<int>& nodes, bool in_memory) {
    return {.operator_name = std::string(op.name),
            .element_name = std::string(channels(op.element)),
            .element_size = op.element.size,
            .folds_at_once = !op.exact_when_split,
            .nodes = nodes,
            .within_node = in_memory ? machine::Link::same_process : machine::Link::same_node};
}

/// All contestants of a case, on one rank.
class Field {
  public:
    Field(const Communicator& communicator, const CompositeCase& what)
        : communicator_(communicator),
          what_(what),
          operator_(kernel::find(what.blend, command::element_named(what.element, what.blend))),
          task_(compositing::one_image_each(communicator.size(), what.shape.elements(),
                                            what.collect ? 0 : compositing::Task::distributed)),
          image_(what.shape, operator_.element) {
        fill_image(image_, what.image, communicator.rank(), communicator.size());
        add_carriers();
        add_baselines();
        add_schedules();
        predict();
    }

    std::vector<Contestant>& contestants() { return contestants_; }

    /// Rewrites the images in place, so that they are cached as after rendering.
    void redraw() {
        write_anew(image_.bytes());
        write_anew(shared_image_.bytes());
    }

    /// Compares each contestant's result with the serial fold. Collective.
    void check() {
        const SerialPicture expected(what_, operator_, communicator_.size());
        for (Contestant& contestant : contestants_) {
            contestant.run();
            agree(communicator_, [&] {
                expected.check(contestant.result.name, contestant.pixels, contestant.shown());
            });
            if (contestant.sent)
                contestant.result.sent = share_sent(contestant.sent());
        }
    }

  private:
    void add_carriers() {
        const std::span<const std::byte> own = std::as_const(image_).bytes();
        if (communicator_.shares_memory() || !what_.all_transports) {
            carriers_.push_back({"", communicator_, own});
            return;
        }
        carriers_.push_back({"messages", communicator_, own});
        const Communicator shared = share_nodes(communicator_).communicator;
        if (!shared.shares_nodes())
            return;
        shared_image_ = shared.memory(static_cast<Bytes>(own.size()));
        std::copy(own.begin(), own.end(), shared_image_.data());
        carriers_.push_back({"shared", shared, std::as_const(shared_image_).bytes()});
        carriers_.push_back({"copied in", shared, own});
    }

    void add_baselines() {
        const int root = what_.collect ? 0 : -1;
        for (const Baseline& row : mpi_baselines(communicator_)) {
            if (row.name == "mpi-reduce" && root < 0)
                continue; // MPI_Reduce needs a root
            const std::shared_ptr<PreparedCall> reduction =
                row.prepare(communicator_, operator_, task_.elements, root);
            Contestant contestant;
            contestant.result.name = row.name;
            contestant.result.baseline = true;
            const Region own =
                part(block(0, 0, task_.elements), communicator_.rank(), communicator_.size());
            compositing::Piece piece{own.offset, own.length};
            if (root >= 0)
                piece = {0, communicator_.rank() == root ? task_.elements : 0};
            contestant.pixels.resize(static_cast<std::size_t>(piece.count));
            std::iota(contestant.pixels.begin(), contestant.pixels.end(), piece.first);
            contestant.run = [this, reduction] { reduction->run(image_.bytes()); };
            contestant.shown = [reduction] { return reduction->result(); };
            contestants_.push_back(std::move(contestant));
        }
    }

    void add_schedules() {
        for (const compositing::Algorithm& algorithm : compositing::catalogue()) {
            const auto& wanted = what_.algorithms;
            const bool requested = wanted.empty() || std::find(wanted.begin(), wanted.end(),
                                                               algorithm.name) != wanted.end();
            if (!requested)
                continue;
            for (const compositing::Tuning& tuning : algorithm.tunings(task_.positions())) {
                for (const Carrier& carrier : carriers_) {
                    add_schedule(carrier, algorithm, tuning, false);
                    if (what_.sparse)
                        add_schedule(carrier, algorithm, tuning, true);
                    if (what_.sparse && what_.interlaced)
                        add_schedule(carrier, algorithm, interlaced(tuning), true);
                }
                if (!what_.all_tunings)
                    break;
            }
        }
    }

    /// Returns the tuning with interlaced rows.
    compositing::Tuning interlaced(compositing::Tuning tuning) const {
        tuning.interlace = what_.shape.width;
        return tuning;
    }

    void add_schedule(const Carrier& carrier, const compositing::Algorithm& algorithm,
                      const compositing::Tuning& tuning, bool sparse) {
        const int rank = communicator_.rank();
        const auto execution = std::make_shared<Execution>(
            carrier.communicator, compositing::program(algorithm, task_, tuning, rank), operator_,
            ExecuteOptions{.sparse = sparse});
        execution->bind(0, carrier.image);
        Contestant contestant;
        contestant.result.name = algorithm.name;
        contestant.result.tuning = compositing::to_text(tuning);
        contestant.result.transport = carrier.name;
        contestant.result.sparse = sparse;
        count_messages(contestant.result, algorithm, task_, tuning);
        contestant.pixels = compositing::pixels(algorithm, task_, tuning, rank);
        contestant.run = [execution] { execution->run(); };
        contestant.shown = [execution] { return execution->result(); };
        contestant.sent = [execution] { return execution->sent(); };
        contestants_.push_back(std::move(contestant));
    }

    /// Predicts the times on rank 0, which prints them. Collective.
    void predict() {
        const std::vector<int> nodes = nodes_of(communicator_);
        std::vector<planner::DefaultPlanner> by_carrier;
        for (const Carrier& carrier : carriers_)
            by_carrier.push_back(
                calibrate::planner_here(carrier.communicator, nodes, "", planner::Probing::now));
        agree(communicator_, [&] {
            if (communicator_.rank() > 0)
                return;
            for (Contestant& contestant : contestants_)
                predict(contestant.result, nodes, by_carrier);
        });
    }

    void predict(CompositeResult& result, const std::vector<int>& nodes,
                 const std::vector<planner::DefaultPlanner>& by_carrier) const {
        if (result.baseline || result.sparse || result.transport == "copied in")
            return;
        const bool in_memory = communicator_.shares_memory() || result.transport == "shared";
        const auto carrier = std::find_if(carriers_.begin(), carriers_.end(), [&](auto& each) {
            return each.name == result.transport;
        });
        const planner::Planner& planner =
            *by_carrier[static_cast<std::size_t>(carrier - carriers_.begin())].planner;
        for (const compositing::Configuration& configuration : compositing::configurations(task_)) {
            if (configuration.algorithm->name == result.name &&
                compositing::to_text(configuration.tuning) == result.tuning)
                result.predicted =
                    planner.seconds(task_, configuration, work_of(operator_, nodes, in_memory));
        }
    }

    double share_sent(const Sent& own) const {
        Sent all;
        for (const Sent& each : communicator_.all_gather(own))
            all = {all.bytes + each.bytes, all.elements + each.elements};
        return all.elements > 0 ? static_cast<double>(all.bytes) / static_cast<double>(all.elements)
                                : 1;
    }

    const Communicator& communicator_;
    const CompositeCase& what_;
    const Operator& operator_;
    const compositing::Task task_;
    Image image_;
    std::vector<Carrier> carriers_;
    Memory shared_image_; // copy of image_ in memory that other ranks can read
    std::vector<Contestant> contestants_;
};

/// Returns the index of the contestant with this name; 0 if there is none.
std::size_t reference_of(const std::vector<Contestant>& contestants, const std::string& requested) {
    const auto found =
        std::find_if(contestants.begin(), contestants.end(),
                     [&](const Contestant& each) { return each.result.name == requested; });
    return found == contestants.end() ? 0 : static_cast<std::size_t>(found - contestants.begin());
}

} // namespace

CompositeResults bench_composite(const Communicator& communicator, const CompositeCase& what,
                                 ContestOptions options) {
    Field field(communicator, what);
    field.check();
    options.before = [&field] { field.redraw(); };
    const std::vector<Score> scores = contest_of(communicator, field.contestants(), options);
    const std::size_t reference = reference_of(field.contestants(), what.reference);
    CompositeResults results{
        what, communicator.size(), field.contestants()[reference].result.name, {}};
    for (std::size_t i = 0; i < scores.size(); ++i) {
        CompositeResult result = std::move(field.contestants()[i].result);
        result.set(scores[i], scores[reference]);
        result.cpu_ratio = estimate_ratio(scores[i].cpu, scores[reference].cpu);
        results.results.push_back(std::move(result));
    }
    return results;
}

std::string CompositeResult::full_name() const {
    std::string text = name;
    for (const std::string& more : {tuning, transport}) {
        if (!more.empty())
            text += ", " + more;
    }
    return text + (sparse ? ", sparse" : "");
}

std::string to_text(const CompositeResults& results, const std::string& transport, int rounds) {
    std::string text = fmt::format("{}: {} ranks over {}, {}; medians of {} rounds, [95 %]\n",
                                   results.what.name, results.ranks, transport,
                                   results.what.collect ? "collected" : "distributed", rounds);
    text += fmt::format("  {:<40} {:>24} {:>24} {:>9} {:>24} {:>9} {:>6}\n", "", "ms",
                        "of " + results.reference, "CPU ms", "of its CPU", "messages", "sent");
    for (const CompositeResult& result : results.results) {
        text += fmt::format(
            "  {:<40} {:>24} {:>24} {:>9.2f} {:>24} {:>9} {:>6}\n", result.full_name(),
            to_text(result.wall, 1e3, 2), to_text(result.ratio, 1, 3), result.cpu.median * 1e3,
            to_text(result.cpu_ratio, 1, 3), result.baseline ? "" : std::to_string(result.messages),
            result.baseline ? "" : fmt::format("{:.0f} %", result.sent * 100));
    }
    return text;
}

std::vector<TimedConfiguration> configurations_of(const CompositeResults& results) {
    std::vector<TimedConfiguration> configurations;
    for (const CompositeResult& result : results.results)
        configurations.push_back({results.what.name, result.full_name(), result.predicted,
                                  result.wall, static_cast<double>(results.what.shape.elements())});
    return configurations;
}

nlohmann::ordered_json to_json(const CompositeResults& results) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const CompositeResult& result : results.results) {
        list.push_back(to_json(result));
        list.back().update({{"tuning", result.tuning},
                            {"transport", result.transport},
                            {"baseline", result.baseline},
                            {"sparse", result.sparse},
                            {"sent", result.sent},
                            {"cpu_ratio", to_json(result.cpu_ratio)},
                            {"messages", result.messages},
                            {"pixels", result.pixels}});
    }
    return {{"name", results.what.name},
            {"width", results.what.shape.width},
            {"height", results.what.shape.height},
            {"operator", results.what.blend},
            {"element", results.what.element},
            {"image", results.what.image},
            {"collect", results.what.collect},
            {"reference", results.reference},
            {"results", list}};
}

report::Section section_of(const CompositeResults& results) {
    report::Alternatives configurations{
        results.what.name,
        fmt::format("{} ranks, {}; the slowest rank's time", results.ranks,
                    results.what.collect ? "collected" : "distributed"),
        {}};
    for (const CompositeResult& result : results.results) {
        report::Alternative& configuration =
            configurations.all.emplace_back(alternative_of(result));
        configuration.name = result.full_name();
        configuration.remark =
            fmt::format("{} of {}", to_text(result.ratio, 1, 3), results.reference);
    }
    sort_by_time(configurations);
    return alternatives_section(configurations);
}

} // namespace sextant::lab
