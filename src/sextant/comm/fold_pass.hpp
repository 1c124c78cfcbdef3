// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/comm/patches.hpp"
#include "sextant/comm/places.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sextant {

/// One pass of a fold over what it combines at a time: listed first, then read where each lies, as
/// it is or in a code, slice by slice.
class FoldPass {
  public:
    /// Of up to `most_operands`. `progress` is called between slices. Keep what it is given alive.
    FoldPass(const Program& program, const Operator& op, const Places& places,
             const ExecuteOptions& options, std::size_t most_operands,
             std::function<void()> progress);

    /// What is to be combined, in order, in place of what was listed before.
    void clear() { items_.clear(); }
    /// An index into Program::regions.
    void add_operand(std::uint32_t region);
    /// What lies in one piece; null: where `region` lies.
    void add(const std::byte* in_one_piece, const Region& region) {
        items_.push_back({.data = in_one_piece, .region = &region});
    }

    /// Combines all that was listed: in one piece where told, else in `to`. Throws what the
    /// operator throws.
    void run(const Region& to, std::byte* in_one_piece);

  private:
    /// In a code from `first` on; else contiguous from `data`, of the kind that `region` has; else
    /// where `region` lies.
    struct Item {
        const std::byte* data = nullptr;
        const Region* region = nullptr;
        std::optional<kernel::SparseCursor> code = {};
        Elements first = 0;
    };

    kernel::Stretch stretch(Item& item, Elements element) const;
    Elements look(Elements element, Elements count);
    void gather(Elements count);

    const Program& program_;
    const Operator& operator_;
    const Places& places_;
    const Bytes slice_; // between two calls of `progress`
    const std::function<void()> progress_;
    Patches patches_; // where operands may be codes
    std::vector<Item> items_;
    std::vector<kernel::Stretch> stretches_; // of the slice at hand, by item
    std::vector<const std::byte*> sources_;  // of the slice at hand
};

} // namespace sextant
