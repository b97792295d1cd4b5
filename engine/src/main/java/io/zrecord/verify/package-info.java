/**
 * Looks through a dataset for damage, and repairs what can be repaired of a store or of a table's newest manifest. Written from
 * FORMAT.md alone and not over the readers, so that it finds all damage instead of the first, and needs no map of a damaged file.
 * Memory is bounded by blocks of entries, whatever the dataset's size. Start with {@link io.zrecord.verify.DatasetCheck}. What is
 * wrong with the data is a {@link io.zrecord.verify.Finding}; exceptions are for what keeps from looking.
 */
@NullMarked
package io.zrecord.verify;

import org.jspecify.annotations.NullMarked;
