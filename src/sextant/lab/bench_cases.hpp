// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/core/record.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sextant::lab {

/// Calls `take` with each entry of the list "cases" of a JSON file. Throws InvalidFile; an
/// InvalidTask thrown by `take` becomes an InvalidFile that names the file and the case.
void for_each_case(const std::string& path, const std::function<void(const JsonField&)>& take);

/// Reads the cases of a benchmark. Reads the declared fields of each case, then calls `complete`,
/// which checks the case and throws InvalidTask if it is invalid. Throws InvalidFile, naming the
/// case, the field, its value and the expected values.
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

/// Declares "width" and "height".
void declare_shape(Record& record, ImageShape& shape);

/// A compositing task to measure; docs/bench.md describes its fields.
struct CompositeCase {
    std::string name;
    ImageShape shape{1024, 1024};
    std::string blend = "over", element = "f32";
    std::string image = "dense"; ///< one of image_patterns()
    bool collect = false;        ///< collect the image on rank 0; otherwise leave it distributed
    bool sparse = false;         ///< also measure sparse messages
    bool interlaced = false;     ///< also measure interlaced rows with sparse messages
    bool all_tunings = false;    ///< measure every tuning of each algorithm, not only the default
    bool all_transports = false; ///< if ranks are processes, also measure shared memory
    std::vector<std::string> algorithms; ///< empty: all
    std::string reference; ///< denominator of the ratios; if missing, the first contestant
};

Record record_of(CompositeCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<CompositeCase> read_composite_cases(const std::string& path);

/// The names of the test images.
std::vector<std::string_view> image_patterns();

/// Fills the image of `rank` with a named pattern of translucent pixels. Any rank can compute the
/// image of any other rank. `dense`: all pixels are active. `ellipse`: the pixels of an ellipse
/// that covers ranks^(-2/3) of the image, at a position that depends on the rank. `upper half`,
/// `lower half`: the pixels of that half. `checkerboard`: alternate squares of 32 x 32 pixels; odd
/// ranks have the squares that even ranks lack. `fine checkerboard`: the same with single pixels.
void fill_image(Image& image, std::string_view pattern, int rank, int ranks);

/// The composited image of a case, computed serially by one process: the reference for all
/// contestants.
class SerialPicture {
  public:
    /// The arguments must outlive this object.
    SerialPicture(const CompositeCase& what, const Operator& op, int ranks);

    /// Throws std::logic_error, naming `who` and the case, unless `shown` equals the reference
    /// image at the indices `pixels`, up to rounding.
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
