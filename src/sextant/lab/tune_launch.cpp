// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/lab/tune_launch.hpp"

#include "sextant/collectives/collective.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/memory.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/text.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/lab/mpi_algorithms.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::lab {

Record record_of(TuneTask& task) {
    Record record;
    record.add("collectives", task.collectives, "NAME...",
               "operations, such as bcast and allreduce; default: all seven");
    record.add("sizes", task.sizes, "BYTES", "message sizes; limits of size classes")
        .between(4, 1 << 28);
    record.add("rounds", task.rounds, "N", "rounds per launch; each algorithm runs once per round")
        .between(3, 10000);
    record.add("algorithms", task.algorithms, "NAME...",
               "with --once: algorithms to time, such as default or ring; default: all");
    return record;
}

void check_task(const TuneTask& task) {
    for (const std::string& name : task.collectives)
        tuned_operation(name);
    for (std::size_t i = 0; i < task.sizes.size(); ++i) {
        const bool ordered = i == 0 || task.sizes[i] > task.sizes[i - 1];
        if (!ordered || task.sizes[i] % Bytes{sizeof(float)} != 0)
            throw InvalidTask(fmt::format("--sizes {}: expected multiples of 4 in increasing order",
                                          task.sizes[i]));
    }
    if (task.sizes.empty())
        throw InvalidTask("--sizes: expected one size or more");
}

namespace {

/// Names of the algorithms of a Collective: schedules, MPI's own, and the one that it chooses.
std::vector<std::string_view> our_algorithms(const TunedOperation& operation) {
    std::vector<std::string_view> names = algorithms_of(operation.what, true);
    names.insert(names.end(), {"mpi", "auto"});
    return names;
}

std::vector<const TunedOperation*> operations_of(const TuneTask& task) {
    std::vector<const TunedOperation*> all;
    for (const TunedOperation& operation : tuned_operations()) {
        const auto& names = task.collectives;
        if (names.empty() || std::find(names.begin(), names.end(), operation.name) != names.end())
            all.push_back(&operation);
    }
    return all;
}

/// Buffers that all algorithms of an operation share.
struct TuneBuffers {
    Memory send, receive;

    TuneBuffers(const TunedOperation& operation, Bytes size, int rank, int ranks)
        : send(size * ranks), receive(size * ranks) {
        auto* const bytes = send.data();
        for (Bytes i = 0; i < size * ranks; ++i)
            bytes[i] = static_cast<std::byte>(i * 31 + rank * 17 + i / 251);
        for (Bytes i = 0; operation.combines && i < size / Bytes{sizeof(float)}; ++i) {
            const auto value = static_cast<float>(i % 7 + rank); // sums are exact in any order
            std::memcpy(bytes + i * Bytes{sizeof value}, &value, sizeof value);
        }
    }
    /// Prepares the receive buffer for a run whose result is checked. A broadcast also sends from
    /// this buffer.
    void clear(const TunedOperation& operation, int rank) {
        std::memset(receive.data(), 0, receive.bytes().size());
        if (operation.what == CollectiveKind::broadcast && rank == 0)
            std::memcpy(receive.data(), send.data(), receive.bytes().size());
    }
};

/// Returns the part of the receive buffer that an operation fills on this rank.
std::span<const std::byte> result_in(const TuneBuffers& buffers, const TunedOperation& operation,
                                     Bytes size, int rank, int ranks) {
    const bool many = operation.what == CollectiveKind::gather ||
                      operation.what == CollectiveKind::all_gather ||
                      operation.what == CollectiveKind::all_to_all;
    const bool at_root =
        operation.what == CollectiveKind::gather || operation.what == CollectiveKind::reduce;
    const Bytes bytes = at_root && rank > 0 ? 0 : many ? size * ranks : size;
    return buffers.receive.bytes().first(static_cast<std::size_t>(bytes));
}

/// An algorithm, ready to run.
struct TunedAlgorithm {
    AlgorithmTimes times;
    std::function<void()> run;
    const MpiOperation* call = nullptr; ///< null for Sextant's algorithms
};

/// Measures all algorithms of one operation.
class OperationContest {
  public:
    OperationContest(const Communicator& communicator, const TunedOperation& operation,
                     const TuneTask& task)
        : communicator_(communicator), operation_(operation), task_(task) {
        agree(communicator, [&] {
            algorithms_ = {MpiAlgorithm{}};
            if (task.only_default())
                return;
            for (const MpiAlgorithm& algorithm : mpi_algorithms(operation)) {
                if (wanted(algorithm.text()))
                    algorithms_.push_back(algorithm);
            }
        });
        for (const MpiAlgorithm& algorithm : algorithms_)
            calls_.emplace_back(communicator, operation, algorithm);
    }

    void measure(Bytes size, const ContestOptions& options, std::vector<AlgorithmTimes>& all) {
        TuneBuffers buffers(operation_, size, communicator_.rank(), communicator_.size());
        std::vector<TunedAlgorithm> contestants;
        for (std::size_t i = 0; i < calls_.size(); ++i) {
            if (algorithms_[i].segment >= size) // the message would not be divided
                continue;
            TunedAlgorithm& one = contestants.emplace_back();
            one.times.algorithm = algorithms_[i];
            one.call = &calls_[i];
            one.run = [&, i] {
                calls_[i].run(size, buffers.send.bytes(), buffers.receive.bytes());
            };
        }
        add_ours(size, buffers, contestants);
        check(size, buffers, contestants);
        std::vector<std::function<void()>> runs;
        for (const TunedAlgorithm& each : contestants) {
            if (each.times.refused.empty())
                runs.push_back(each.run);
        }
        const std::vector<Score> scores = contest(communicator_, runs, options);
        auto score = scores.begin();
        for (TunedAlgorithm& each : contestants) {
            AlgorithmTimes& times = each.times;
            times.operation = operation_.name;
            times.size = size;
            if (times.refused.empty())
                static_cast<Score&>(times) = *score++;
            all.push_back(std::move(times));
        }
    }

  private:
    bool wanted(const std::string& name) const {
        const auto& names = task_.algorithms;
        return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
    }

    void add_ours(Bytes size, TuneBuffers& buffers, std::vector<TunedAlgorithm>& contestants) {
        for (const std::string_view name : our_algorithms(operation_)) {
            TunedAlgorithm one;
            one.times.ours = true;
            one.times.algorithm.name = name;
            if (!wanted(one.times.name()))
                continue;
            CollectiveTask task{.kind = operation_.what, .counts = {size}};
            if (operation_.combines) {
                task.counts = {size / Bytes{sizeof(float)}};
                task.op = element_operator<float>("sum", std::plus<>());
                task.op->commutative = true; // as MPI_SUM
            }
            std::shared_ptr<Collective> collective;
            try {
                collective = std::make_shared<Collective>(
                    communicator_, task, CollectiveOptions{.algorithm = std::string(name)});
            } catch (const AgreedFailure&) {
                continue; // the algorithm does not support this number of ranks
            }
            const Bytes unit = operation_.combines ? Bytes{sizeof(float)} : 1;
            const auto sent = static_cast<std::size_t>(collective->send_count() * unit);
            const auto received = static_cast<std::size_t>(collective->receive_count() * unit);
            one.run = [collective, sent, received, &buffers] {
                collective->run(std::as_const(buffers.send).bytes().first(sent),
                                buffers.receive.bytes().first(received));
            };
            contestants.push_back(std::move(one));
        }
    }

    /// Runs each algorithm once and compares its result with that of the default. An algorithm that
    /// fails on some rank is not measured.
    void check(Bytes size, TuneBuffers& buffers, std::vector<TunedAlgorithm>& contestants) {
        const int rank = communicator_.rank(), ranks = communicator_.size();
        std::vector<std::byte> expected;
        for (std::size_t i = 0; i < contestants.size(); ++i) {
            AlgorithmTimes& times = contestants[i].times;
            buffers.clear(operation_, rank);
            times.refused = first_failure(communicator_, [&] {
                contestants[i].run();
                const auto result = result_in(buffers, operation_, size, rank, ranks);
                if (i == 0)
                    expected.assign(result.begin(), result.end());
                // In a scatter, Sextant leaves the root's block in the send buffer.
                const bool compared =
                    !(times.ours && rank == 0 && operation_.what == CollectiveKind::scatter);
                if (compared && !std::equal(result.begin(), result.end(), expected.begin()))
                    throw Error("its result differs from that of the default");
            });
            if (times.refused.empty() && times.algorithm.number > 0)
                keep_order(size, *contestants[i].call, times);
        }
        if (!contestants.front().times.refused.empty())
            throw AgreedFailure(contestants.front().times.refused, AgreedFailure::Fault::other);
    }

    void keep_order(Bytes size, const MpiOperation& call, AlgorithmTimes& times) {
        char in_order = 1;
        times.refused = first_failure(communicator_, [&] { in_order = call.keeps_order(size); });
        for (const char each : communicator_.all_gather(in_order))
            times.in_order = times.in_order && each != 0;
    }

    const Communicator& communicator_;
    const TunedOperation& operation_;
    const TuneTask& task_;
    std::vector<MpiAlgorithm> algorithms_;
    std::vector<MpiOperation> calls_;
};

/// Throws InvalidTask if a requested algorithm exists for no operation.
void require_known_algorithms(const TuneTask& task) {
    std::vector<std::string> known = {"default"};
    for (const TunedOperation* const operation : operations_of(task)) {
        for (const std::string_view name : our_algorithms(*operation))
            known.push_back(fmt::format("sextant {}", name));
        if (task.algorithms.empty() || task.only_default())
            continue;
        for (const MpiAlgorithm& algorithm : mpi_algorithms(*operation))
            known.push_back(algorithm.text());
    }
    const std::vector<std::string_view> names(known.begin(), known.end());
    for (const std::string& wanted : task.algorithms) {
        if (std::find(known.begin(), known.end(), wanted) == known.end())
            throw InvalidTask(unknown_name("algorithm", wanted, names));
    }
}

void require_ranks(const Communicator& communicator, const TuneTask& task) {
    check_task(task);
    if (transport_of(communicator) == "threads")
        throw InvalidTask("--once: the ranks are threads, expected MPI processes; use mpirun");
    if (communicator.size() < 2)
        throw InvalidTask("nothing to tune for one rank: expected two ranks or more");
    if (task.sizes.back() > INT_MAX / communicator.size())
        throw InvalidTask(fmt::format("--sizes {}: expected at most {} bytes with {} ranks",
                                      task.sizes.back(), INT_MAX / communicator.size(),
                                      communicator.size()));
}

} // namespace

TuneLaunch measure_algorithms(const Communicator& communicator, const TuneTask& task) {
    agree(communicator, [&] {
        require_ranks(communicator, task);
        require_known_algorithms(task);
    });
    TuneLaunch launch{mpi_of_build(), host(), date(), communicator.size(), false, {}};
    const std::vector<int> nodes = nodes_of(communicator);
    const auto node =
        static_cast<std::uint64_t>(nodes[static_cast<std::size_t>(communicator.rank())]);
    const std::vector<Seat> seats = communicator.all_gather(Seat{node, Cores::available()});
    launch.crowded = std::any_of(seats.begin(), seats.end(),
                                 [&](const Seat& seat) { return is_crowded(seat.host, seats); });
    Progress progress(communicator.rank() == 0);
    const auto operations = operations_of(task);
    // Each repetition needs a barrier, which may take much longer than the operation if ranks
    // outnumber cores.
    const ContestOptions options{
        .rounds = task.rounds, .least_turn = .5e-3, .most_repeats = 16, .barriers = true};
    std::int64_t done = 0;
    const auto all = std::ssize(operations) * std::ssize(task.sizes);
    for (const TunedOperation* const operation : operations) {
        OperationContest contest(communicator, *operation, task);
        for (const std::int64_t size : task.sizes) {
            progress.say(
                fmt::format("{}, {} bytes ({} of {})", operation->call, size, ++done, all));
            contest.measure(size, options, launch.times);
        }
    }
    progress.clear();
    return launch;
}

std::string to_json(const TuneLaunch& launch) {
    nlohmann::ordered_json times = nlohmann::ordered_json::array();
    for (const AlgorithmTimes& each : launch.times) {
        times.push_back({{"collective", each.operation},
                         {"size", each.size},
                         {"algorithm", each.algorithm.name},
                         {"number", each.algorithm.number},
                         {"fanout", each.algorithm.fanout},
                         {"segment", each.algorithm.segment},
                         {"ours", each.ours},
                         {"in_order", each.in_order},
                         {"refused", each.refused},
                         {"minimum", each.least},
                         {"average", each.average},
                         {"maximum", each.wall},
                         {"cpu", each.cpu}});
    }
    const nlohmann::ordered_json json{{"operation", "tune --once"}, {"version", version()},
                                      {"mpi", launch.mpi},          {"host", launch.host},
                                      {"date", launch.date},        {"ranks", launch.ranks},
                                      {"crowded", launch.crowded},  {"times", times}};
    return sextant::to_text(json) + "\n";
}

namespace {

std::vector<Seconds> rounds_from(const JsonField& field) {
    constexpr double longest = 1e6;
    std::vector<Seconds> rounds;
    for (const JsonField& each : field.items())
        rounds.push_back(each.number(0, longest));
    return rounds;
}

AlgorithmTimes times_from(const JsonField& field) {
    constexpr int most = 1 << 30;
    AlgorithmTimes times;
    times.operation = tuned_operation(field.at("collective").text()).name;
    times.size = field.at("size").integer(0, most);
    times.algorithm = {field.at("algorithm").text(),
                       static_cast<int>(field.at("number").integer(0, most)),
                       static_cast<int>(field.at("fanout").integer(0, most)),
                       field.at("segment").integer(0, most)};
    times.ours = field.at("ours").boolean();
    times.in_order = field.at("in_order").boolean();
    times.refused = field.text_or_empty("refused");
    times.least = rounds_from(field.at("minimum"));
    times.average = rounds_from(field.at("average"));
    times.wall = rounds_from(field.at("maximum"));
    times.cpu = rounds_from(field.at("cpu"));
    return times;
}

} // namespace

TuneLaunch read_launch(const std::string& path) {
    constexpr int most = 1 << 24;
    const JsonField file = JsonField::read(path);
    TuneLaunch launch{
        file.at("mpi").text(),        file.at("host").text(),
        file.at("date").text(),       static_cast<int>(file.at("ranks").integer(1, most)),
        file.at("crowded").boolean(), {}};
    for (const JsonField& each : file.at("times").items())
        launch.times.push_back(times_from(each));
    return launch;
}

} // namespace sextant::lab
