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

/// The number of samples that are converted at a time; they fit in the first cache.
inline constexpr std::size_t strip_length = 512;

/// The largest number of samples along an axis that are combined.
inline constexpr int most_taps = 6;

/// Runs of samples that are combined: rows of taps, first along each row, then across the rows.
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

/// Writes sums of `count` successive samples of each tap. Requires one tap or more, and at most
/// strip_length samples.
void combine_taps(Sample sample, const Taps& taps, std::size_t count, double* to);

/// Adds weight · sample to sums.
void add_samples(Sample sample, const std::byte* from, std::size_t count, double weight,
                 double* to);

/// Rounds values to samples: integers to nearest, ties to even, and clamped to their range; NaN
/// becomes 0.
void store_samples(Sample sample, const double* from, std::size_t count, std::byte* to);

/// Losses when values are stored as samples of another type.
struct Losses {
    std::atomic<bool> exceed = false;   ///< a finite value became infinite
    std::atomic<Elements> vanished = 0; ///< values other than 0 that became 0
    std::atomic<Elements> rounded = 0;  ///< finite values that changed
    /// Finite values whose nearest whole number the type cannot hold.
    std::atomic<Elements> whole = 0;
    std::atomic<Elements> clamped = 0; ///< values beyond the range of an integer type
};

/// Doubles hold all whole numbers up to this one.
inline constexpr double largest_exact = 0x1p53;

/// Adds the losses of values that were stored as samples. Whole numbers beyond largest_exact are
/// not counted: doubles may have rounded them already.
void note_losses(Sample sample, const double* values, std::size_t count, const std::byte* samples,
                 Losses& losses);

/// Adds integer samples to sums of 64 bits, which are signed (in two's complement) if the samples
/// are. Returns false if a sum overflows.
bool add_integers(Sample sample, const std::byte* from, std::size_t count, std::uint64_t* sums);

/// Converts such sums, of samples of type `from`, to an integer type. Returns the index of the
/// first one that this type cannot hold, or `count`.
std::size_t store_integers(Sample from, const std::uint64_t* sums, std::size_t count, Sample sample,
                           std::byte* to);

/// Converts samples between integer types, clamped to the range of the result. Counts those that
/// change, if `losses` is not null.
void convert_integers(Sample from, const std::byte* samples, std::size_t count, Sample sample,
                      std::byte* to, Losses* losses = nullptr);

/// Stores again, without the rounding of doubles, the sums of integers of 64 bits of which one is
/// beyond largest_exact. Requires weights that add up to 1: the differences to one of the integers
/// are summed. Other types are left as they are. Counts whole numbers beyond largest_exact that the
/// type of the result cannot hold, if `losses` is not null.
void store_large_integers(Sample from, const Taps& taps, std::size_t count, Sample sample,
                          std::byte* to, Losses* losses);

/// True for integer types.
bool is_integer(Sample sample);
/// True if an integer type has all values of another one; false for floating-point types.
bool has_range_of(Sample sample, Sample from);
/// True if a value, rounded to nearest, is in the range of an integer type.
bool is_in_range(Sample sample, double value);

/// Reads a sample.
template <class T>
double value_of(const std::byte* at) {
    T sample;
    std::memcpy(&sample, at, sizeof(T));
    if constexpr (std::is_same_v<T, Half>)
        return static_cast<double>(to_float(sample));
    else
        return static_cast<double>(sample);
}

/// The sum of samples in 64-bit floats.
double sum_of(Sample sample, const std::byte* from, std::size_t count);

} // namespace sextant::registration
