/**
 * Checks of a dataset for damage, and summaries of what a directory holds. A check finds all damage
 * instead of the first. Memory is bounded by blocks of entries, whatever the dataset's size. A
 * running check belongs to one thread. Damage of the data is a {@link io.zrecord.findings.Finding};
 * exceptions report whatever keeps a check from reading. Start with
 * {@link io.zrecord.verify.DatasetCheck}.
 */
@NullMarked
package io.zrecord.verify;

import org.jspecify.annotations.NullMarked;
