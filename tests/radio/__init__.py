# SPDX-License-Identifier: GPL-2.0-only
"""The lab's radio driver, and what is read of mac80211's own queues."""
