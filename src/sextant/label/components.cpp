// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/components.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/packing.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sextant::label {

using kernel::Body;
using kernel::Extent;
using kernel::JoinedParts;
using kernel::Label;
using kernel::PlaneRuns;
using kernel::TouchingLabels;

/// The components found in a part of a slab. Components with voxels in a plane next to another part
/// are called edges. `front`, `back` and `pairs` number edges from 1.
struct Components::FoundPart {
    Elements planes = 0;
    Label components = 0, interior = 0, enclosed = 0;
    std::vector<Label> edges = {}, before = {}; // [edge]
    std::vector<Extent> extents = {};           // [edge]
    std::vector<Body> bodies = {};              // [edge]
    std::vector<Candidate> candidates = {};
    std::vector<TouchingLabels> pairs = {}; // with edges of the previous part
    std::optional<PlaneRuns> front = {}, back = {};

    // Not in records:
    std::vector<Extent> all_extents = {}; // [label − 1]
    std::vector<Label> edge_of = {};      // [label − 1]: number of the edge, or 0

    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.planes, self.components, self.interior, self.enclosed, self.edges,
                        self.before, self.extents, self.bodies, self.candidates, self.pairs,
                        self.front, self.back);
    }
};

struct Components::FoundSlab {
    Elements nan = 0;
    std::vector<FoundPart> parts = {};

    template <class Self>
    static auto fields(Self& self) {
        return std::tie(self.nan, self.parts);
    }
};

Components::Components(const Communicator& communicator, Slabs& slabs, const Options& options,
                       Checkpoint& checkpoint)
    : communicator_(communicator), slabs_(slabs), options_(options), checkpoint_(checkpoint) {}

Components::~Components() = default;

/// The number of parts found so far.
Elements Components::found() const {
    return std::ssize(parts_) + std::ssize(waiting_);
}

/// Finds the edges of a labelled part, and its planes next to other parts.
void Components::describe(const Slabs::Part& part, FoundPart& found) const {
    found.planes = part.planes;
    found.components = part.labeller.count();
    if (part.planes == 0)
        return;
    if (part.first == 0 && part.end() == slabs_.shape().depth && !options_.extents) {
        found.interior = found.components; // no other part
        return;
    }
    const kernel::ValueView view = slabs_.view(part);
    const kernel::Sameness sameness = slabs_.options().connection.sameness;
    found.edge_of.assign(index_of(found.components), 0);
    if (part.first > 0)
        found.front = kernel::runs_of_plane(part.labeller, view, 0, sameness);
    if (part.end() < slabs_.shape().depth)
        found.back = kernel::runs_of_plane(part.labeller, view, part.planes - 1, sameness);
    for (std::optional<PlaneRuns>* plane : {&found.front, &found.back}) {
        if (*plane)
            for (const Label label : (*plane)->labels)
                found.edge_of[label - 1] = 1;
    }
    if (options_.extents)
        found.all_extents = slabs_.extents_of(part);
    for (Label label = 1; label <= found.components; ++label) {
        Label& edge = found.edge_of[label - 1];
        if (edge == 0) {
            found.interior += !options_.extents || keeps(found.all_extents[label - 1]) ? 1U : 0U;
            found.enclosed +=
                options_.extents && found.all_extents[label - 1].at_border == 0 ? 1U : 0U;
            continue;
        }
        found.edges.push_back(label);
        found.before.push_back(found.interior);
        if (options_.extents)
            found.extents.push_back(found.all_extents[label - 1]);
        edge = static_cast<Label>(found.edges.size());
    }
    for (std::optional<PlaneRuns>* plane : {&found.front, &found.back}) {
        if (*plane)
            for (Label& label : (*plane)->labels)
                label = found.edge_of[label - 1];
    }
}

/// Adds an interior component to the list of the largest, if it is one of them.
bool Components::offer(const Candidate& candidate) {
    if (std::ssize(candidates_) == options_.most_candidates) {
        if (!(candidate < candidates_.front()))
            return false;
        std::pop_heap(candidates_.begin(), candidates_.end());
        candidates_.pop_back();
    }
    candidates_.push_back(candidate);
    std::push_heap(candidates_.begin(), candidates_.end());
    return true;
}

/// Offers all interior components of a part to the list of the largest.
void Components::offer(Elements part, FoundPart& found) {
    if (options_.most_candidates == 0)
        return;
    if (found.all_extents.empty()) { // from a record
        for (const Candidate& candidate : found.candidates)
            offer(candidate);
        return;
    }
    for (Label label = 1; label <= found.components; ++label) {
        const Extent& extent = found.all_extents[label - 1];
        const Candidate candidate{static_cast<Elements>(extent.voxels), part, label};
        if (found.edge_of[label - 1] == 0 && keeps(extent) && offer(candidate))
            found.candidates.push_back(candidate);
    }
}

kernel::BodyContents Components::contents() const {
    return {slabs_.shape(), slabs_.options().connection.sameness == kernel::Sameness::value,
            slabs_.has_intensities()};
}

void Components::add_bodies(InteriorBodies bodies) {
    const std::lock_guard lock(adding_);
    checkpoint_.add(std::move(bodies));
}

/// Measures the edges of the slab's parts, and the interior components that may be kept.
void Components::measure(std::vector<FoundPart>& found) {
    constexpr std::size_t bytes_of_list = 1 << 18;
    const Elements first_part = this->found();
    std::vector<std::vector<Label>> large(found.size());
    for (const Candidate& candidate : candidates_) {
        if (candidate.part >= first_part)
            large[index_of(candidate.part - first_part)].push_back(candidate.label);
    }
    slabs_.each_part([&](std::size_t index, const Slabs::Part& part) {
        FoundPart& own = found[index];
        if (own.components == 0)
            return;
        std::vector<std::uint8_t> wanted(own.components, options_.most_candidates == 0 ? 1 : 0);
        for (const Label label : large[index])
            wanted[label - 1] = 1;
        if (options_.most_candidates == 0 && options_.keeps)
            std::ranges::transform(own.all_extents, wanted.begin(),
                                   [&](const Extent& extent) { return keeps(extent); });
        for (const Label label : own.edges)
            wanted[label - 1] = 1;
        own.bodies.resize(own.edges.size());
        struct List {
            kernel::PackedBodies packed;
            Label first = 0;
        };
        std::vector<List> lists(kernel::body_sequences, List{kernel::PackedBodies(contents())});
        const auto add = [&](List& list) {
            add_bodies({first_part + static_cast<Elements>(index),
                        static_cast<int>(&list - lists.data()), list.first, list.packed.take()});
        };
        slabs_.measure(part, wanted, [&](Label label, const Body& body, int sequence) {
            if (const Label edge = own.edge_of.empty() ? 0 : own.edge_of[label - 1]; edge > 0) {
                own.bodies[edge - 1] = body;
                return;
            }
            List& list = lists[static_cast<std::size_t>(sequence)];
            list.first = list.packed.empty() ? label : list.first;
            list.packed.add(label, body);
            if (list.packed.size() >= bytes_of_list)
                add(list);
        });
        for (List& list : lists) {
            if (!list.packed.empty())
                add(list);
        }
    });
}

/// Reads and labels a slab.
Components::FoundSlab Components::label(Elements slab) {
    FoundSlab found;
    timed(reading_, [&] { found.nan = slabs_.read(slab, options_.bodies); });
    timed(labelling_, [&] {
        found.nan += slabs_.find();
        found.parts.resize(slabs_.parts_of_slab());
        slabs_.each_part([&](std::size_t index, const Slabs::Part& part) {
            describe(part, found.parts[index]);
        });
        for (std::size_t i = 0; i < found.parts.size(); ++i)
            offer(this->found() + static_cast<Elements>(i), found.parts[i]);
        if (options_.bodies)
            measure(found.parts);
        const std::optional<PlaneRuns>* before = waiting_.empty() ? nullptr : &waiting_[0].back;
        for (FoundPart& part : found.parts) {
            part.all_extents = {};
            part.edge_of = {};
            if (part.planes == 0)
                continue;
            if (before) {
                const auto type = slabs_.type();
                const kernel::Connection connection = slabs_.options().connection;
                part.pairs = kernel::touching(**before, *part.front, connection, type);
                if (options_.bodies)
                    kernel::each_contact(**before, *part.front, connection.sameness, type,
                                         [&](const kernel::RunContacts& run) {
                                             part.bodies[run.label - 1].contacts += run.voxels;
                                         });
                part.front.reset();
            }
            before = &part.back;
        }
        for (FoundPart& part : found.parts) {
            if (&part.back != before)
                part.back.reset();
        }
        slabs_.keep_runs();
    });
    return found;
}

/// Adds the components found in the next slab. The last part waits, because only the next part
/// shows which of its edges touch no other part. `from_record`: the checkpoint already has the
/// bodies.
void Components::keep(FoundSlab found, bool from_record) {
    nan_ += found.nan;
    for (FoundPart& part : found.parts) {
        if (part.planes > 0)
            settle(part.pairs, false, from_record);
        waiting_.push_back(std::move(part));
    }
}

/// Turns edges that touch no other part into interior components.
void Components::make_interior(FoundPart& found, const std::vector<bool>& touches,
                               bool from_record) {
    const Elements number = std::ssize(parts_);
    InteriorBodies bodies{number, kernel::body_sequences, 0, {}};
    kernel::PackedBodies packed(contents());
    const Label before = found.interior;
    std::size_t kept = 0;
    for (std::size_t edge = 0; edge < touches.size(); ++edge) {
        const Label label = found.edges[edge];
        const Extent extent = options_.extents ? found.extents[edge] : Extent{};
        const auto voxels = static_cast<Elements>(extent.voxels);
        if (touches[edge]) {
            found.edges[kept] = label;
            found.before[kept] = found.before[edge] + (found.interior - before);
            if (options_.extents)
                found.extents[kept] = extent;
            if (options_.bodies)
                found.bodies[kept] = found.bodies[edge];
            ++kept;
            continue;
        }
        found.enclosed += options_.extents && extent.at_border == 0 ? 1U : 0U;
        if (!keeps(extent))
            continue;
        ++found.interior;
        if (options_.most_candidates > 0 && !offer({voxels, number, label}))
            continue;
        if (options_.bodies && !from_record) {
            bodies.first = packed.empty() ? label : bodies.first;
            packed.add(label, found.bodies[edge]);
        }
    }
    found.edges.resize(kept);
    found.before.resize(kept);
    found.extents.resize(options_.extents ? kept : 0);
    found.bodies.resize(options_.bodies ? kept : 0);
    if (!packed.empty()) {
        bodies.packed = packed.take();
        add_bodies(std::move(bodies));
    }
}

/// Adds the waiting part. `next`: pairs with edges of the next part; `is_last`: this rank has no
/// next part.
void Components::settle(const std::vector<TouchingLabels>& next, bool is_last, bool from_record) {
    if (waiting_.empty())
        return;
    FoundPart& part = waiting_[0];
    std::vector<bool> touches(part.edges.size(), false);
    for (const TouchingLabels& pair : part.pairs)
        touches[pair.back - 1] = true;
    for (const TouchingLabels& pair : next)
        touches[pair.front - 1] = true;
    if (!is_last)
        part.back.reset();
    for (const std::optional<PlaneRuns>* plane : {&part.front, &part.back}) {
        if (*plane) // next to another rank's planes
            for (const Label edge : (*plane)->labels)
                touches[edge - 1] = true;
    }
    make_interior(part, touches, from_record);
    const Elements first_piece = pieces_.add(std::ssize(part.edges));
    std::vector<Elements> pieces;
    Elements piece = first_piece;
    for (const bool is_piece : touches)
        pieces.push_back(is_piece ? piece++ : -1);
    for (const TouchingLabels& pair : part.pairs)
        pieces_.join(last_pieces_[pair.front - 1], pieces[pair.back - 1]);
    for (std::optional<PlaneRuns>* plane : {&part.front, &part.back}) {
        if (*plane)
            for (Label& edge : (*plane)->labels)
                edge = static_cast<Label>(pieces[edge - 1] + 1);
    }
    if (part.front)
        first_plane_ = std::move(part.front);
    if (part.back)
        last_plane_ = std::move(part.back);
    const auto append = [](auto& all, const auto& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    append(piece_label_, part.edges);
    append(piece_before_, part.before);
    append(piece_extent_, part.extents);
    append(bodies_, part.bodies);
    last_pieces_ = std::move(pieces);
    parts_.push_back({part.components, part.interior, part.enclosed, first_piece});
    for (std::size_t i = 1; i < waiting_.size(); ++i)
        parts_.push_back({0, 0, 0, pieces_.count()});
    waiting_.clear();
}

std::span<const Label> Components::edges(Elements part) const {
    const auto first = parts_[index_of(part)].first_piece;
    const auto end = part + 1 < std::ssize(parts_) ? parts_[index_of(part + 1)].first_piece
                                                   : std::ssize(piece_label_);
    return std::span(piece_label_).subspan(index_of(first), index_of(end - first));
}

void Components::make_sets() {
    sets_.resize(pieces_.number());
    std::vector<Body> bodies(options_.bodies ? sets_.size() : 0);
    std::vector<bool> seen(sets_.size(), false);
    for (Elements part = 0; part < std::ssize(parts_); ++part) {
        const Elements first = parts_[index_of(part)].first_piece;
        for (Elements piece = first; piece < first + std::ssize(edges(part)); ++piece) {
            const std::size_t set = pieces_[piece] - 1;
            if (!seen[set]) {
                sets_[set].part = part;
                sets_[set].label = piece_label_[index_of(piece)];
                sets_[set].before = piece_before_[index_of(piece)];
                seen[set] = true;
            }
            if (options_.extents)
                sets_[set].extent.add(piece_extent_[index_of(piece)]);
            if (options_.bodies)
                bodies[set].add(bodies_[index_of(piece)]);
        }
    }
    piece_before_ = {};
    piece_extent_ = {};
    bodies_ = std::move(bodies);
}

std::optional<PlaneBefore> plane_before(const Communicator& communicator, bool has_planes,
                                        const std::optional<PlaneRuns>& last, Bytes& sent) {
    const std::vector<int> have = communicator.all_gather(has_planes ? 1 : 0);
    const auto next = std::find(have.begin() + communicator.rank() + 1, have.end(), 1);
    std::vector<std::vector<std::byte>> to(have.size());
    if (last && next != have.end()) {
        Packer packer;
        packer.add(*last);
        to[index_of(next - have.begin())] = packer.bytes();
        sent += std::ssize(packer.bytes());
    }
    const ByRank<std::byte> came = all_to_all_lists(communicator, to);
    std::optional<PlaneBefore> before;
    agree(communicator, [&] {
        if (came.values.empty())
            return;
        Unpacker unpacker(came.values);
        before = PlaneBefore{
            std::ranges::find_if(came.counts, [](Elements count) { return count > 0; }) -
                came.counts.begin(),
            unpacker.take<PlaneRuns>()};
    });
    return before;
}

/// Joins the sets of successive ranks. Each rank sends its last plane to the next rank that has
/// planes, which finds the pairs of sets that touch. Every rank then computes all groups from all
/// pairs.
void Components::join_ranks() {
    struct Pair {
        Elements front, back; // set numbers, counted across all ranks
    };
    const int ranks = communicator_.size(), rank = communicator_.rank();
    const std::vector<Elements> counts = communicator_.all_gather(std::ssize(sets_));
    std::vector<Elements> before(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), before.begin() + 1);
    const Elements own = before[index_of(rank)];
    const auto relabel = [&](PlaneRuns& plane) {
        for (Label& label : plane.labels)
            label = pieces_[label - 1];
    };
    if (last_plane_)
        relabel(*last_plane_);
    const std::optional<PlaneBefore> front =
        plane_before(communicator_, !parts_.empty(), last_plane_, sent_);
    std::vector<Pair> pairs;
    agree(communicator_, [&] {
        if (!front || !first_plane_)
            return;
        relabel(*first_plane_);
        const kernel::Connection connection = slabs_.options().connection;
        for (const TouchingLabels& pair :
             kernel::touching(front->plane, *first_plane_, connection, slabs_.type()))
            pairs.push_back({before[index_of(front->rank)] + pair.front - 1, own + pair.back - 1});
        if (options_.bodies)
            kernel::each_contact(front->plane, *first_plane_, connection.sameness, slabs_.type(),
                                 [&](const kernel::RunContacts& run) {
                                     bodies_[run.label - 1].contacts += run.voxels;
                                 });
    });
    const ByRank<Pair> all_pairs = all_gather_by_rank(communicator_, pairs);
    sent_ += static_cast<Bytes>(pairs.size() * sizeof(Pair)) * (ranks - 1);

    struct Share {
        Elements group;
        Extent extent;
    };
    std::vector<Share> shares;
    struct Measured {
        Elements set; // on the leading rank
        Body body;
    };
    std::vector<std::vector<Measured>> measured(index_of(ranks));
    agree(communicator_, [&] {
        std::vector<Elements> joined; // the sets that are in groups
        for (const Pair& pair : all_pairs.values) {
            joined.push_back(pair.front);
            joined.push_back(pair.back);
        }
        std::ranges::sort(joined);
        joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
        const auto position = [&](Elements set) {
            return std::ranges::lower_bound(joined, set) - joined.begin();
        };
        JoinedParts groups("ranks");
        groups.add(std::ssize(joined));
        for (const Pair& pair : all_pairs.values)
            groups.join(position(pair.front), position(pair.back));
        std::vector<Elements> leaders(groups.number(), -1); // [group]
        for (Elements i = 0; i < std::ssize(joined); ++i) {
            Elements& leader = leaders[groups[i] - 1];
            leader = leader < 0 ? joined[index_of(i)] : leader;
        }
        const auto rank_of = [&](Elements set) {
            return std::ranges::upper_bound(before, set) - before.begin() - 1;
        };
        groups_ = std::ssize(leaders);
        for (Elements i = position(own);
             i < std::ssize(joined) && joined[index_of(i)] < own + std::ssize(sets_); ++i) {
            const Elements set = joined[index_of(i)] - own, group = groups[i] - 1;
            const Elements leader = leaders[index_of(group)];
            grouped_.push_back(set);
            sets_[index_of(set)].group = group;
            sets_[index_of(set)].leads = leader == joined[index_of(i)];
            shares.push_back({group, sets_[index_of(set)].extent});
            if (options_.bodies && !sets_[index_of(set)].leads)
                measured[index_of(rank_of(leader))].push_back(
                    {leader - before[index_of(rank_of(leader))], bodies_[index_of(set)]});
        }
    });
    if (options_.extents) {
        const ByRank<Share> all_shares = all_gather_by_rank(communicator_, shares);
        sent_ += static_cast<Bytes>(shares.size() * sizeof(Share)) * (ranks - 1);
        std::vector<Extent> extents(index_of(groups_));
        for (const Share& share : all_shares.values)
            extents[index_of(share.group)].add(share.extent);
        for (const Elements set : grouped_)
            sets_[index_of(set)].extent = extents[index_of(sets_[index_of(set)].group)];
    }
    if (options_.bodies) {
        for (const std::vector<Measured>& list : measured)
            sent_ += static_cast<Bytes>(list.size() * sizeof(Measured));
        for (const Measured& more : all_to_all_lists(communicator_, measured).values)
            bodies_[index_of(more.set)].add(more.body);
    }
}

void Components::find(const RunControl& control) {
    const std::vector<Elements> slabs_of = communicator_.all_gather(slabs_.slabs());
    const Elements most = *std::ranges::max_element(slabs_of);
    for (Elements slab = 0; slab < most; ++slab) {
        if (communicator_.rank() == 0)
            control.report("label", slab, most);
        agree(communicator_, [&] {
            control.check();
            if (slab >= slabs_.slabs())
                return;
            if (const auto record = checkpoint_.next_slab()) {
                FoundSlab found = Unpacker(*record).take<FoundSlab>();
                for (std::size_t i = 0; i < found.parts.size(); ++i)
                    offer(this->found() + static_cast<Elements>(i), found.parts[i]);
                ++resumed_;
                keep(std::move(found), true);
            } else {
                FoundSlab found = label(slab);
                if (slab == resumed_) {
                    const auto times =
                        static_cast<double>(2 * slabs_.slabs() - resumed_ - slabs_.expected_kept());
                    predicted_reading_ = times * reading_;
                    predicted_labelling_ = times * labelling_;
                }
                Packer packer;
                if (checkpoint_.has_file())
                    packer.add(found);
                keep(std::move(found), false); // may add bodies, which belong to this record
                checkpoint_.add_slab(packer.bytes());
            }
        });
    }
    const std::vector<Elements> all_nan = communicator_.all_gather(nan_);
    nan_ = std::accumulate(all_nan.begin(), all_nan.end(), Elements{0});
    timed(labelling_, [&] {
        agree(communicator_, [&] {
            settle({}, true, false);
            make_sets();
        });
        if (communicator_.size() > 1)
            join_ranks();
    });
    first_plane_.reset();
    last_plane_.reset();
}

void Components::share(std::vector<Number>& numbers) {
    if (communicator_.size() == 1)
        return;
    struct Share {
        Elements group;
        Number number;
    };
    std::vector<Share> shares;
    for (const Elements set : grouped_) {
        if (sets_[index_of(set)].leads)
            shares.push_back({sets_[index_of(set)].group, numbers[index_of(set)]});
    }
    const ByRank<Share> all = all_gather_by_rank(communicator_, shares);
    sent_ += static_cast<Bytes>(shares.size() * sizeof(Share)) * (communicator_.size() - 1);
    std::vector<Number> of_group(index_of(groups_), 0);
    for (const Share& share : all.values)
        of_group[index_of(share.group)] = share.number;
    for (const Elements set : grouped_)
        numbers[index_of(set)] = of_group[index_of(sets_[index_of(set)].group)];
}

} // namespace sextant::label
