/**
 * Jobs that run in the tasks of a cluster: rewriting groups of shards, sorting by a field, checking
 * shards. A task writes files under names of its own attempt, and the driver commits what the tasks
 * report. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.job.TaskJobs}.
 */
@NullMarked
package io.zrecord.spark.job;

import org.jspecify.annotations.NullMarked;
