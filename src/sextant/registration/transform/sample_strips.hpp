// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/sample.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

// Weighted sums of runs of samples of any type, in double precision.
namespace sextant::registration {

/// The number of samples that are converted at a time; they fit in the L1 cache.
inline constexpr std::size_t strip_length = 512;

/// The maximum number of samples that are combined along an axis.
inline constexpr int most_taps = 6;

/// The runs of samples that are combined: first the taps of each row, then the rows.
struct Taps {
    struct Row {
        double weight = 0;
        int count = 0;
        const std::byte* at[most_taps];
        double weights[most_taps];
    };
    int count = 0;
    Row rows[most_taps];
};

/// Writes the weighted sums of `count` consecutive samples starting at each tap. Requires at least
/// one tap, and count <= strip_length.
void combine_taps(Sample sample, const Taps& taps, std::size_t count, double* to);

/// Adds weight · sample to sums.
void add_samples(Sample sample, const std::byte* from, std::size_t count, double weight,
                 double* to);

/// Converts values to samples. For integer types, values are rounded to the nearest integer (ties
/// to even) and clamped to the range, and NaN becomes 0.
void store_samples(Sample sample, const double* from, std::size_t count, std::byte* to);

/// Losses from storing values as samples of a different type.
struct Losses {
    std::atomic<bool> exceed = false;   ///< true if a finite value became infinite
    std::atomic<Elements> vanished = 0; ///< number of nonzero values that became 0
    std::atomic<Elements> rounded = 0;  ///< number of finite values that changed
    /// Number of finite values whose nearest whole number the type cannot represent.
    std::atomic<Elements> whole = 0;
    std::atomic<Elements> clamped = 0; ///< number of values beyond the range of an integer type
};

/// Doubles represent all whole numbers up to this one exactly.
inline constexpr double largest_exact = 0x1p53;

/// Adds the losses of values that were stored as samples. Whole numbers beyond largest_exact are
/// not counted: doubles may have rounded them already.
void note_losses(Sample sample, const double* values, std::size_t count, const std::byte* samples,
                 Losses& losses);

/// Adds integer samples to 64-bit sums. The sums are signed (in two's complement) if the samples
/// are signed. Returns false if a sum overflows.
bool add_integers(Sample sample, const std::byte* from, std::size_t count, std::uint64_t* sums);

/// Converts the sums of add_integers(), for samples of type `from`, to an integer type. Returns the
/// index of the first sum that this type cannot represent, or `count`.
std::size_t store_integers(Sample from, const std::uint64_t* sums, std::size_t count, Sample sample,
                           std::byte* to);

/// Converts samples between integer types and clamps them to the range of the result. If `losses`
/// is not null, counts the samples that change.
void convert_integers(Sample from, const std::byte* samples, std::size_t count, Sample sample,
                      std::byte* to, Losses* losses = nullptr);

/// Recomputes and stores, without rounding to double, the weighted sums of 64-bit integers of which
/// at least one is beyond largest_exact. Sums the differences from one of the integers, so the
/// weights must add up to 1. Does nothing for other types. If `losses` is not null, counts whole
/// numbers beyond largest_exact that the result type cannot represent.
void store_large_integers(Sample from, const Taps& taps, std::size_t count, Sample sample,
                          std::byte* to, Losses* losses);

/// True for integer types.
bool is_integer(Sample sample);
/// True if an integer type `sample` represents all values of the integer type `from`; false for
/// floating-point types.
bool has_range_of(Sample sample, Sample from);
/// True if a value, rounded to nearest, is in the range of an integer type.
bool is_in_range(Sample sample, double value);

/// Reads a sample.
template <class T>
T sample_at(const std::byte* at) {
    T sample;
    std::memcpy(&sample, at, sizeof(T));
    return sample;
}
/// Reads a sample as a double.
template <class T>
double value_of(const std::byte* at) {
    if constexpr (std::is_same_v<T, Half>)
        return static_cast<double>(to_float(sample_at<T>(at)));
    else
        return static_cast<double>(sample_at<T>(at));
}

/// Returns the sum of samples in double precision.
double sum_of(Sample sample, const std::byte* from, std::size_t count);

} // namespace sextant::registration
