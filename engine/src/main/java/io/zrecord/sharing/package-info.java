/**
 * Hands the batches of a feed to another process on the same machine without copying them: loaders put values into memory that both
 * processes map, and only short messages are sent. It is how the Python package is fed. Start with {@link
 * io.zrecord.sharing.SharedBatches}.
 */
@NullMarked
package io.zrecord.sharing;

import org.jspecify.annotations.NullMarked;
