# SPDX-License-Identifier: GPL-2.0-only
"""The removal of lasack-dkms while an access point is busy: nothing of it stays loaded."""

from __future__ import annotations

from pathlib import Path

from apbed.checkout import REPOSITORY
from apbed.kernels import lab
from apbed.kernels.cache import LabKernel
from apbed.kernels.watchdog import Watchdog

ACCESS_POINT = REPOSITORY / "tests" / "documentation" / "access_point.sh"
# apt may remove lasack-dkms before lasack-tools, when devices still use the modules.
REMOVE = """\
loaded() {{ lsmod | sed -n 's/^\\(sch_lasack\\|sch_ackwrr\\|inflight\\) .*/\\1/p' | sort | xargs; }}
tc qdisc replace dev wlan0 root lasack
modprobe sch_ackwrr
sleep 2
loaded > {out}/loaded
sed "s,/usr/libexec/lasack,{tree}/packaging/attach,g" {tree}/packaging/debian/lasack-dkms.prerm \\
    > /run/prerm
sh /run/prerm upgrade
loaded > {out}/upgraded
sh /run/prerm remove
loaded > {out}/left
tc qdisc show dev wlan0 root > {out}/root
"""


def test_modules_are_unloaded_under_traffic(lab_kernel: LabKernel, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(REMOVE.format(tree=REPOSITORY, out=tmp_path))
    places = (REPOSITORY, lab_kernel.build_dir, lab_kernel.hwsim, script)
    words = ["sh", str(ACCESS_POINT), *map(str, places)]
    console = tmp_path / "console.log"
    guest = lab.Guest(lab_kernel, words, tmp_path, workdir=tmp_path, seed=1, console=console)
    result = lab.boot(guest, Watchdog(limit_s=300))
    assert result.status == 0, f"{result.why}: {console.read_text()[-3000:]}"
    assert (tmp_path / "loaded").read_text() == "inflight sch_ackwrr sch_lasack\n"
    assert (tmp_path / "upgraded").read_text() == "inflight sch_ackwrr sch_lasack\n"
    assert (tmp_path / "left").read_text() == "\n"
    assert "lasack" not in (tmp_path / "root").read_text()
