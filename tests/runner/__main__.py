# SPDX-License-Identifier: GPL-2.0-only
"""`python -m tests.runner`, from the top of the tree."""

import sys

from tests.runner.checks import main

sys.exit(main())
