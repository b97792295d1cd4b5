/**
 * The engine's façade: opens datasets, gathers records from them, writes tables in bulk and stores
 * online. Datasets, stores and their writers are thread-safe; readers, batches and appenders belong
 * to one thread at a time. Failures of storage and data are
 * {@link io.zrecord.errors.ZRecordException}s that name the resource. Start with
 * {@link io.zrecord.RecordDataset}.
 */
@NullMarked
package io.zrecord;

import org.jspecify.annotations.NullMarked;
