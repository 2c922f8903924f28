/*
 * barrier.h: the barrier of a cluster, and addresses of its blocks' shared memory.
 */
#ifndef SOFTGPU_DEVICE_CLUSTER_BARRIER_H
#define SOFTGPU_DEVICE_CLUSTER_BARRIER_H

#include "device/base/cluster.h"

/* barrier.c */
/** op.variant: what came before is not released. */
handler run_cluster_arrive, run_cluster_wait;
/** If all live threads of the cluster have arrived, those that wait go on. @return whether */
bool cluster_release(cluster *);
/** Report threads that wait for ever. */
void cluster_deadlock(cluster *);

/* address.c */
/** op.narrow: of an address of shared memory, not a generic one; op.size: its bytes. */
handler run_map, run_rank_of;

#endif
