# SPDX-License-Identifier: GPL-2.0-only
"""Who wins under which load: what is compared, the page and the picture of it, and the records."""
