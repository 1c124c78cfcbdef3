// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/stitching.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/label/stitch_counts.hpp"
#include "sextant/tiles/list_exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::label {

using kernel::BlockPair;
using kernel::LabelMatch;
using kernel::MatchOutcome;
using kernel::PairCount;
using kernel::VolumeBox;
using kernel::VoxelRun;

namespace {

/// Runs the stitching on one rank. Each rank counts labels and label pairs in its part of the
/// volume, in slabs of planes, or in strips of rows if a plane does not fit in memory. Rank 0 joins
/// the labels of all ranks. Then the ranks compute successive strips in parallel, and rank 0 writes
/// them.
class StitchRun {
  public:
    StitchRun(const Communicator& communicator, const StitchOptions& options,
              const RunControl& control, LabelBlocks& blocks)
        : communicator_(communicator), options_(options), control_(control), blocks_(blocks) {}

    /// Collective.
    StitchResult run(double threshold, const StitchSink& write);

  private:
    /// A label of a block, and the number of its object.
    struct Numbered {
        int block;
        std::uint64_t label;
        ObjectNumber number;
    };

    void require_same_blocks();
    kernel::VolumeBox own_part() const;
    void count_all();
    void join(double threshold);
    std::vector<kernel::LabelMatch> find_matches(std::vector<MeetingLabels> meeting) const;
    void number(std::vector<SeenLabel> seen, std::vector<MeetingLabels> meeting, double threshold);

    void write_all(const StitchSink& write);
    void fill(const kernel::VolumeBox& strip, std::vector<ObjectNumber>& to);
    ObjectNumber number_of(int block, std::uint64_t label) const;
    void require_unchanged();

    const Communicator& communicator_;
    const StitchOptions& options_;
    const RunControl& control_;
    LabelBlocks& blocks_;
    std::optional<StitchCounts> counts_;
    std::vector<Numbered> numbers_;   // sorted by block and label
    std::vector<std::size_t> begins_; // [block]: its first index in numbers_
    std::vector<Elements> kept_;      // [block]: number of labelled voxels written
    std::vector<kernel::VoxelRun> runs_;
    StitchResult result_;
};

StitchResult StitchRun::run(double threshold, const StitchSink& write) {
    require_same_blocks();
    count_all();
    timed(result_.match, [&] { join(threshold); });
    write_all(write);
    require_unchanged();
    return std::move(result_);
}

void StitchRun::require_same_blocks() {
    std::uint64_t sum = 1469598103934665603U; // FNV-1a
    const auto add = [&](Elements number) {
        sum = (sum ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
    };
    for (const VolumeBox& block : blocks_.cover().blocks()) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            add(block.low[axis]);
            add(block.high[axis]);
        }
    }
    const std::vector<std::uint64_t> sums = communicator_.all_gather(sum);
    const auto other =
        std::ranges::find_if(sums, [&](std::uint64_t each) { return each != sums[0]; });
    if (other != sums.end())
        throw AgreedFailure(
            fmt::format("rank {} has different blocks from rank 0", other - sums.begin()),
            AgreedFailure::Fault::task);
    result_.shape = blocks_.shape();
    result_.blocks = std::ssize(blocks_.cover().blocks());
    result_.block_pairs = std::ssize(blocks_.cover().pairs());
}

/// The planes of this rank; or, if there are fewer planes than ranks, its rows of every plane.
VolumeBox StitchRun::own_part() const {
    const Elements ranks = communicator_.size(), rank = communicator_.rank();
    VolumeBox part{{0, 0, 0}, {result_.shape.depth, result_.shape.height, result_.shape.width}};
    const std::size_t axis = part.high[0] >= ranks ? 0 : 1;
    const Elements side = part.high[axis];
    part.low[axis] = side * rank / ranks;
    part.high[axis] = side * (rank + 1) / ranks;
    return part;
}

/// Counts the labels and label pairs in this rank's part.
void StitchRun::count_all() {
    std::optional<SlabCutter> slabs;
    std::optional<VolumeBox> slab;
    const VolumeBox part = own_part();
    bool some_are_left = true;
    while (some_are_left) {
        if (communicator_.rank() == 0)
            control_.report("read", slab ? slab->low[0] - part.low[0] : 0, part.side(0));
        agree(communicator_, [&] {
            control_.check();
            if (!counts_) {
                counts_.emplace(blocks_, control_);
                slabs.emplace(
                    part, [&](const VolumeBox& box) { return counts_->bytes_of(box); },
                    options_.memory / communicator_.size());
            }
            slab = slabs->next();
            if (!slab)
                return;
            timed(result_.read, [&] { counts_->load(*slab); });
            timed(result_.match, [&] { counts_->count(); });
        });
        const std::vector<int> have = communicator_.all_gather(slab ? 1 : 0);
        some_are_left = std::ranges::find(have, 1) != have.end();
    }
}

/// Joins the labels of all blocks on rank 0, and passes the numbers of objects to all ranks.
void StitchRun::join(double threshold) {
    std::vector<SeenLabel> seen;
    std::vector<MeetingLabels> meeting;
    agree(communicator_, [&] {
        meeting = counts_->meeting();
        seen = counts_->take_labels();
        counts_.reset();
    });
    seen = gather_lists(communicator_, std::move(seen)).values;
    meeting = gather_lists(communicator_, std::move(meeting)).values;
    agree(communicator_, [&] {
        if (communicator_.rank() == 0)
            number(std::move(seen), std::move(meeting), threshold);
    });
    numbers_ = all_gather_by_rank(communicator_, numbers_).values; // only rank 0 has any
    struct Totals {
        Elements labels, objects, joined, conflicts, below, dropped, clipped;
    };
    const Totals totals = communicator_.all_gather(
        Totals{result_.labels, result_.objects, result_.joined, result_.conflicts, result_.below,
               result_.dropped, result_.clipped})[0];
    result_.labels = totals.labels;
    result_.objects = totals.objects;
    result_.joined = totals.joined;
    result_.conflicts = totals.conflicts;
    result_.below = totals.below;
    result_.dropped = totals.dropped;
    result_.clipped = totals.clipped;
    begins_.assign(index_of(result_.blocks + 1), 0);
    for (const Numbered& label : numbers_)
        ++begins_[index_of(label.block) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
}

std::vector<LabelMatch> StitchRun::find_matches(std::vector<MeetingLabels> meeting) const {
    std::ranges::sort(meeting, {}, [](const MeetingLabels& each) {
        return std::tuple(each.pair, each.count.a, each.count.b);
    });
    std::vector<LabelMatch> matches;
    std::vector<PairCount> counts;
    for (auto next = meeting.begin(); next != meeting.end();) {
        const int pair = next->pair;
        counts.clear();
        for (; next != meeting.end() && next->pair == pair; ++next) {
            check_cancelled(1);
            if (!counts.empty() && counts.back().a == next->count.a &&
                counts.back().b == next->count.b)
                counts.back().voxels += next->count.voxels;
            else
                counts.push_back(next->count);
        }
        const BlockPair& blocks = blocks_.cover().pairs()[index_of(pair)];
        const std::vector<LabelMatch> some = kernel::matches_of(counts, blocks.a, blocks.b);
        matches.insert(matches.end(), some.begin(), some.end());
    }
    return matches;
}

/// Joins and numbers the labels that the ranks have counted.
void StitchRun::number(std::vector<SeenLabel> seen, std::vector<MeetingLabels> meeting,
                       double threshold) {
    const auto name_of = [](const SeenLabel& each) { return std::tuple(each.block, each.label); };
    std::ranges::sort(seen, {}, name_of);
    std::vector<SeenLabel> labels;
    for (const SeenLabel& each : seen) {
        check_cancelled(1);
        if (labels.empty() || name_of(labels.back()) != name_of(each)) {
            labels.push_back(each);
            continue;
        }
        SeenLabel& sum = labels.back();
        sum.voxels += each.voxels;
        sum.kept += each.kept;
        if (sum.first < 0 || (each.first >= 0 && each.first < sum.first))
            sum.first = each.first;
    }
    seen = {};
    // Sort by first voxel; labels that own no voxels come last.
    std::vector<std::uint32_t> order(labels.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
        return static_cast<std::uint64_t>(labels[i].first); // -1 is the largest
    });
    std::vector<std::uint32_t> position(labels.size());
    std::vector<int> block_of;
    for (std::size_t i = 0; i < order.size(); ++i) {
        check_cancelled(1);
        position[order[i]] = static_cast<std::uint32_t>(i);
        block_of.push_back(labels[order[i]].block);
    }
    kernel::ObjectJoins objects(block_of);
    result_.matches = find_matches(std::move(meeting));
    objects.join(result_.matches, options_.by, threshold, [&](int block, std::uint64_t label) {
        check_cancelled(1);
        const auto found = std::ranges::lower_bound(labels, std::tuple(block, label), {}, name_of);
        return Elements{position[static_cast<std::size_t>(found - labels.begin())]};
    });
    const kernel::Label all = objects.number();
    std::vector<Elements> members(index_of(all) + 1, 0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        check_cancelled(1);
        const kernel::Label object = objects[position[i]];
        ++members[index_of(object)];
        if (labels[i].first >= 0)
            result_.objects = std::max<Elements>(result_.objects, object);
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
        check_cancelled(1);
        const SeenLabel& label = labels[i];
        const kernel::Label object = objects[position[i]];
        const ObjectNumber number =
            object <= result_.objects ? static_cast<ObjectNumber>(object) : ObjectNumber{0};
        result_.dropped += number == 0 ? 1 : 0;
        result_.clipped +=
            number > 0 && label.kept < label.voxels && members[index_of(object)] == 1 ? 1 : 0;
        numbers_.push_back({label.block, label.label, number});
        result_.table.push_back({number, label.block, label.label, label.voxels, label.kept});
    }
    std::ranges::stable_sort(result_.table, {}, &StitchedLabel::number);
    result_.labels = std::ssize(labels);
    for (const LabelMatch& match : result_.matches) {
        Elements& sum = match.outcome == MatchOutcome::joined     ? result_.joined
                        : match.outcome == MatchOutcome::conflict ? result_.conflicts
                                                                  : result_.below;
        ++sum;
    }
}

ObjectNumber StitchRun::number_of(int block, std::uint64_t label) const {
    const std::span<const Numbered> labels(numbers_.data() + begins_[index_of(block)],
                                           numbers_.data() + begins_[index_of(block) + 1]);
    // Labels are usually 1, 2, 3, …, so a direct lookup usually succeeds.
    if (!labels.empty() && label >= labels[0].label && label - labels[0].label < labels.size() &&
        labels[label - labels[0].label].label == label)
        return labels[label - labels[0].label].number;
    const auto found = std::ranges::lower_bound(labels, label, {}, &Numbered::label);
    if (found == labels.end() || found->label != label)
        throw InvalidFile(
            blocks_.name(block),
            fmt::format("has changed while it was read: it had no label {} before", label));
    return found->number;
}

/// Computes the labels of a strip of the stitched volume.
void StitchRun::fill(const VolumeBox& strip, std::vector<ObjectNumber>& to) {
    to.clear();
    to.reserve(index_of(strip.voxels()));
    while (to.size() < index_of(strip.voxels())) { // in steps: first access to memory is slow
        const std::size_t more =
            std::min(index_of(strip.voxels()) - to.size(), index_of(much_work));
        to.resize(to.size() + more, 0);
        check_cancelled(static_cast<Elements>(more));
    }
    blocks_.read(strip, [&](int block, Elements z, Elements y, std::span<const std::uint64_t> row) {
        if (y % rows_between_checks == 0)
            control_.check();
        const Elements left = blocks_.cover().blocks()[index_of(block)].low[2];
        ObjectNumber* const line =
            to.data() + ((z - strip.low[0]) * strip.side(1) + y - strip.low[1]) * strip.side(2);
        blocks_.cover().owned(block, z, y, runs_);
        for (const VoxelRun& run : runs_)
            each_equal_run(row.data(), run.begin - left, run.end - left,
                           [&](Elements begin, Elements end, std::uint64_t label) {
                               if (label == 0)
                                   return;
                               kept_[index_of(block)] += end - begin;
                               std::fill(line + left + begin, line + left + end,
                                         number_of(block, label));
                           });
    });
}

/// Ranks compute successive strips in parallel; rank 0 passes them to `write`.
void StitchRun::write_all(const StitchSink& write) {
    const Elements ranks = communicator_.size();
    kept_.assign(index_of(result_.blocks), 0);
    // The exchange makes two more copies of each rank's strip.
    const Bytes voxel = static_cast<Bytes>(sizeof(ObjectNumber)) * (ranks > 1 ? 3 : 1);
    SlabCutter all(
        {{}, {result_.shape.depth, result_.shape.height, result_.shape.width}},
        [voxel](const VolumeBox& strip) { return strip.voxels() * voxel; },
        options_.memory / ranks);
    std::vector<std::vector<ObjectNumber>> lists(index_of(ranks));
    while (true) {
        std::vector<VolumeBox> strips; // the next strip of each rank
        agree(communicator_, [&] {
            control_.check();
            while (std::ssize(strips) < ranks) {
                const std::optional<VolumeBox> strip = all.next();
                if (!strip)
                    break;
                strips.push_back(*strip);
            }
            const std::size_t own = index_of(communicator_.rank());
            lists[0].clear();
            if (own < strips.size())
                timed(result_.read, [&] { fill(strips[own], lists[0]); });
        });
        if (strips.empty())
            return;
        ByRank<ObjectNumber> came;
        if (ranks > 1)
            came = all_to_all_lists(communicator_, lists);
        agree(communicator_, [&] {
            if (communicator_.rank() != 0)
                return;
            control_.report("write", strips[0].low[0], result_.shape.depth);
            std::span<const ObjectNumber> rest = ranks > 1 ? came.values : lists[0];
            for (const VolumeBox& strip : strips) {
                const std::size_t plane = index_of(strip.side(1) * strip.side(2));
                for (Elements z = 0; z < strip.side(0); ++z, rest = rest.subspan(plane)) {
                    check_cancelled(static_cast<Elements>(plane));
                    timed(result_.write, [&] { write(rest.first(plane)); });
                }
            }
        });
    }
}

/// Checks that both passes found the same number of labelled voxels in each block.
void StitchRun::require_unchanged() {
    const ByRank<Elements> all = gather_lists(communicator_, kept_);
    agree(communicator_, [&] {
        if (communicator_.rank() != 0)
            return;
        std::vector<Elements> now(kept_.size(), 0), before(kept_.size(), 0);
        for (std::size_t i = 0; i < all.values.size(); ++i)
            now[i % now.size()] += all.values[i];
        for (const StitchedLabel& label : result_.table)
            before[index_of(label.block)] += label.kept;
        const auto other = std::ranges::mismatch(now, before).in1;
        if (other != now.end())
            throw InvalidFile(blocks_.name(static_cast<int>(other - now.begin())),
                              "has changed while it was read");
    });
}

} // namespace

} // namespace sextant::label

namespace sextant {

Record record_of(StitchOptions& options) {
    constexpr double most_side = 2147483647;
    Record record;
    record
        .add("block", options.block, "D,H,W",
             "size of blocks to cut each volume into; 0: do not cut along this axis")
        .between(0, most_side);
    record
        .add("size", options.size, "D,H,W",
             "size of the stitched volume; default: extent of the blocks")
        .between(1, most_side);
    record.add("allow_gaps", options.allow_gaps,
               "treat voxels in no block as background, not as an error");
    record.add("by", options.by,
               {{"iou", kernel::MatchScore::iou}, {"voxels", kernel::MatchScore::voxels}}, "SCORE",
               "match score: intersection over union, shared voxels");
    record
        .add("threshold", options.threshold, "X",
             "minimum score for joining labels; default: 0.5 (iou) or 1 (voxels)")
        .between(0, 1e15);
    record.add_memory("memory", options.memory, "memory limit for samples and labels");
    return record;
}

Record record_of(const StitchResult& result) {
    return {{"depth", result.shape.depth},
            {"height", result.shape.height},
            {"width", result.shape.width},
            {"blocks", result.blocks},
            {"block_pairs", result.block_pairs},
            {"labels", result.labels},
            {"objects", result.objects},
            {"joined", result.joined},
            {"conflicts", result.conflicts},
            {"below", result.below},
            {"dropped", result.dropped},
            {"clipped", result.clipped},
            {"seconds", {{"read", result.read}, {"match", result.match}, {"write", result.write}}}};
}

Stitching::Stitching(Communicator communicator, StitchOptions options, RunControl control)
    : communicator_(scope_later(communicator, "Stitching")),
      options_(std::move(options)),
      control_(std::move(control)) {}

void Stitching::fail(const std::string& text) const {
    sextant::fail(communicator_, text);
}

label::LabelBlocks Stitching::open(std::vector<LabelBlock> blocks) const {
    return {std::move(blocks), options_.block, options_.size, options_.allow_gaps};
}

StitchResult Stitching::stitch(label::LabelBlocks& blocks, const StitchSink& write) const {
    StitchOptions options = options_;
    require_same(communicator_, options);
    const bool by_iou = options.by == kernel::MatchScore::iou;
    const double threshold = options.threshold.value_or(by_iou ? .5 : 1);
    agree(communicator_, [&] {
        if (by_iou && !(threshold > 0 && threshold <= 1))
            throw InvalidTask(fmt::format(
                "threshold: an IoU of {}, expected more than 0 and at most 1", threshold));
        if (!by_iou && !(threshold >= 1))
            throw InvalidTask(
                fmt::format("threshold: {} shared voxels, expected 1 or more", threshold));
    });
    return label::StitchRun(communicator_, options, control_, blocks).run(threshold, write);
}

} // namespace sextant
