# SPDX-License-Identifier: GPL-2.0-only
"""flowgen, lasack-top and what `make install` leaves behind."""
