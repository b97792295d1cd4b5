package io.zrecord.feed;

/**
 * Names a record that could not be delivered.
 *
 * @param index the index of the record in its dataset
 * @param field the field that could not be read; {@code transform} if the transform failed
 * @param reason what went wrong, in words
 */
public record BadRecord(long index, String field, String reason) {}
