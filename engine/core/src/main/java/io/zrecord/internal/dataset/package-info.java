/**
 * What a directory holds that is not a dataset, for messages. Stateless. Start with
 * {@link io.zrecord.internal.dataset.DirectoryGuess}.
 */
@NullMarked
package io.zrecord.internal.dataset;

import org.jspecify.annotations.NullMarked;
