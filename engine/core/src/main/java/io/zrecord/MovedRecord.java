package io.zrecord;

/**
 * Says where records of a store are after a deletion.
 *
 * @param from the index that the moved record had, which was the last index
 * @param to the index that the moved record has now, that of the deleted record; equal to
 *     {@code from} if nothing moved
 */
public record MovedRecord(long from, long to) {}
