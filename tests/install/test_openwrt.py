# SPDX-License-Identifier: GPL-2.0-only
"""What OpenWrt's service and hotplug script call, with stubs for what OpenWrt has. They have
run on no OpenWrt yet."""

from __future__ import annotations

import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FILES = REPOSITORY / "packaging" / "openwrt" / "lasack" / "files"

SERVICE = """\
config_load() { [ "$1" = lasack ]; }
config_get() { eval "$1=\\${UCI_$3:-$4}"; }
. "$FILES/lasack.init"
SETTINGS=$PWD/settings ATTACH=$PWD/attach
start_service
cat settings
reload_service
stop_service
[ ! -e settings ]
cat calls
"""


def run(script: str, place: Path, **environment: str) -> str:
    """What a script says, with an `attach` in its folder that notes how it was called."""
    attach = place / "attach"
    attach.write_text('#!/bin/sh\necho "$LASACK_SETTINGS: $*" >> calls\n')
    attach.chmod(0o755)
    environment |= {"PATH": "/usr/bin:/bin", "FILES": str(FILES)}
    command = ["sh", "-ec", script]
    done = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.replace(f"{place}/", "")


def test_service(tmp_path: Path) -> None:
    """No word of uci is run by the shell that reads the settings."""
    options = 'limit 77"; echo `reboot` $(reboot) #'
    assert run(SERVICE, tmp_path, UCI_devices="phy0-ap0 wlan1.5", UCI_options=options) == (
        'DEVICES="phy0-ap0 wlan1.5"\nOPTIONS="limit 77 echo reboot reboot "\n'
        "settings: --all\n: --detach\nsettings: --all\n: --detach\n"
    )


def test_service_without_settings(tmp_path: Path) -> None:
    assert run(SERVICE, tmp_path).startswith('DEVICES="auto"\nOPTIONS=""\n')


def test_hotplug(tmp_path: Path) -> None:
    """Only devices that come, and only while the service is started."""
    text = (FILES / "lasack.hotplug").read_text()
    text = text.replace("/var/run/", f"{tmp_path}/").replace("/usr/libexec/lasack/", "./")
    (tmp_path / "hotplug").write_text(text)
    words = "ACTION={} INTERFACE=phy0-ap0; . ./hotplug; "
    script = words.format("add") + ": > lasack.settings; "
    script += words.format("remove") + words.format("add") + "cat calls"
    assert run(script, tmp_path) == "lasack.settings: --if-wanted phy0-ap0\n"
