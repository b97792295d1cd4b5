package io.zrecord.feed;

/**
 * A record that could not be delivered.
 *
 * @param index of the record in its dataset
 * @param field that could not be read; {@code transform} if that failed
 * @param reason what went wrong, in words
 */
public record BadRecord(long index, String field, String reason) {}
