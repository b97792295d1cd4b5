/**
 * Nested values: lists, maps and structs as the value of one field (FORMAT.md section 8.1).
 * {@link io.zrecord.nested.NestedView} checks and views the bytes of a value,
 * {@link io.zrecord.nested.NestedColumn} collects values and writes their bytes. Bytes that are no
 * value of their type are a {@link io.zrecord.errors.CorruptDataException}. Objects belong to one
 * thread and are made to be used again. Start with {@link io.zrecord.nested.NestedView}.
 */
@NullMarked
package io.zrecord.nested;

import org.jspecify.annotations.NullMarked;
