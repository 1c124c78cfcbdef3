// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/sparse_code.hpp"

#include <cstring>

#include "tests/kernel/processors.hpp"
#include "tests/support/sparse_layers.hpp"
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::SparseCode;
using kernel::SparseEncoder;

constexpr Elements lengths[] = {1, 15, 16, 17, 1024, 1025, 5000, 20011};

/// The output of an encoder, and the bytes written beyond its capacity.
struct Written {
    std::vector<std::byte> bytes;
    bool coded = false, beyond = false;
};

template <class Pixel>
Written written(SparseEncoder& encoder, const std::vector<Pixel>& pixels, Elements cut) {
    constexpr std::byte guard{0xa5};
    const auto elements = static_cast<Elements>(pixels.size());
    const auto* data = reinterpret_cast<const std::byte*>(pixels.data());
    const auto dense = pixels.size() * sizeof(Pixel);
    Written made{std::vector<std::byte>(dense + 64, guard)};
    const SparseEncoder::Piece pieces[] = {
        {data, cut}, {data + cut * static_cast<Bytes>(sizeof(Pixel)), elements - cut}};
    const Bytes bytes = encoder.encode(pieces, made.bytes.data());
    made.coded = bytes < static_cast<Bytes>(dense);
    made.beyond = std::any_of(made.bytes.begin() + static_cast<std::ptrdiff_t>(dense),
                              made.bytes.end(), [](std::byte byte) { return byte != guard; });
    made.bytes.resize(std::min(static_cast<std::size_t>(bytes), made.bytes.size()));
    return made;
}

template <class Kind>
class Sparse : public testing::Test {
  public:
    using Element = typename Kind::Pixel;
    const Operator& op = operator_of<Kind>();
    const std::vector<std::byte> nothing = undrawn(op);

    /// The decoded elements from `first` on.
    std::vector<Element> read(const Written& code, Elements elements, Elements first) const {
        std::vector<Element> pixels(static_cast<std::size_t>(elements - first));
        if (code.coded) {
            const SparseCode parsed(code.bytes, elements, op.element.size);
            kernel::expand(parsed, first, elements - first, nothing, bytes_of(pixels));
        } else {
            std::memcpy(bytes_of(pixels), code.bytes.data() + first * op.element.size,
                        pixels.size() * sizeof(Element));
        }
        return pixels;
    }
};

TYPED_TEST_SUITE(Sparse, Kinds);

TYPED_TEST(Sparse, codes_are_lossless_and_never_larger_than_the_elements) {
    for (const Elements n : lengths) {
        SparseEncoder encoder(this->nothing, n);
        for (const Drawing& drawing : drawings) {
            const auto pixels = draw<typename TypeParam::Pixel>(drawing, this->op, n, 1, 4);
            const Written code = written(encoder, pixels, n / 3);
            ASSERT_FALSE(code.beyond) << drawing.name << " " << n;
            for (const Elements first : {Elements{0}, n / 2, n - 1}) {
                ASSERT_TRUE(
                    same_bits(this->read(code, n, first).data(), pixels.data() + first, n - first))
                    << drawing.name << " " << n << " from " << first;
            }
        }
    }
}

TYPED_TEST(Sparse, codes_are_written_only_if_they_save_space) {
    using Pixel = typename TypeParam::Pixel;
    const Elements n = 20011;
    SparseEncoder encoder(this->nothing, n);
    const auto share = [&](std::string_view name) {
        const auto drawing = std::find_if(std::begin(drawings), std::end(drawings),
                                          [&](const Drawing& d) { return d.name == name; });
        const auto code = written(encoder, draw<Pixel>(*drawing, this->op, n, 1, 4), 0);
        return static_cast<double>(code.bytes.size()) / static_cast<double>(n * sizeof(Pixel));
    };
    EXPECT_EQ(share("everything"), 1);
    EXPECT_EQ(share("every other element"), 1);
    EXPECT_EQ(share("cells"), 1);
    EXPECT_LE(share("nothing"), 16.0 / static_cast<double>(n * sizeof(Pixel)));
    EXPECT_LE(share("one element"), .01);
    EXPECT_LE(share("all but the last third"), .01);
    EXPECT_LE(share("an ellipse"), this->op.element.size > 4 ? .75 : 1);
}

TYPED_TEST(Sparse, codes_are_the_same_on_every_instruction_set) {
    using Pixel = typename TypeParam::Pixel;
    const auto pixels = draw<Pixel>(drawings[4], this->op, 5000, 1, 4);
    std::vector<std::byte> first;
    on_every_processor([&](const char* name) {
        SparseEncoder encoder(this->nothing, 5000);
        const auto code = written(encoder, pixels, 100);
        if (first.empty())
            first = code.bytes;
        EXPECT_EQ(code.bytes, first) << name;
    });
}

/// Damaged bytes cause an error or are decoded to other elements; no byte outside the code is read.
TYPED_TEST(Sparse, damaged_codes_are_refused_or_read_within_bounds) {
    using Pixel = typename TypeParam::Pixel;
    const Elements n = 2000;
    SparseEncoder encoder(this->nothing, n);
    const auto good = written(encoder, draw<Pixel>(drawings[9], this->op, n, 1, 4), 0);
    ASSERT_TRUE(good.coded);
    Random random(7);
    int refused = 0;
    for (int trial = 0; trial < 400; ++trial) {
        Written bad = good;
        bad.bytes.resize(random.chance(30) ? random.index(good.bytes.size()) : good.bytes.size());
        for (int hits = random.number(0, 3); hits > 0 && !bad.bytes.empty(); --hits)
            bad.bytes[random.index(bad.bytes.size())] ^= std::byte{1} << random.number(0, 7);
        bad.bytes.shrink_to_fit();
        try {
            this->read(bad, n, 0);
        } catch (const kernel::InvalidCode&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 100);
}

TYPED_TEST(Sparse, sampled_density_is_the_fraction_of_nonempty_cells) {
    const Elements n = 20011;
    const auto density = [&](std::size_t drawing) {
        const auto pixels = draw<typename TypeParam::Pixel>(drawings[drawing], this->op, n, 1, 4);
        return kernel::sampled_density(std::as_bytes(std::span(pixels)), this->op);
    };
    EXPECT_EQ(density(0), 0);
    EXPECT_NEAR(density(1), 1, .01); // active pixels may look empty
    EXPECT_NEAR(density(2), 1, .01); // half of the pixels of each cell are active
    EXPECT_NEAR(density(9), 2. / 3, .02);
    EXPECT_EQ(kernel::sampled_density({}, this->op), 1);
}

TEST(Density, is_estimated_for_each_band_of_an_image) {
    const Operator& op = kernel::find("over");
    const Elements pixels = 30000;
    std::vector<RgbaF32> images(2 * pixels);
    std::fill(images.begin() + pixels / 2, images.begin() + pixels, RgbaF32{0, 0, 0, 1});
    const auto bands = [&](Elements one) {
        return kernel::sampled_bands(std::as_bytes(std::span(images)), one, op, 4);
    };
    const std::vector<double> of_both = bands(pixels), of_one = bands(2 * pixels);
    const double both[] = {0, 0, .5, .5}, one[] = {0, 1, 0, 0};
    for (std::size_t b = 0; b < 4; ++b) {
        EXPECT_NEAR(of_both[b], both[b], .02);
        EXPECT_NEAR(of_one[b], one[b], .02);
    }
    EXPECT_EQ(kernel::sampled_bands({}, 7, op, 2), (std::vector<double>{1, 1}));
}

TEST(SparseCodes, report_their_errors) {
    const Operator& op = kernel::find("over");
    const auto nothing = undrawn(op);
    SparseEncoder encoder(nothing, 1000);
    const auto good = written(encoder, draw<RgbaF32>(drawings[6], op, 1000, 0, 1), 0);
    const auto said = [&](std::size_t at, int byte, Elements elements = 1000) {
        auto bytes = good.bytes;
        bytes[at] = static_cast<std::byte>(byte);
        try {
            const SparseCode code(bytes, elements, op.element.size);
        } catch (const kernel::InvalidCode& wrong) {
            return std::string(wrong.what());
        }
        return std::string("nothing");
    };
    const std::size_t run = good.bytes.size() - sizeof(kernel::CodeRun);
    EXPECT_EQ(said(0, 1), "the code begins with 0x53505801, expected 0x53505853");
    EXPECT_EQ(said(0, 0x53, 999), "the code is for 1000 elements, expected 999");
    EXPECT_EQ(said(5, 1), "257 runs do not fit in 280 bytes");
    EXPECT_EQ(said(run + 1, 7),
              "run 0 has 16 elements starting at 2032, expected one or more within [0, 1000)");
    EXPECT_EQ(said(run + 4, 15), "the elements of the code have 256 bytes, expected 240");
}

} // namespace
} // namespace sextant::test
