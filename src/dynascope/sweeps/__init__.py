"""Sweeps: grids of runs, computed here or on a cluster, resumed where they stopped."""

from dynascope.sweeps.sweep_function import sweep as sweep
