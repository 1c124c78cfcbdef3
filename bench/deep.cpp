// SPDX-License-Identifier: BSD-3-Clause
// The time to merge and blend deep pixels, compared with sorting each pixel's fragments.
//
//   bench_deep [CASES.json [ROUNDS]]
//
// Method: both get the same deep images of interleaved shells; their results are compared bitwise.
// Ours includes packing the images into pixels of fixed capacity, as a rank does before it sends
// them, and merges all images in one pass, as Direct-Send does on one rank. The sort is the
// readable reference, which allocates one list per pixel. Both run on one thread and are measured
// by its CPU time. In each round both run once, which gives one ratio; medians with bootstrap
// intervals are reported, never minima.
#include "sextant/kernel/fold/deep.hpp"

#include "sextant/core/memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "bench/duel.hpp"
#include "examples/shells/deep_scenes.hpp"
#include <nlohmann/json.hpp>

namespace {

using namespace sextant;

struct Case {
    int images = 2, shells = 12, size = 512;
};

/// Packs, merges and blends the images; reuses its memory in each round.
class Merging {
  public:
    Merging(const std::vector<DeepImage>& images, int capacity)
        : images_(images), capacity_(capacity), op_(kernel::deep_operator(capacity)) {
        const Elements elements = images[0].shape.elements();
        for (std::size_t i = 0; i < images.size(); ++i) {
            packed_.emplace_back(elements * op_.element.size);
            sources_.push_back(packed_.back().data());
        }
        merged_ = Memory(elements * op_.element.size);
        picture_.resize(static_cast<std::size_t>(elements));
    }

    void pack() {
        for (std::size_t i = 0; i < images_.size(); ++i)
            kernel::pack(images_[i], capacity_, packed_[i].bytes());
    }
    void merge() {
        op_.fold(sources_, merged_.data(), images_[0].shape.elements());
        kernel::blend_fragments(merged_.bytes(), capacity_, picture_);
    }
    const std::vector<RgbaF32>& picture() const { return picture_; }

  private:
    const std::vector<DeepImage>& images_;
    const int capacity_;
    const Operator op_;
    std::vector<Memory> packed_;
    std::vector<const std::byte*> sources_;
    Memory merged_;
    std::vector<RgbaF32> picture_;
};

int most_of(const std::vector<DeepImage>& images) {
    std::size_t most = 1;
    for (Elements pixel = 0; pixel < images[0].shape.elements(); ++pixel) {
        std::size_t sum = 0;
        for (const DeepImage& image : images)
            sum += image.at(pixel).size();
        most = std::max(most, sum);
    }
    return static_cast<int>(most);
}

bool measure(const Case& one, int rounds) {
    const kernel::Shells scene{{one.size, one.size}, one.shells};
    std::vector<DeepImage> images;
    for (int i = 0; i < one.images; ++i)
        images.push_back(kernel::draw_shells(scene, i, one.images));
    const int most = most_of(images);
    Merging merging(images, most);
    std::vector<RgbaF32> sorted;
    const auto sort = [&] { sorted = kernel::blend_sorted(images); };
    merging.pack();
    const auto whole = bench::duel(
        rounds,
        [&] {
            merging.pack();
            merging.merge();
        },
        sort);
    const auto merge = bench::duel(
        rounds, [&] { merging.merge(); }, sort);
    const bool same = merging.picture() == sorted;
    fmt::print("{:>6} {:>6} {:>5} {:>9}  {:>22} {:>22} {:>20} {:>20}{}\n", one.images, one.shells,
               one.size, most, bench::with_interval(whole.ours), bench::with_interval(whole.theirs),
               bench::with_interval(whole.ratios), bench::with_interval(merge.ratios),
               same ? "" : "  RESULTS DIFFER");
    return same;
}

} // namespace

int main(int argc, char** argv) {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/deep.json");
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 15;
    fmt::print("{:>6} {:>6} {:>5} {:>9}  {:>22} {:>22} {:>20} {:>20}\n", "images", "shells", "size",
               "fragments", "pack and merge, ms", "sort, ms", "ratio", "merge alone, ratio");
    bool same = true;
    const nlohmann::json cases = nlohmann::json::parse(file);
    for (const auto& row : cases.at("cases"))
        same = measure({row.at("images"), row.at("shells"), row.at("size")}, rounds) && same;
    return same ? 0 : 1;
}
