/**
 * Tables on file systems of Hadoop: HDFS, S3 by S3A, Azure by ABFS, Google by its connector, and
 * any other whose way to publish a file the user names. Start with
 * {@link io.zrecord.storage.hadoop.HadoopStorage}.
 */
@NullMarked
package io.zrecord.storage.hadoop;

import org.jspecify.annotations.NullMarked;
