# SPDX-License-Identifier: GPL-2.0-only
"""The apbed package: scenarios, runs, analysis, kernels and papers, mostly without a lab."""
