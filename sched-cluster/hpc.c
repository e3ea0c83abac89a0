// SPDX-License-Identifier: GPL-2.0
/*
 * Logical hardware counters: more events than a CPU has counters, for each cgroup.
 */
