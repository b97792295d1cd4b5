/**
 * Checks of a dataset for damage. The checks are written from FORMAT.md and do not use the readers,
 * so a check finds all damage instead of the first and maps no damaged file. Memory is bounded by
 * blocks of entries, whatever the dataset's size. A running check belongs to one thread. Damage of
 * the data is a {@link io.zrecord.verify.Finding}; exceptions report whatever keeps a check from
 * reading. Start with {@link io.zrecord.verify.DatasetCheck}.
 */
@NullMarked
package io.zrecord.verify;

import org.jspecify.annotations.NullMarked;
