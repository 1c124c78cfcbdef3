// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/catalogue.hpp"

#include "sextant/compositing/composite_task.hpp"
#include "sextant/compositing/direct_algorithms.hpp"
#include "sextant/compositing/interlace.hpp"
#include "sextant/compositing/swap_algorithms.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text.hpp"
#include "sextant/schedule/program.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <span>

#include <fmt/format.h>

namespace sextant::compositing {

namespace {

/// All ordered factorisations; if there are more than 8,192, only those in falling or rising order.
std::vector<Tuning> all_radices(int positions) {
    const bool all = count_factorisations(positions) <= 8192;
    std::vector<Tuning> tunings;
    for (std::vector<int>& radices :
         all ? factorisations(positions) : falling_factorisations(positions)) {
        std::vector<int> rising(radices.rbegin(), radices.rend());
        const bool also_rising = !all && rising != radices;
        tunings.push_back({std::move(radices), 0});
        if (also_rising)
            tunings.push_back({std::move(rising), 0});
    }
    return tunings;
}

std::vector<Tuning> powers_of_two(int positions) {
    if (!std::has_single_bit(static_cast<unsigned>(positions)))
        return {};
    return {Tuning{}};
}

std::vector<Tuning> nothing_to_tune(int) {
    return {Tuning{}};
}

/// The tunings without a window and with a window of one round. Rounds have an effect only with a
/// window.
std::vector<Tuning> any_window(int) {
    return {Tuning{}, Tuning{{}, 1}};
}

Piece part_by_position(const Task& task, const Tuning&, int position) {
    return equal_part(task, position);
}

constexpr Algorithm algorithms[] = {
    {"direct-send", "each rank receives its part of the image from all other ranks and blends it",
     "Neumann 1994, doi:10.1109/38.291531", "any number", false, any_window,
     [](const Task& task, const Tuning& tuning, int position) {
         return direct_send(task, Partners::ascending, tuning.window, position);
     },
     part_by_position, true},
    {"radix-k", "rounds of direct send within groups of k ranks",
     "Peterka et al. 2009, doi:10.1145/1654059.1654064", "any number", true, all_radices,
     [](const Task& task, const Tuning& tuning, int position) {
         return radix_k(task, tuning.radices, position);
     },
     [](const Task& task, const Tuning& tuning, int position) {
         return radix_k_piece(task, tuning.radices, position);
     }},
    {"binary-swap", "pairs of ranks exchange halves of their part, in log2 p rounds",
     "Ma et al. 1994, doi:10.1109/38.291532", "a power of two", false, powers_of_two,
     [](const Task& task, const Tuning&, int position) { return binary_swap(task, position); },
     [](const Task& task, const Tuning&, int position) {
         return radix_k_piece(task, binary_swap_radices(task.positions()), position);
     }},
    {"two-three-swap", "binary swap with groups of two and three ranks, for any number of ranks",
     "Yu et al. 2008, doi:10.1109/SC.2008.5219060", "any number", false, nothing_to_tune,
     [](const Task& task, const Tuning&, int position) { return two_three_swap(task, position); },
     [](const Task& task, const Tuning&, int position) {
         return two_three_swap_piece(task, position);
     }},
    {"shift-based", "direct send as a sequence of shift permutations",
     "Cavin and Demengeon 2012, doi:10.2312/EGPGV/EGPGV12/129-138", "any number", false,
     [](int) {
         return std::vector<Tuning>{{{}, 1}, {{}, 2}};
     },
     [](const Task& task, const Tuning& tuning, int position) {
         return shift_based(task, tuning.window > 0 ? tuning.window : 1, position);
     },
     part_by_position, true},
    {"parallel-pipeline", "parts circulate around a ring and are blended on each rank",
     "Lee et al. 1996, doi:10.1109/2945.537304", "any number", false, any_window,
     [](const Task& task, const Tuning& tuning, int position) {
         return parallel_pipeline(task, tuning.window, position);
     },
     part_by_position},
    {"binary-tree",
     "whole images are blended pairwise; half of the active ranks stop after each round",
     "as in Ma et al. 1994, doi:10.1109/38.291532", "any number", false, nothing_to_tune,
     [](const Task& task, const Tuning&, int position) { return binary_tree(task, position); },
     [](const Task& task, const Tuning&, int position) {
         return binary_tree_piece(task, position);
     },
     false, true},
};

int rounds_of(const Program& program) {
    int rounds = 0;
    for (const Step& step : program.steps)
        rounds = std::max(rounds, step.round + 1);
    return rounds;
}

void append(Program& program, Verb verb, int round, int peer, const Region& region,
            const Region& to = {}) {
    program.regions.push_back(region);
    const auto first = static_cast<std::uint32_t>(program.regions.size()) - 1;
    program.steps.push_back({verb, round, 0, peer, first, 1, to});
}

bool touches(const Program& program, const Step& step, const Region& region) {
    const auto regions = program.regions_of(step);
    return overlap(step.to, region) ||
           std::any_of(regions.begin(), regions.end(),
                       [&](const Region& r) { return overlap(r, region); });
}

/// True if the result fills a scratch buffer, which can then become the composited image.
bool fills_its_buffer(const Program& program) {
    if (program.result.empty() || !program.result.contiguous())
        return false;
    const BufferSpec& buffer = program.buffers[static_cast<std::size_t>(program.result.buffer)];
    return buffer.role == Role::scratch && buffer.size == program.result.elements();
}

/// Moves the result to `to`: its last fold writes there if possible, otherwise it is copied.
void move_result(Program& program, const Region& to) {
    if (program.result.empty())
        return;
    for (std::size_t i = program.steps.size(); i-- > 0;) {
        Step& step = program.steps[i];
        if (step.verb == Verb::fold && step.to == program.result) {
            step.to = to;
            return;
        }
        if (touches(program, step, program.result))
            break;
    }
    append(program, Verb::copy, rounds_of(program), -1, program.result, to);
}

/// Appends the collection of the composited image at `task.root`. Each owner sends its piece as
/// soon as the piece is final. The root receives directly into the composited image, and its own
/// last fold writes there too.
///
/// Input     the rank's program, with ranks as peers; at the root, the piece of each position.
/// Output    at the root, a program whose result is the composited image, in an output buffer (or
///           in its input buffer if the root holds the only image); elsewhere a program with an
///           empty result.
/// Cost      one message per owner, all received by the root.
Program collect(Program program, const Task& task, std::span<const Piece> pieces, int rank) {
    const int round = rounds_of(program);
    if (rank != task.root) {
        if (!program.result.empty())
            append(program, Verb::send, round, task.root, program.result);
        program.result = {};
        return program;
    }
    const bool only_image = task.order.size() == 1 && task.order[0] == rank && task.layers[0] == 1;
    if (only_image)
        return program; // the result is the only image
    if (program.result.elements() == task.elements && fills_its_buffer(program)) {
        program.buffers[static_cast<std::size_t>(program.result.buffer)].role = Role::output;
        return program;
    }
    program.buffers.push_back({Role::output, task.elements});
    const int picture = static_cast<int>(program.buffers.size()) - 1;
    for (int position = 0; position < task.positions(); ++position) {
        const Piece& piece = pieces[static_cast<std::size_t>(position)];
        const Region place = block(picture, piece.first, piece.count);
        const int owner = task.order[static_cast<std::size_t>(position)];
        if (owner == rank)
            move_result(program, place);
        else if (!place.empty())
            append(program, Verb::receive, round, owner, place);
    }
    program.result = block(picture, 0, task.positions() > 0 ? task.elements : 0);
    return program;
}

/// The program of a position for a task with an image order.
Program with_images(const Algorithm& algorithm, const Task& task, const Tuning& tuning,
                    int position, ImageOrder images) {
    const int window = tuning.window;
    if (algorithm.name == "direct-send")
        return direct_send(task, Partners::ascending, window, position, images);
    if (algorithm.name == "shift-based")
        return shift_based(task, window > 0 ? window : 1, position, images);
    if (algorithm.name == "radix-k")
        return radix_k(task, tuning.radices, position, images);
    if (algorithm.name == "binary-swap")
        return binary_swap(task, position, images);
    throw InvalidTask(fmt::format("{} requires the images of a rank to be adjacent; direct-send, "
                                  "shift-based, radix-k and binary-swap do not",
                                  algorithm.name));
}

/// The program of a rank for a task whose ranks are positions. If the task has a root, the program
/// includes the collection there.
Program collected(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank,
                  ImageOrder images = {}) {
    Program own;
    if (rank < task.positions())
        own = images.empty() ? algorithm.program(task, tuning, rank)
                             : with_images(algorithm, task, tuning, rank, images);
    if (task.root == Task::distributed)
        return own;
    std::vector<Piece> pieces;
    if (rank == task.root) { // only the root needs the pieces of all positions
        for (int i = 0; i < task.positions(); ++i)
            pieces.push_back(algorithm.piece(task, tuning, i));
    }
    return collect(std::move(own), task, pieces, rank);
}

/// Checks the result of a rank that should hold pixels `expected` of the composited image; returns
/// a description of the error, or "".
std::string judge(const std::vector<Elements>& expected, int layers,
                  const std::vector<Symbol>& result) {
    if (result.size() != expected.size())
        return fmt::format("holds {} pixels, expected {}", result.size(), expected.size());
    for (std::size_t e = 0; e < result.size(); ++e) {
        const Symbol& symbol = result[e];
        const Elements pixel = expected[e];
        if (symbol.element != pixel || symbol.first != 0 || symbol.last != layers) {
            return fmt::format(
                "pixel {} holds layers [{}, {}) of pixel {}, expected all {} layers of this pixel",
                pixel, symbol.first, symbol.last, symbol.element, layers);
        }
    }
    return "";
}

} // namespace

std::span<const Algorithm> catalogue() {
    return algorithms;
}

const Algorithm& find(std::string_view wanted) {
    return find_by_name<Algorithm>("compositing algorithm", wanted, algorithms);
}

void list_seat(const Algorithm& algorithm, const Task& task, int rank, std::vector<int>& key) {
    key.clear();
    key.push_back(task.position_of(rank));
    key.push_back(algorithm.depends_on_root ? task.position_of(task.root) : -1);
    if (algorithm.depends_on_layers)
        key.insert(key.end(), task.layers.begin(), task.layers.end());
}

Seat seat_of(const Algorithm& algorithm, const Task& task, int rank) {
    const int positions = task.positions(), position = task.position_of(rank);
    const auto place = [&](int at) { return at < 0 ? positions : at; };
    const bool looks_on = position < 0 && rank != task.root;
    Seat seat{one_image_each(positions, task.elements, task.root),
              looks_on ? positions + 1 : place(position)};
    seat.task.ranks = positions + 2;
    if (algorithm.depends_on_layers && position >= 0)
        seat.task.layers = task.layers;
    else if (position >= 0)
        seat.task.layers[static_cast<std::size_t>(position)] = task.layers_at(position);
    const bool known = rank == task.root || (position >= 0 && algorithm.depends_on_root);
    if (task.root != Task::distributed)
        seat.task.root = known ? place(task.position_of(task.root)) : positions;
    return seat;
}

std::vector<int> peers_of(const Task& task) {
    std::vector<int> peers = task.order;
    peers.push_back(task.root);
    return peers;
}

Program program(const Algorithm& algorithm, const Seat& seat, const Tuning& tuning) {
    return program(algorithm, seat, tuning, {});
}

bool takes_image_orders(const Algorithm& algorithm) {
    constexpr std::string_view names[] = {"direct-send", "shift-based", "radix-k", "binary-swap"};
    return std::find(std::begin(names), std::end(names), algorithm.name) != std::end(names);
}

Seat seat_with_images(const Task& task, int rank) {
    const int positions = task.positions();
    const auto place = [&](int at) { return at < 0 ? positions : at; };
    const bool looks_on = task.position_of(rank) < 0 && rank != task.root;
    Seat seat{one_image_each(positions, task.elements, task.root),
              looks_on ? positions + 1 : place(task.position_of(rank))};
    seat.task.ranks = positions + 2;
    seat.task.layers = task.layers;
    if (task.root != Task::distributed)
        seat.task.root = place(task.position_of(task.root));
    return seat;
}

namespace {

/// The program of a rank of a task whose ranks are positions.
Program seated(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank,
               ImageOrder images = {}) {
    Program made = collected(algorithm, task, tuning, rank, images);
    return is_interlaced(task, tuning) ? interlaced(made, task, interlacing_of(task, tuning))
                                       : std::move(made);
}

} // namespace

Program program(const Algorithm& algorithm, const Seat& seat, const Tuning& tuning,
                ImageOrder images) {
    return seated(algorithm, seat.task, tuning, seat.rank, images);
}

Program program(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank) {
    return with_peers(program(algorithm, seat_of(algorithm, task, rank), tuning), peers_of(task));
}

Piece piece(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank) {
    if (task.positions() == 0)
        return {};
    if (task.root == rank)
        return {0, task.elements};
    const int position = task.position_of(rank);
    if (task.root != Task::distributed || position < 0)
        return {};
    return algorithm.piece(task, tuning, position);
}

std::vector<Elements> pixels(const Algorithm& algorithm, const Task& task, const Tuning& tuning,
                             int rank) {
    const Piece own = piece(algorithm, task, tuning, rank);
    std::vector<Elements> all(static_cast<std::size_t>(own.count));
    std::iota(all.begin(), all.end(), own.first);
    if (rank != task.root && is_interlaced(task, tuning)) {
        const Interleaving interlacing = interlacing_of(task, tuning);
        for (Elements& pixel : all)
            pixel = interlacing.pixel(pixel);
    }
    return all;
}

Claim claim(const Algorithm& algorithm, const Task& task, const Tuning& tuning) {
    return claim(algorithm, task, tuning, {});
}

Claim claim(const Algorithm& algorithm, const Task& task, const Tuning& tuning, ImageOrder images) {
    Claim claim;
    const std::vector<PlacedImage> order(images.begin(), images.end());
    std::vector<int> first_layer(static_cast<std::size_t>(task.ranks)); // by rank
    for (int i = 0, layers = 0; i < task.positions(); layers += task.layers_at(i++))
        first_layer[static_cast<std::size_t>(task.order[static_cast<std::size_t>(i)])] = layers;
    claim.given = [task, order, first_layer](int rank, int, Elements element) {
        int layer = static_cast<int>(element / task.elements);
        if (!order.empty()) {
            const PlacedImage own{task.position_of(rank), layer};
            layer = static_cast<int>(std::find(order.begin(), order.end(), own) - order.begin());
        } else {
            layer += first_layer[static_cast<std::size_t>(rank)];
        }
        return Symbol{element % task.elements, layer, layer + 1, 0};
    };
    claim.wanted = [task, tuning, &algorithm](int rank, const std::vector<Symbol>& result) {
        return judge(pixels(algorithm, task, tuning, rank), task.all_layers(), result);
    };
    claim.wanted_together = [task](const std::vector<std::vector<Symbol>>& results) {
        std::vector<int> owners(static_cast<std::size_t>(task.elements), 0);
        for (const auto& result : results) {
            for (const Symbol& symbol : result)
                ++owners[static_cast<std::size_t>(symbol.element)];
        }
        for (std::size_t pixel = 0; pixel < owners.size(); ++pixel) {
            if (owners[pixel] == 1 || task.positions() == 0)
                continue;
            return fmt::format("pixel {} is owned by {} ranks", pixel, owners[pixel]);
        }
        return std::string();
    };
    return claim;
}

std::string Configuration::text() const {
    const std::string tuned = to_text(tuning);
    const std::string name(algorithm->name);
    return name + (tuned.empty() ? "" : ", " + tuned) + (sparse ? ", sparse" : "");
}

std::vector<Configuration> configurations(const Task& task) {
    std::vector<Configuration> all;
    for (const Algorithm& algorithm : catalogue()) {
        for (Tuning& tuning : algorithm.tunings(std::max(1, task.positions())))
            all.push_back({&algorithm, std::move(tuning)});
    }
    return all;
}

namespace {

/// The ranks that may be busiest: those at the middle and end positions, then the root. The root is
/// last, because its program is the longest.
std::vector<int> busiest(const Task& task) {
    std::vector<int> ranks;
    const auto add = [&](int rank) {
        if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
            ranks.push_back(rank);
    };
    const auto at = [&](int position) { return task.order[static_cast<std::size_t>(position)]; };
    const int positions = task.positions();
    for (const int position : {positions / 2, positions - 1, 0}) {
        if (position >= 0 && position < positions && at(position) != task.root)
            add(at(position));
    }
    if (task.root != Task::distributed)
        add(task.root);
    if (ranks.empty())
        add(positions > 0 ? at(0) : 0);
    return ranks;
}

} // namespace

std::vector<Candidate> candidates(const Task& task, std::span<const Configuration> configurations) {
    // Making a seat takes time in proportion to the number of ranks.
    const bool seated_already = task == one_image_each(task.ranks, task.elements, task.root);
    const std::vector<int> ranks = busiest(task);
    std::vector<Candidate> all;
    for (const Configuration& configuration : configurations) {
        all.push_back({std::string(configuration.algorithm->name), to_text(configuration.tuning),
                       task.ranks,
                       [&task, configuration, seated_already](int rank) {
                           const auto& [algorithm, tuning, sparse] = configuration;
                           return seated_already ? seated(*algorithm, task, tuning, rank)
                                                 : program(*algorithm, task, tuning, rank);
                       },
                       ranks});
    }
    return all;
}

Candidate candidate(const Task& task, const Configuration& configuration) {
    return std::move(candidates(task, {&configuration, 1}).front());
}

} // namespace sextant::compositing
