/**
 * Metadata tables: what a dataset is made of, as rows of SQL. Each one belongs to a dataset: its
 * versions, tags, fields, partitions, shards, chunks and files. The driver reads the manifests and
 * the lists of shards that a query needs, and tasks read the rest. Nothing here can be written.
 * Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.metadata.MetadataTable}.
 */
@NullMarked
package io.zrecord.spark.metadata;

import org.jspecify.annotations.NullMarked;
