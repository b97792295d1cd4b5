/** Datasets of any kind behind one interface, for tools. Thread-safe as what they open. Start with {@link io.zrecord.internal.records.Records}. */
@NullMarked
package io.zrecord.internal.records;

import org.jspecify.annotations.NullMarked;
