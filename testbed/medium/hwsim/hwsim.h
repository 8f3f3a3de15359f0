/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCFMEDIUM_HWSIM_H
#define DCFMEDIUM_HWSIM_H

/*
 * dcfmedium hwsim: the MAC core as the medium of mac80211_hwsim's radios.
 * Returns the exit code.
 */
int hwsim_command(int argc, char **argv);

#endif
