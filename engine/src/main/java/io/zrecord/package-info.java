/**
 * The engine's façade: open a dataset and gather records from it; write one in bulk. Start with
 * {@link io.zrecord.RecordDataset}.
 */
@NullMarked
package io.zrecord;

import org.jspecify.annotations.NullMarked;
