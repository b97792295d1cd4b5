/**
 * Views of a dataset for the person who maintains it: versions, shards, chunks, fields and files as
 * rows. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.view.ZRecordView}.
 */
@NullMarked
package io.zrecord.spark.view;

import org.jspecify.annotations.NullMarked;
