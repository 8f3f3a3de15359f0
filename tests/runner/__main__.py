# SPDX-License-Identifier: GPL-2.0-only
"""`python -m runner`, from tests/."""

import sys

from runner.checks import main

sys.exit(main())
