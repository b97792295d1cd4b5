/**
 * The façade of the engine: opens datasets, gathers records from them, and writes tables in bulk.
 * Datasets and their writers are thread-safe; readers, batches and appenders belong to one thread
 * at a time. Failures of storage and data are {@link io.zrecord.errors.ZRecordException}s that name
 * the resource. Stores that are written online have a module of their own, found by
 * {@link io.zrecord.DatasetProvider}. Start with {@link io.zrecord.RecordDataset}.
 */
@NullMarked
package io.zrecord;

import org.jspecify.annotations.NullMarked;
