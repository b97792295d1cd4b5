/**
 * The arguments of rebalances and relayouts, shared by the command line and the Spark jobs. Objects
 * belong to one thread. An argument out of its range is an
 * {@link java.lang.IllegalArgumentException}. Start with
 * {@link io.zrecord.cli.maintenance.RebalanceArguments}.
 */
@NullMarked
package io.zrecord.cli.maintenance;

import org.jspecify.annotations.NullMarked;
