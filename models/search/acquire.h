/* models/search/acquire: what measuring a point is worth. */
#pragma once

/* Expected improvement over `incumbent` of a normal response with this mean and standard deviation (Jones,
 * Schonlau and Welch 1998, equation 15).
 * >= 0; max(0, mean - incumbent) where std is 0. */
double acquire_expected_improvement(double mean, double std, double incumbent);

/* Augmented expected improvement (Huang, Allen, Notz and Zeng 2006, equation 12): expected improvement over
 * the effective best solution, times 1 - noise_std / sqrt(std^2 + noise_std^2), so that a point already known
 * well is not bought again. */
double acquire_augmented_improvement(double mean, double std, double incumbent, double noise_std);
