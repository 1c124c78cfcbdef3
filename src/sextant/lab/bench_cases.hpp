// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/json_field.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/record.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sextant::lab {

/// Passes each entry of the list "cases" of a JSON file to `take`. Throws InvalidFile, also if
/// `take` throws InvalidTask: the message names the file and the case.
void for_each_case(const std::string& path, const std::function<void(const JsonField&)>& take);

/// Reads the cases of a benchmark: their declared fields, then `complete`, which throws InvalidTask
/// for a case that cannot be. Throws InvalidFile, naming the case, the field, the value and what
/// was expected.
template <class Case>
std::vector<Case> read_cases(const std::string& path, const std::function<void(Case&)>& complete) {
    std::vector<Case> cases;
    for_each_case(path, [&](const JsonField& json) {
        Case& what = cases.emplace_back();
        read(record_of(what), json);
        complete(what);
    });
    return cases;
}

/// Adds "width" and "height".
void declare_shape(Record& record, ImageShape& shape);

/// One composite to time; docs/bench.md describes its fields.
struct CompositeCase {
    std::string name;
    ImageShape shape{1024, 1024};
    std::string blend = "over", element = "f32";
    std::string image = "dense";         ///< a name of image_patterns()
    bool collect = false;                ///< collected at rank 0, not left distributed
    bool sparse = false;                 ///< also with sparse messages
    bool interlaced = false;             ///< sparse ones also interlaced
    bool all_tunings = false;            ///< each algorithm with every tuning, not only its default
    bool all_transports = false;         ///< over processes: also in shared memory
    std::vector<std::string> algorithms; ///< empty: all
    std::string reference; ///< the ratios' denominator; if empty or missing: the first
};

Record record_of(CompositeCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<CompositeCase> read_composite_cases(const std::string& path);

/// The names of test images.
std::vector<std::string_view> image_patterns();

/// Fills a rank's image; all ranks can compute it. `dense`: every pixel half transparent.
/// `ellipse`: the same within an ellipse that covers ranks^(-2/3) of the screen, at a position that
/// depends on the rank; empty elsewhere. `upper half`, `lower half`: dense there. `checkerboard`:
/// squares of 32 pixels, offset by the rank; `fine checkerboard`: squares of one pixel.
void fill_image(Image& image, std::string_view pattern, int rank, int ranks);

/// The composited image of a case as one process folds it, image after image; the reference for all
/// contestants.
class SerialPicture {
  public:
    /// The arguments must outlive this.
    SerialPicture(const CompositeCase& what, const Operator& op, int ranks);

    /// Throws std::logic_error, naming `who` and the case, unless `shown` equals these pixels
    /// within the tolerance for other bracketing.
    void check(const std::string& who, std::span<const Elements> pixels,
               std::span<const std::byte> shown) const;

  private:
    std::vector<float> as_floats(std::span<const std::byte> pixels) const;
    float tolerance() const;

    const CompositeCase& what_;
    const Operator& operator_;
    const int ranks_;
    const std::vector<float> channels_;
};

} // namespace sextant::lab
