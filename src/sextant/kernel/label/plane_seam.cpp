// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/label/plane_seam.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

std::size_t at(Elements i) {
    return static_cast<std::size_t>(i);
}

Bytes size_of_sample(const ValueView::First& type) {
    return std::visit([](const auto* first) { return static_cast<Bytes>(sizeof(*first)); }, type);
}

/// A row of a plane, whose runs are numbered from `offset` + 1 on.
RunRow row_of(const PlaneRuns& plane, Elements y, Label offset) {
    const Elements words = words_for(plane.width);
    auto* const inside = const_cast<std::uint64_t*>(plane.bits.data()) + 2 * words * y;
    return {inside, inside + words, offset + plane.before[at(y)]};
}

/// Compares two rows of samples of any type; the result has a bit per sample.
class EqualRows {
  public:
    EqualRows(const PlaneRuns& front, const PlaneRuns& back, const ValueView::First& type)
        : front_(front),
          back_(back),
          type_(type),
          straight_(at(words_for(front.width))),
          left_(straight_.size()),
          right_(straight_.size()) {}

    EqualsAbove compare(Elements y_front, Elements y_back, bool corners) {
        std::visit(
            [&](const auto* of_type) {
                const auto row = [&](const PlaneRuns& plane, Elements y) {
                    return reinterpret_cast<decltype(of_type)>(plane.samples.data()) +
                           y * plane.width;
                };
                const auto* const above = row(front_, y_front);
                const auto* const samples = row(back_, y_back);
                bits_equal(samples, above, front_.width, straight_.data());
                if (!corners)
                    return;
                bits_equal(samples + 1, above, front_.width - 1, left_.data());
                bits_equal(samples, above + 1, front_.width - 1, right_.data());
            },
            type_);
        return {straight_.data(), left_.data(), right_.data()};
    }

  private:
    const PlaneRuns &front_, &back_;
    const ValueView::First& type_;
    std::vector<std::uint64_t> straight_, left_, right_;
};

void check_alike(const PlaneRuns& front, const PlaneRuns& back) {
    if (front.width != back.width || front.height != back.height)
        throw std::logic_error("planes of different shapes cannot be joined");
}

} // namespace

PlaneRuns runs_of_plane(const Labeller& labeller, const ValueView& input, Elements plane,
                        Sameness sameness) {
    PlaneRuns runs;
    runs.width = input.tile.width;
    runs.height = input.tile.height;
    const auto words = at(words_for(runs.width));
    for (Elements y = 0; y < runs.height; ++y) {
        const LabelledRuns row = labeller.runs_of(plane * runs.height + y);
        runs.before.push_back(static_cast<Label>(runs.labels.size()));
        runs.bits.insert(runs.bits.end(), row.inside, row.inside + words);
        runs.bits.insert(runs.bits.end(), row.starts, row.starts + words);
        const Label* label = row.labels;
        for (std::size_t word = 0; word < words; ++word) {
            const int count = std::popcount(row.starts[word]);
            runs.labels.insert(runs.labels.end(), label, label + count);
            label += count;
        }
    }
    runs.before.push_back(static_cast<Label>(runs.labels.size()));
    if (sameness == Sameness::foreground)
        return runs;
    const Bytes size = size_of_sample(input.first);
    runs.samples.resize(at(runs.width * runs.height * size));
    std::visit(
        [&](const auto* first) {
            for (Elements y = 0; y < runs.height && runs.width > 0; ++y)
                std::memcpy(runs.samples.data() + y * runs.width * size,
                            first + plane * input.next_plane + y * input.stride,
                            at(runs.width * size));
        },
        input.first);
    return runs;
}

std::vector<TouchingLabels> touching(const PlaneRuns& front, const PlaneRuns& back,
                                     Connection connection, const ValueView::First& type) {
    check_alike(front, back);
    const auto in_front = static_cast<Label>(front.labels.size());
    std::vector<Label> parents(1 + front.labels.size() + back.labels.size());
    std::iota(parents.begin(), parents.end(), 0);
    EqualRows equal(front, back, type);
    for (Elements y = 0; y < back.height && back.width > 0; ++y) {
        for (const RowBefore& before : rows_before(connection.neighbours)) {
            const Elements y_front = y - before.rows;
            if (before.planes != 1 || y_front < 0 || y_front >= front.height)
                continue;
            EqualsAbove equals{};
            const bool by_value = connection.sameness == Sameness::value;
            if (by_value)
                equals = equal.compare(y_front, y, before.corners);
            join_runs({row_of(back, y, in_front), row_of(front, y_front, 0), words_for(back.width),
                       before.corners, by_value ? &equals : nullptr, parents.data()});
        }
    }
    // Runs with the same root are connected through runs of the other plane. The root is in the
    // front plane, unless the run is joined with no other.
    std::vector<TouchingLabels> pairs;
    const auto label = [&](Label run) {
        return run <= in_front ? front.labels[at(run - 1)] : back.labels[at(run - in_front - 1)];
    };
    const auto root = [&](Label run) {
        while (parents[at(run)] != run)
            run = parents[at(run)] = parents[at(parents[at(run)])];
        return run;
    };
    std::vector<Label> behind(front.labels.size() + 1, 0); // [root]: a label of the plane behind
    const auto all = static_cast<Label>(parents.size()) - 1;
    for (Label run = in_front + 1; run <= all; ++run) {
        const Label first = root(run);
        if (first == run)
            continue;
        pairs.push_back({label(first), label(run)});
        behind[at(first)] = label(run);
    }
    for (Label run = 1; run <= in_front; ++run) {
        const Label first = root(run);
        if (first != run)
            pairs.push_back({label(run), behind[at(first)]});
    }
    std::ranges::sort(pairs, {},
                      [](const TouchingLabels& pair) { return std::pair(pair.front, pair.back); });
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return pairs;
}

void each_contact(const PlaneRuns& front, const PlaneRuns& back, Sameness sameness,
                  const ValueView::First& type,
                  const std::function<void(const RunContacts&)>& take) {
    check_alike(front, back);
    const Elements words = words_for(front.width);
    const bool by_value = sameness == Sameness::value;
    EqualRows equal(front, back, type);
    std::vector<std::uint64_t> both(at(words));
    const auto value_at = [&](Elements i) {
        return std::visit(
            [&](const auto* of_type) {
                return value_code(reinterpret_cast<decltype(of_type)>(back.samples.data())[i]);
            },
            type);
    };
    for (Elements y = 0; y < front.height && front.width > 0; ++y) {
        const RunRow row = row_of(front, y, 0), behind = row_of(back, y, 0);
        for (Elements word = 0; word < words; ++word)
            both[at(word)] = row.inside[word] & behind.inside[word];
        if (by_value) {
            const EqualsAbove equals = equal.compare(y, y, false);
            for (Elements word = 0; word < words; ++word)
                both[at(word)] &= equals.straight[word];
        }
        const LabelledRuns runs{behind.inside, behind.starts,
                                back.labels.data() + back.before[at(y)]};
        each_run(runs, back.width, [&](Elements begin, Elements end, Label label) {
            if (const Elements voxels = count_bits(both.data(), begin, end); voxels > 0)
                take({label, voxels, by_value ? value_at(y * back.width + begin) : 0});
        });
    }
}

Label JoinedParts::add(Elements components) {
    const std::size_t begin = parents_.size();
    const Elements all = static_cast<Elements>(begin) + components;
    if (all > most_)
        throw InvalidData(fmt::format(
            "the {} have {} components before merging, expected at most {}, the largest label",
            parts_, all, most_));
    parents_.resize(static_cast<std::size_t>(all));
    std::iota(parents_.begin() + static_cast<std::ptrdiff_t>(begin), parents_.end(),
              static_cast<Label>(begin));
    return static_cast<Label>(begin);
}

Label JoinedParts::root(Elements component) {
    Label at = static_cast<Label>(component);
    const auto parent = [this](Label each) -> Label& {
        return parents_[static_cast<std::size_t>(each)];
    };
    while (parent(at) != at)
        at = parent(at) = parent(parent(at));
    return at;
}

void JoinedParts::join(Elements a, Elements b) {
    const Label x = root(a), y = root(b);
    parents_[static_cast<std::size_t>(std::max(x, y))] = std::min(x, y);
}

/// A component's parent comes before it, so one pass numbers all components.
Label JoinedParts::number() {
    Label count = 0;
    for (std::size_t i = 0; i < parents_.size(); ++i) {
        const auto parent = static_cast<std::size_t>(parents_[i]);
        parents_[i] = parent == i ? ++count : parents_[parent];
    }
    return count;
}

} // namespace sextant::kernel
