/* SPDX-License-Identifier: GPL-2.0-only */
/* The section `model` of type "path_loss": SNRs from positions and powers. */
#ifndef DCFMEDIUM_WMEDIUMD_PATH_LOSS_H
#define DCFMEDIUM_WMEDIUMD_PATH_LOSS_H

#include "radios.h"
#include "setting.h"

/* Fill the SNRs of *@config, whose radios are known, from group @model. */
void path_loss_read(const config_setting_t *model, struct wmediumd_radios *config);

#endif
