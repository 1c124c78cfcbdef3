// SPDX-License-Identifier: BSD-3-Clause
// The contour rankings of the C3 paper on a 16 × 16 mesh, as schedules: sender, receiver, size,
// round and submachine of each message.
#pragma once

#include "sextant/model/c3.hpp"
#include "sextant/schedule/builder.hpp"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace sextant::test {

using model::Submachine;

inline constexpr int side = 16, processors = side * side;

/// Collects rounds of messages within submachines and converts them to programs. An element is one
/// byte. Messages do not depend on one another, because C3 needs only their rounds.
class MeshPattern {
  public:
    /// The messages that follow belong to this round and submachine.
    void on(int round, const Submachine& submachine) {
        round_ = round;
        group_ = 1 + static_cast<int>(places_.size());
        places_[{round_, group_}] = submachine;
    }
    void send(int from, int to, Elements bytes) {
        if (from != to)
            transfers_.push_back({round_, group_, from, to, bytes});
    }
    /// Bytes that every processor touches in a round.
    void touch(int round, Elements bytes) { touched_[round] = bytes; }

    Schedule schedule() const {
        std::vector<ProgramBuilder> builders(processors);
        std::vector<Region> inputs;
        Elements most = 1;
        for (const Transfer& transfer : transfers_)
            most = std::max(most, transfer.bytes);
        for (const auto& [round, bytes] : touched_)
            most = std::max(most, bytes);
        for (ProgramBuilder& builder : builders)
            inputs.push_back(builder.input(most));
        for (const Transfer& t : transfers_) {
            ProgramBuilder& from = builders[static_cast<std::size_t>(t.from)];
            ProgramBuilder& to = builders[static_cast<std::size_t>(t.to)];
            for (ProgramBuilder* builder : {&from, &to})
                builder->round(t.round), builder->group(t.group);
            from.send(t.to, block(0, 0, t.bytes));
            to.receive(t.from, to.scratch(t.bytes));
        }
        for (ProgramBuilder& builder : builders) {
            for (const auto& [round, bytes] : touched_) {
                builder.round(round);
                builder.copy(builder.scratch(bytes), block(0, 0, bytes));
            }
        }
        Schedule schedule;
        for (ProgramBuilder& builder : builders)
            schedule.push_back(builder.finish({}));
        return schedule;
    }

    model::C3Reading reading() const {
        return {model::Counting::paper, true, [places = places_](int round, int group) {
                    return places.at({round, group});
                }};
    }

  private:
    struct Transfer {
        int round, group, from, to;
        Elements bytes;
    };
    std::vector<Transfer> transfers_;
    std::map<std::pair<int, int>, Submachine> places_;
    std::map<int, Elements> touched_;
    int round_ = 0, group_ = 0;
};

inline const Submachine whole_mesh{0, 0, side, side};

inline int processor(int x, int y) {
    return y * side + x;
}

inline void for_each_processor(const Submachine& m, const std::function<void(int)>& visit) {
    for (int y = m.y; y < m.y + m.height; ++y) {
        for (int x = m.x; x < m.x + m.width; ++x)
            visit(processor(x, y));
    }
}

/// The mesh, divided into submachines of this size.
inline std::vector<Submachine> cut(int width, int height) {
    std::vector<Submachine> parts;
    for (int y = 0; y < side; y += height) {
        for (int x = 0; x < side; x += width)
            parts.push_back({x, y, width, height});
    }
    return parts;
}

/// The size of submachines before halving i of 8: 16 × 16, 8 × 16, 8 × 8, ...
inline Submachine size_before_halving(int i) {
    return {0, 0, side >> ((i + 1) / 2), side >> (i / 2)};
}
/// The processor at the same position in the other half of a submachine, at halving i.
inline int across(int rank, int i) {
    return i % 2 == 0 ? rank ^ (size_before_halving(i).width / 2)
                      : rank ^ (size_before_halving(i).height / 2 * side);
}

/// Each processor exchanges data with the one at the same position in the other half.
inline void exchange_halves(MeshPattern& pattern, int round, int i, Elements bytes) {
    const Submachine size = size_before_halving(i);
    for (const Submachine& m : cut(size.width, size.height)) {
        pattern.on(round, m);
        for_each_processor(m, [&](int rank) { pattern.send(rank, across(rank, i), bytes); });
    }
}

/// Each processor sends to at most one other processor.
inline void permute(MeshPattern& pattern, int round, Elements bytes,
                    const std::function<int(int)>& to) {
    pattern.on(round, whole_mesh);
    for_each_processor(whole_mesh, [&](int rank) { pattern.send(rank, to(rank), bytes); });
}

} // namespace sextant::test
